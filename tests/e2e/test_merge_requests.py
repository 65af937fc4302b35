"""A merge request in a browser: opened, decided by keys, approved by another person, merged, undone."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import (
    LISTEN,
    View,
    check_clean,
    check_page,
    intercept_from_start,
    listen,
    log_in_once,
    settle,
)
from tests.e2e.key_scene import LOADED, START, late
from tests.up_process import Up

pytestmark = pytest.mark.browser
PASSWORD = "correct horse battery"
TASK = "task/tokens"
PEOPLE = f"""
from django.contrib.auth import get_user_model
from memory.models import Membership, Project
project = Project.objects.get(slug="default")
for name in ("mira", "vera"):
    user = get_user_model().objects.create_user(name, password="{PASSWORD}", is_staff=True)
    Membership.objects.create(user=user, project=project, role="maintainer")
"""
SCENE = f"""{LOADED}
from tests.memory.views.test_merge_request_pages import ask, diverge, want_another
diverge(actor, {{count}}, branch="{{branch}}")
"""
OPEN = ".question:not([data-answered], [data-sent])"
DECIDED = ".question[data-answered]"


@pytest.fixture(scope="module")
def server(curators_server: Up) -> Up:
    curators_server.run_python(START + PEOPLE)
    return curators_server


@pytest.fixture(scope="module")
def states(browser: Browser, server: Up) -> dict[str, Any]:
    """Return the cookies of both people."""
    return {name: log_in_once(browser, server.first["url"], name, PASSWORD) for name in ("mira", "vera")}


@pytest.fixture
def visit(browser: Browser, server: Up, states: dict[str, Any]) -> Iterator[Callable[..., Page]]:
    """Open pages as one of the people, over a slow network; fail when the browser reported an error."""
    views: list[View] = []

    def visit(name: str, path: str, missing: bool = False) -> Page:
        size = {"width": 1280, "height": 900}
        context = browser.new_context(viewport=size, storage_state=states[name], reduced_motion="reduce")
        context.add_init_script(LISTEN)
        intercept_from_start(context)
        views.append(View(context.new_page()))
        listen(views[-1], missing)
        views[-1].page.goto(server.first["url"] + path)
        context.route("**/*", late)
        return views[-1].page

    yield visit
    for view in views:
        settle(view.page)
        view.page.context.unroute_all(behavior="ignoreErrors")
        check_clean(view, server.first["url"])
        view.page.context.close()


def main_texts(server: Up) -> list[str]:
    code = f"""{LOADED}
import json
branch = Branch.objects.get(project=project, name="main")
print(json.dumps(sorted(row.fact_text for row in Fact.objects.on(branch))))
"""
    found: list[str] = json.loads(server.run_python(code))
    return found


def choices(server: Up) -> list[str]:
    """Return the decisions on the newest request, in their order."""
    code = f"""{LOADED}
import json
rows = MergeRequest.objects.order_by("-number")[0].decisions.order_by("at", "pk")
print(json.dumps([row.choice for row in rows]))
"""
    found: list[str] = json.loads(server.run_python(code))
    return found


def test_the_whole_way(visit: Callable[..., Page], server: Up) -> None:
    server.run_python(SCENE.format(count=2, branch=TASK) + "want_another(actor)\n")
    before = main_texts(server)
    page = visit("mira", f"/p/default/branches/{TASK}")
    page.get_by_role("link", name="Open a merge request").click()
    page.get_by_label("Description").fill("Please look at the tokens.")
    page.get_by_role("button", name="Open the merge request").click()
    expect(page.get_by_text("Please look at the tokens.")).to_be_visible()
    settle(page)
    page.get_by_role("link", name="conflicts 2").click()
    expect(page.locator(OPEN)).to_have_count(2)
    settle(page)
    page.keyboard.type("12")
    expect(page.locator(DECIDED)).to_have_count(2)
    expect(page.get_by_text("Approvals: 0 of 1.")).to_be_visible()
    assert choices(server) == ["target", "source"]
    expect(page.get_by_text("You opened it: another person approves.")).to_be_visible()
    other = visit("vera", page.url.removeprefix(server.first["url"]))
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("Approved.")).to_be_visible()
    settle(other)
    other.get_by_role("button", name="Merge", exact=True).click()
    expect(other.get_by_text("Merged into main.")).to_be_visible()
    merged = main_texts(server)
    assert "Builds run at night." in merged
    assert sum("an hour" in text for text in merged) == 1
    settle(other)
    other.get_by_role("button", name="Undo the merge").click()
    expect(other.get_by_text("The merge was taken back")).to_be_visible()
    assert main_texts(server) == before


def test_quick_presses_are_answers_and_undo_takes_them_back(visit: Callable[..., Page], server: Up) -> None:
    server.run_python(SCENE.format(count=6, branch="task/quick") + "ask('task/quick', actor)\n")
    page = visit("mira", "/p/default/merge-requests")
    page.get_by_role("link", name="Merge task/quick into main").click()
    settle(page)
    page.goto(f"{page.url}?tab=changes")
    expect(page.locator(OPEN)).to_have_count(6)
    settle(page)
    page.keyboard.type("12sb1")
    expect(page.locator(DECIDED)).to_have_count(5)
    assert choices(server) == ["target", "source", "skip", "both", "target"]
    page.keyboard.type("uu")
    expect(page.locator(OPEN)).to_have_count(3)
    assert choices(server) == ["target", "source", "skip"]
    page.keyboard.press("e")
    page.keyboard.type("12sb\n")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    assert choices(server) == ["target", "source", "skip"]


def test_a_message_leaves_the_foot_free_and_goes_by_itself(visit: Callable[..., Page], server: Up) -> None:
    branch = "task/foot"
    made = server.run_python(SCENE.format(count=6, branch=branch) + f"print(ask('{branch}', actor).number)\n")
    page = visit("mira", f"/p/default/merge-requests/{made.strip()}?tab=changes")
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    page.clock.install()
    page.keyboard.press("1")
    message = page.locator("#toasts .toast:visible")
    expect(message).to_have_count(1)
    settle(page)
    for y in (0, 1_000_000):
        page.evaluate(f"scrollTo(0, {y})")
        settle(page)
        foot = page.locator(".merge-foot").bounding_box()
        assert foot
        assert find_bottom(message) <= foot["y"]
    message.hover()
    page.clock.fast_forward(16_000)
    expect(message).to_have_count(1)
    page.mouse.move(1, 1)
    page.clock.fast_forward(16_000)
    expect(message).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(OPEN)).to_have_count(6)


def find_bottom(row: Locator) -> float:
    box = row.bounding_box()
    assert box
    return box["y"] + box["height"]


def ask_clean(server: Up, branch: str) -> str:
    """Open a request that can be merged at once; return the path of its page."""
    code = (
        SCENE.format(count=0, branch=branch)
        + f"""
from memory.engines.access.policies import PolicyEngine
PolicyEngine().set_policy(pattern="main", approvals=0, actor=actor)
new = facts.write_fact(fact_text="Only {branch} knows this.", branch_name="{branch}", actor=actor).fact
facts.set_verification(
    fact_id=new.uid, verdict="verified", reason="Read.", branch_name="{branch}", actor=actor
)
print(ask("{branch}", actor).number)
"""
    )
    return f"/p/default/merge-requests/{server.run_python(code).strip()}"


def test_enter_in_the_reason_rejects_nothing(visit: Callable[..., Page], server: Up) -> None:
    page = visit("mira", ask_clean(server, "task/enter"))
    settle(page)
    page.get_by_text("Reject", exact=True).click()
    page.get_by_placeholder("Why it is not merged").fill("I have to think.")
    page.keyboard.press("Enter")
    page.wait_for_timeout(600)
    assert page.get_by_placeholder("Why it is not merged").input_value() == "I have to think."
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Close without a merge").click()
    expect(page.get_by_text("Rejected: nothing was merged.")).to_be_visible()


def test_a_page_from_before_the_merge_merges_nothing_twice(visit: Callable[..., Page], server: Up) -> None:
    """Merge in one window, then in another that is older; reload what was sent, and go back."""
    address = ask_clean(server, "task/twice")
    page, older = visit("vera", address), visit("mira", address, missing=True)
    settle(page)
    settle(older)
    page.get_by_role("button", name="Merge", exact=True).dblclick()
    expect(page.get_by_text("Merged into main.")).to_be_visible()
    settle(page)
    merged = main_texts(server)
    older.get_by_role("button", name="Merge", exact=True).click()
    expect(older.get_by_text("is merged already")).to_be_visible()
    settle(older)
    older.reload()
    settle(older)
    page.go_back()
    settle(page)
    for one in (page, older):
        expect(one.get_by_role("button", name="Undo the merge")).to_be_enabled()
        expect(one.get_by_role("button", name="Merge", exact=True)).to_have_count(0)
    assert main_texts(server) == merged


def test_a_slow_double_click_undoes_nothing(visit: Callable[..., Page], server: Up) -> None:
    page = visit("mira", ask_clean(server, "task/slow"))
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    box = page.get_by_role("button", name="Merge", exact=True).bounding_box()
    assert box
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*place)
    expect(page.get_by_text("Merged into main.")).to_be_visible()
    settle(page)
    undo = page.get_by_role("button", name="Undo the merge").bounding_box()
    assert undo
    assert undo["x"] > place[0]
    page.mouse.click(*place)
    settle(page)
    expect(page.get_by_role("button", name="Undo the merge")).to_be_enabled()


@pytest.mark.parametrize("count", [30])
def test_the_page_fits_and_is_legible(
    visit: Callable[..., Page], browser: Browser, server: Up, states: dict[str, Any], count: int
) -> None:
    branch = f"task/fits-{count}"
    made = server.run_python(
        SCENE.format(count=count, branch=branch) + f"print(ask('{branch}', actor).number)\n"
    )
    context = browser.new_context(storage_state=states["mira"], reduced_motion="reduce")
    context.add_init_script(LISTEN)
    view = View(context.new_page())
    listen(view, missing=False)
    for tab in ("", "?tab=changes", "?tab=commits"):
        address = f"{server.first['url']}/p/default/merge-requests/{made.strip()}{tab}"
        view.page.goto(address)
        settle(view.page)
        check_page(view, server.first["url"], f"merge-request-{count}{tab.partition('=')[2]}")
    context.close()
