"""Questions that are answered in few clicks: activity, the strip of the past, the graph; and the tour."""

# ruff: noqa: F401, F811  fixtures

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import settle
from tests.e2e.key_scene import LOADED, go, server, visit
from tests.e2e.test_analytics import Clicks
from tests.e2e.test_queue_by_keys import look
from tests.up_process import Up

pytestmark = pytest.mark.browser
FILLED = f"""{LOADED}
from datetime import timedelta
from django.utils import timezone
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
Branch.objects.filter(head=0).update(head_at=timezone.now() - timedelta(days=20))
ago = lambda days: actor.acting_at(timezone.now() - timedelta(days=days))
ledger = lambda days: ago(days).with_origin(agent_id="ledger", session_id="s-1")
token = facts.write_fact(fact_text="Tokens live for an hour.", actor=ledger(9)).fact
facts.set_verification(fact_id=token.uid, verdict="verified", reason="Read.", actor=ago(8))
BranchManager().create_branch(name="task/x", actor=ago(7))
facts.write_fact(fact_text="Only on the task.", branch_name="task/x", actor=ledger(2))
call = {{"tool_name": "Bash", "raw_input": "make", "raw_output": "done"}}
for _ in range(3):
    ObservationEngine().write_observations(observations=[call], actor=ledger(1))
facts.write_fact(fact_text="Refunds take a day.", actor=ledger(1))
for target in ("Redis", "Postgres", "a name that is longer than what fits into the box of a node"):
    RelationEngine().write_relation(
        source_entity="billing", relation_type="uses", target_entity=target, actor=ledger(1)
    )
"""


@pytest.fixture(scope="module")
def filled(server: Up) -> Up:
    server.run_python(FILLED)
    return server


def test_who_wrote_this_fact_and_why_is_it_believed_since_when(
    visit: Callable[..., Page], filled: Up
) -> None:
    page = visit("/p/default/")
    clicks = Clicks(page)
    clicks.click("link", "Facts", ".sections")
    clicks.click("link", "Tokens live for an hour.", "main")
    belief = page.locator("section:has(#belief)")
    expect(belief).to_contain_text(re.compile("verified", re.I))
    expect(belief).to_contain_text("builder")
    expect(belief.locator("time").first).to_be_visible()
    expect(page.locator("section:has(#origin)")).to_contain_text("ledger")
    assert clicks.count <= 2


def test_what_changed_on_this_branch_since_monday(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/")
    clicks = Clicks(page)
    clicks.click("link", "Branches", ".sections")
    clicks.click("link", "task/x", "main")
    clicks.click("link", "Commits", "main")
    expect(page.locator("h2.day")).to_have_count(1)
    expect(page.locator(".commits")).to_contain_text("Added 1 fact")
    assert clicks.count <= 3


def test_what_agents_did_yesterday(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/search")
    clicks = Clicks(page)
    clicks.click("link", "Sessions", ".sections")
    clicks.click("link", "Activity", ".place")
    burst = page.locator(".feed > li").first
    expect(burst).to_contain_text("recorded 3 observations")
    expect(burst).to_contain_text("Refunds take a day.")
    expect(burst).to_contain_text("7 commits")
    assert clicks.count <= 2
    clicks.click("link", "ledger", ".feed")
    assert "agent_id=ledger" in page.url
    page.locator("summary.line").first.click()
    expect(page.locator(".feed .plain > li")).to_have_count(7)
    look(page, "activity")
    page.keyboard.type("gj")
    expect(page.locator("h1")).to_have_text("Activity")


def test_the_past_is_read_with_the_handle(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/facts")
    expect(page.get_by_text("Refunds take a day.").first).to_be_visible()
    look(page, "time-strip")
    handle = page.get_by_role("slider", name="Read the memory as it was")
    before = page.locator("h1").bounding_box()
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    day = (datetime.now(UTC) - timedelta(days=5)).date().isoformat()
    expect(page.locator(".time-strip output")).to_have_text(day)
    page.wait_for_url(f"**/facts?at={day}")
    expect(page.get_by_text("Tokens live for an hour.").first).to_be_visible()
    expect(page.get_by_text("Refunds take a day.")).to_have_count(0)
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile(day))
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    page.wait_for_url("**/facts")
    assert page.locator("h1").bounding_box() == before


def test_a_graph_is_searched_and_walked(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/graph")
    expect(page.get_by_role("heading", name="Where to begin")).to_be_visible()
    page.get_by_label("Entity").fill("BILLING")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("billing")
    expect(page.locator(".graph .node")).to_have_count(4)
    look(page, "graph")
    page.locator(".graph .node.start").focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        if page.locator(".graph .node.start:focus").count():
            page.keyboard.press(key)
    reached = page.locator(".graph .node:not(.start):focus")
    name = reached.locator("title").text_content()
    page.keyboard.press("Enter")
    side = page.locator("#entity")
    expect(side.locator("h2")).to_have_text(name)
    page.locator(".graph .node", has_text="Redis").click()
    expect(side.locator("h2")).to_have_text("Redis")
    expect(page.locator("h1")).to_have_text("billing")
    assert "node=Redis" in page.url
    side.get_by_role("link", name="Show what is around it").click()
    expect(page.locator("h1")).to_have_text("Redis")
    page.go_back()
    settle(page)  # before, a click would follow the link
    show_late_answers(page)
    settle(page)
    page.keyboard.type("gl")
    expect(page.locator("h1")).to_have_text("Graph")


def show_late_answers(page: Page) -> None:
    """Check that a late answer changes nothing, and that two clicks lead to the entity that they hit."""
    late: list[Route] = []
    page.route("**/graph?*node=Postgres*", lambda route: late.append(route))
    nodes, title = page.locator(".graph .node"), page.locator("#entity h2")
    nodes.filter(has_text="Postgres").click()
    nodes.filter(has_text="Redis").click()
    expect(title).to_have_text("Redis")
    with page.expect_request_finished():
        late.pop().continue_()
    settle(page)
    assert (title.text_content(), "node=Redis" in page.url) == ("Redis", True)
    page.unroute("**/graph?*node=Postgres*")
    nodes.filter(has_text="Postgres").dblclick()
    expect(page.locator("h1")).to_have_text("Postgres")


def test_the_tour_has_five_steps_and_can_be_left(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/help")
    page.get_by_role("link", name="Take the tour").click()
    tour = page.locator(".tour")
    for number in range(1, 6):
        expect(tour).to_contain_text(f"Tour, {number} of 5")
        if number == 1:  # the others have its parts
            look(page, "tour")
        tour.get_by_role("link", name="Next" if number < 5 else "Done").click()
    expect(page.locator("h1")).to_have_text("Branches")
    expect(tour).to_have_count(0)
    go(page, page.url.replace("branches", "activity?tour=2"))
    tour.get_by_role("link", name="Leave the tour").click()
    expect(page.locator("h1")).to_have_text("Activity")
    expect(tour).to_have_count(0)


def test_times_stand_in_the_zone_of_the_browser(visit: Callable[..., Page], filled: Up) -> None:
    page = visit("/p/default/facts", timezone_id="Asia/Tokyo")  # the cookie is of another zone
    page.wait_for_function("document.documentElement.dataset.timezone === 'Asia/Tokyo'")
    expect(page.locator("main time").first).to_have_attribute("title", re.compile(" JST$"))
    page.locator(".location summary").last.click()
    page.get_by_label("A time (Asia/Tokyo)").fill("2036-07-02T05:30")
    page.get_by_role("button", name="Read at this time").click()
    page.wait_for_url("**at=2036-07-01T20%3A30%3A00.000Z*")


def test_a_browser_that_keeps_no_cookie_of_a_script_is_not_asked_for_ever(
    visit: Callable[..., Page], filled: Up
) -> None:
    page = visit("/p/default/help", timezone_id="Asia/Tokyo")
    page.add_init_script("Object.defineProperty(document, 'cookie', { get: () => '', set: () => {} })")
    page.context.clear_cookies(name="day1_timezone")
    page.goto(page.url.replace("help", "facts"))
    assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "navigate"
    expect(page.locator("html")).to_have_attribute("data-timezone", "UTC")
