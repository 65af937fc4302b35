"""The list of facts: how many are seen, tokens that are typed, and the fact that is read beside it."""

# ruff: noqa: F401, F811  fixtures

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.key_scene import LOADED, late, server, settle, states, visit, write
from tests.up_process import Up

pytestmark = pytest.mark.browser
LIST = "/p/default/facts"
LONG = "A long fact goes on and on about what was found, where, and why it matters to the team. " * 4
WIDE = {"width": 1920, "height": 1080}
SEEN = """() => {
    const foot = document.querySelector(".action-bar").getBoundingClientRect().top;
    const rows = [...document.querySelectorAll("#rows .rows > li")].map((row) => row.getBoundingClientRect());
    return rows.filter((row) => row.top >= 0 && row.bottom <= foot + 1).length;
}"""


@pytest.mark.parametrize("frame", ["", "/admin"])
def test_eight_to_twelve_facts_are_seen(visit: Callable[..., Page], server: Up, frame: str) -> None:
    write(server, *(f"{number} {LONG if number % 2 else 'A short fact.'}" for number in range(14)))
    page = visit(frame + LIST)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert 8 <= page.evaluate(SEEN) <= 12
    size = page.locator("#rows a.line").first.evaluate("one => getComputedStyle(one).fontSize")
    assert size == "16px"


def test_typed_tokens_filter_and_go_one_by_one(visit: Callable[..., Page], server: Up) -> None:
    fact = (
        "fact_text='The ledger closes at six.', category='design', actor=actor.with_origin(agent_id='ledger')"
    )
    server.run_python(f"{LOADED}facts.write_fact({fact})")
    page = visit(LIST)
    page.keyboard.press("/")
    page.keyboard.type("agent:ledger category:design")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}?agent_id=ledger&category=design")
    expect(page.locator("#rows a.line")).to_have_text(["The ledger closes at six."])
    expect(page.locator("main input[type=search]")).to_have_value("")
    page.locator("#tokens").get_by_role("link", name="category:design").click()
    page.wait_for_url(f"**{LIST}?agent_id=ledger")
    settle(page)
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("textbox", name="Category").fill("design")
    page.get_by_role("textbox", name="Category").press("Tab")
    page.wait_for_url(lambda url: "category=design" in url and "agent_id=ledger" in url and "q=" not in url)
    expect(page.locator("#tokens").get_by_role("link", name="category:design")).to_be_visible()


def test_a_wide_window_shows_the_fact_beside_its_list(visit: Callable[..., Page], server: Up) -> None:
    uids = write(server, "The third is beside.", "The second is beside.", "The first is beside.")[::-1]
    page = visit("/p/default/branches")
    page.set_viewport_size(WIDE)
    page.goto(server.first["url"] + LIST)
    beside = page.locator("[data-preview]")
    page.get_by_role("link", name="The first is beside.").click()
    expect(beside.locator(".hero")).to_have_text("The first is beside.")
    page.wait_for_url(f"**{LIST}?shown={uids[0]}")
    page.keyboard.press("j")
    expect(beside.locator(".hero")).to_have_text("The second is beside.")
    expect(page.locator("main .at a.line")).to_have_text("The second is beside.")
    page.keyboard.press("v")
    expect(beside.locator(".badge.verified").first).to_be_visible()
    assert states(server, uids[:2]) == ["active unverified", "active verified"]
    beside.locator(".actions .menu > summary").click()
    beside.get_by_role("button", name="Invalidate").click()
    expect(page.get_by_text("Judged to be wrong.")).to_be_visible()
    expect(beside.locator(".badge.invalidated").first).to_be_visible()
    expect(page.locator("main .at .badge.invalidated")).to_be_visible()
    settle(page)
    page.keyboard.press("k")
    page.wait_for_url(f"**{LIST}?shown={uids[0]}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}/{uids[0]}")
    page.go_back()
    expect(beside.locator(".hero")).to_have_text("The first is beside.")


def test_back_leaves_the_list_in_one_step(visit: Callable[..., Page], server: Up) -> None:
    write(server, "One of two.", "Two of two.")
    page = visit("/p/default/branches")
    page.set_viewport_size(WIDE)
    page.goto(server.first["url"] + LIST)
    for name in ("Two of two.", "One of two."):
        page.get_by_role("link", name=name).click()
        expect(page.locator("[data-preview] .hero")).to_have_text(name)
    page.go_back()
    page.wait_for_url("**/branches")


def test_a_narrow_window_opens_the_page(visit: Callable[..., Page], server: Up) -> None:
    (uid,) = write(server, "It has a page of its own.")
    page = visit(LIST)
    expect(page.locator("[data-preview]")).to_be_hidden()
    page.get_by_role("link", name="It has a page of its own.").click()
    page.wait_for_url(f"**{LIST}/{uid}")


def test_a_row_shows_at_once_what_was_chosen(visit: Callable[..., Page], server: Up) -> None:
    (uid,) = write(server, "It shows before the server has answered.")
    page, held = visit(LIST, refused=True), list[Route]()
    page.route(
        "**/facts", lambda route: held.append(route) if route.request.method == "POST" else late(route)
    )
    row = page.locator(f"#fact-{uid}")
    row.locator("[value^=pin]").click()
    expect(row.locator(".badge.pinned")).to_be_visible()
    wait_for(page, held)
    assert states(server, [uid]) == ["active unverified"]
    held.pop().continue_()
    expect(row.locator("[value^=unpin]")).to_be_visible()
    row.locator("[value^=verify]").click()
    expect(row.locator(".badge.verified")).to_be_visible()
    wait_for(page, held)
    held.pop().abort()
    expect(page.get_by_text("The server did not answer. Reload the page")).to_be_visible()
    expect(row.locator(".badge.verified")).to_have_count(0)
    change = f"facts.update_fact(fact_id={uid!r}, updates={{'fact_text': 'Changed.'}}, actor=actor)"
    server.run_python(LOADED + change)
    row.locator("[value^=verify]").click()
    wait_for(page, held)
    held.pop().continue_()
    expect(page.locator(".toast", has_text="read it again. Changed: Prompt line, Text.")).to_be_visible()
    expect(row.locator("a.line")).to_have_text("Changed.")
    expect(row.locator(".badge.verified")).to_have_count(0)


def wait_for(page: Page, held: list[Route]) -> None:
    while not held:
        page.wait_for_timeout(20)
