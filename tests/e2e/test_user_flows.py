"""Users' tasks in a browser: a curator with the keyboard, a reader who needs an explanation, and their
limits.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import LISTEN, View, check_clean, check_fits, listen, sign_in
from tests.up_process import Up, provisioned

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
HOSTILE = "<img src=x onerror=alert(1)> \u202e\u05e9\u05dc\u05d5\u05dd"
LONG = "a" * 190
SCENE = f"""
from django.contrib.auth import get_user_model
from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.models import *
from tests.curation.test_review_pages import pairs
project = Project.objects.get(slug="default")
other = Project.objects.create(name="Others", slug="others")
create_main(other)
people = (("vera", "viewer", project), ("cora", "curator", project), ("sam", "maintainer", other))
for name, role, where in people:
    user = get_user_model().objects.create_user(name, password="{PASSWORD}")
    Membership.objects.create(user=user, project=where, role=role)
actor = local_actor(project.pk, label="builder")
facts = FactEngine()
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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("people") / "data"
    with Up(provisioned(folder), "--no-worker", DAY1_EMBEDDER="off") as up:
        up.run_python(SCENE)
        yield up


@pytest.fixture
def enter(browser: Browser, server: Up) -> Iterator[Any]:
    """Log users in; check afterwards for console errors, apart from expected 404s."""
    views: list[View] = []

    def log_in(name: str, missing: bool = False, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.add_init_script(LISTEN)
        view = View(context.new_page())
        listen(view, missing)
        views.append(view)
        page = view.page
        sign_in(page, server.first["url"], name, PASSWORD)
        return page

    yield log_in
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


def test_a_curator_clears_ten_questions_with_the_keyboard(enter: Any, server: Up) -> None:
    page = enter("cora")
    page.goto(f"{server.first['url']}/p/default/review/questions")
    waiting = page.locator(".question:not([data-answered])")
    expect(waiting).to_have_count(12)
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(waiting.nth(0)).to_have_class("question card at")
    for left, key in zip(range(11, 3, -1), "viviviv" + "i", strict=True):
        page.keyboard.press(key)
        expect(waiting).to_have_count(left)
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.keyboard.press("v")
    expect(waiting).to_have_count(2)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys of this page")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    expect(waiting).to_have_count(2)
    page.keyboard.press("i")
    expect(waiting).to_have_count(1)
    page.keyboard.press("u")
    expect(page.get_by_text("Undone.", exact=True)).to_be_visible()
    expect(waiting).to_have_count(2)
    page.goto(f"{server.first['url']}/p/default/review?status=resolved")
    expect(page.locator(".question")).to_have_count(10)


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


def test_a_reader_finds_why_a_fact_is_believed(enter: Any, server: Up) -> None:
    page = enter("vera")
    page.goto(f"{server.first['url']}/p/default/search")
    page.get_by_label("What do you want to know?").press_sequentially("release train")
    hit = page.get_by_role("link", name="The release train leaves on Thursdays.")
    expect(hit).to_be_visible()  # while typing, without Enter
    expect(page).to_have_url(f"{server.first['url']}/p/default/search?q=release+train")
    expect(page.get_by_text("Mondays")).to_have_count(0)
    hit.click()
    belief = page.get_by_role("region", name="Is it believed?")
    expect(belief).to_contain_text("verified")
    expect(belief).to_contain_text("by builder")
    expect(belief).to_contain_text("Read in the handbook.")
    for name in ("Verify", "Invalidate", "Archive", "Edit", "Supersede", "Review"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_a_reader_finds_why_a_fact_is_not_found(enter: Any, server: Up) -> None:
    page = enter("vera")
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


def test_hostile_text_does_nothing(enter: Any, server: Up) -> None:
    page = enter("vera")
    page.goto(f"{server.first['url']}/p/default/facts")
    line = page.get_by_role("link", name="<img src=x")
    expect(line).to_have_attribute("dir", "auto")
    line.click()
    expect(page.locator(".memory.hero")).to_contain_text("<img src=x onerror=alert(1)>")


def test_long_names_fit_in_the_window(enter: Any, server: Up) -> None:
    page = enter("vera")
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
