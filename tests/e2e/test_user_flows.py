"""Users' tasks in a browser: a curator with the keyboard, a reader who needs an explanation, and their
limits.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import LISTEN, View, check_clean, check_fits, listen, log_in_once
from tests.e2e.key_scene import LOADED, START
from tests.up_process import Up

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
HOSTILE = "<img src=x onerror=alert(1)> \u202e\u05e9\u05dc\u05d5\u05dd"
LONG = "a" * 190
SCENE = f"""{START}{LOADED}from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
reader, _made = get_user_model().objects.get_or_create(username="rita")
reader.set_password("{PASSWORD}")
reader.save()
Membership.objects.create(user=reader, project=project, role="viewer")
known = facts.write_fact(fact_text="The release train leaves on Thursdays.", actor=actor).fact
facts.set_verification(fact_id=known.uid, verdict="verified", reason="Read in the handbook.", actor=actor)
old = facts.write_fact(fact_text="The release train leaves on Mondays.", actor=actor).fact
facts.archive_fact(fact_id=old.uid, actor=actor)
facts.write_fact(fact_text={HOSTILE!r}, actor=actor)
BranchManager().create_branch(name={LONG!r}, actor=actor)
BranchManager().create_branch(name="short", parent={LONG!r}, actor=actor)
RelationEngine().write_relation(
    source_entity={LONG!r}, relation_type={LONG!r}, target_entity={LONG!r}, actor=actor
)
ObservationEngine().write_observation(
    observation_type="insight", summary="Seen.", session_id={LONG!r}, actor=actor
)
pairs(actor, 12)
"""


@pytest.fixture(scope="module")
def server(curators_server: Up) -> Up:
    curators_server.run_python(SCENE)
    return curators_server


@pytest.fixture(scope="module")
def states(browser: Browser, server: Up, curators_cookies: Any) -> dict[str, Any]:
    """Return the cookies of both people."""
    return {"cora": curators_cookies, "rita": log_in_once(browser, server.first["url"], "rita", PASSWORD)}


@pytest.fixture
def enter(browser: Browser, server: Up, states: dict[str, Any]) -> Iterator[Any]:
    """Give users a window of their own; check afterwards for console errors, apart from expected 404s."""
    views: list[View] = []

    def open_window(name: str, missing: bool = False, **options: Any) -> Page:
        size = {"width": 1280, "height": 900}
        context = browser.new_context(viewport=size, storage_state=states[name], **options)
        context.add_init_script(LISTEN)
        view = View(context.new_page())
        listen(view, missing)
        views.append(view)
        return view.page

    yield open_window
    for view in views:
        # Only a test that plays a server that is gone has connections refused. Two things lead a page to the
        # login: the later one breaks off the other's way.
        view.complaints = [
            one
            for one in view.complaints
            if "ERR_CONNECTION_REFUSED" not in one and not ("/login?" in one and "ERR_ABORTED" in one)
        ]
        check_clean(view, server.first["url"])
        view.page.context.close()


def test_one_text_for_both_is_written_with_the_keyboard(enter: Any, server: Up) -> None:
    page = enter("cora")
    page.goto(f"{server.first['url']}/p/default/review/questions")
    page.keyboard.press("e")
    expect(page.locator("textarea:focus")).to_have_count(1)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Tokens live as long as vive la vie.")  # v and i are letters here
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("A new fact takes the place of both.").first).to_be_visible()
    page.goto(f"{server.first['url']}/p/default/facts")
    expect(page.get_by_role("link", name="Tokens live as long as vive la vie.")).to_be_visible()


def test_a_reader_finds_why_a_fact_is_not_found(enter: Any, server: Up) -> None:
    page = enter("rita")
    page.goto(f"{server.first['url']}/p/default/search?q=release+train")
    page.get_by_role("link", name="Show what was left out, and why").click()
    left_out = page.get_by_role("region", name="Left out")
    expect(left_out).to_contain_text("The release train leaves on Mondays.")
    left_out.get_by_role("link", name="why not").click()
    expect(page.get_by_text("It is archived.")).to_be_visible()
    page.get_by_label("The question").fill("something else")
    page.wait_for_url("**q=something+else")


def test_a_curator_judges_corrects_and_takes_it_back(enter: Any, server: Up) -> None:
    page = enter("cora")
    page.goto(f"{server.first['url']}/p/default/search?q=Thursdays")
    page.get_by_role("link", name="The release train leaves on Thursdays.").click()
    page.locator(".editor > summary").click()
    page.get_by_label("Text", exact=True).fill("The release train leaves on Fridays.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory.hero")).to_have_text("The release train leaves on Fridays.")
    expect(page.get_by_role("region", name="History").locator("ins")).to_have_text("Fridays")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory.hero")).to_have_text("The release train leaves on Thursdays.")


def test_long_names_fit_in_the_window(enter: Any, server: Up) -> None:
    page = enter("rita")
    paths = (
        "branches",
        f"facts?branch={LONG}",
        "graph",
        f"graph?q={LONG}",
        "relations",
        "observations",
        "activity",
    )
    for path in paths:
        page.goto(f"{server.first['url']}/p/default/{path}")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            check_fits(View(page))


def test_the_pages_work_without_a_script(enter: Any, server: Up) -> None:
    page = enter("cora", java_script_enabled=False)
    page.goto(f"{server.first['url']}/p/default/search")
    page.get_by_label("What do you want to know?").fill("train")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="The release train leaves on Thursdays.").click()
    page.locator(".actions .menu > summary").click()
    page.get_by_role("button", name="Invalidate").click()
    expect(page.locator(".badge.invalidated").first).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".fact .badge.verified")).to_be_visible()
    page.goto(f"{server.first['url']}/p/default/review/questions")
    before = page.locator(".question").count()
    page.get_by_role("button", name="Keep both").first.click()
    expect(page.get_by_text("Kept both.")).to_be_visible()
    page.goto(f"{server.first['url']}/p/default/review/questions")
    expect(page.locator(".question")).to_have_count(before - 1)
