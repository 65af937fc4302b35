"""Proposals are decided in the queue, on their page, and many at once."""

# ruff: noqa: F401, F811  fixtures

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.key_scene import (
    DONE,
    LOADED,
    START,
    WAITING,
    go,
    server,
    settle,
    states,
    visit,
    write,
)
from tests.up_process import Up

pytestmark = pytest.mark.browser


def test_proposals_are_decided_in_the_queue(visit: Callable[..., Page], server: Up) -> None:
    uids = write(server, *(f"Proposal {number}." for number in range(3)), propose=True)
    page = visit("/p/default/review?status=proposed")
    page.keyboard.type("vi")
    expect(page.locator(DONE)).to_have_count(2)
    assert states(server, uids) == ["created unverified", "archived unverified", "active unverified"]
    page.keyboard.type("uu")
    expect(page.locator(f"{WAITING} .memory", has_text="Proposal")).to_have_count(3)
    assert states(server, uids) == ["created unverified"] * 3


@pytest.mark.parametrize(("width", "has_panel"), [(390, False), (1280, True)])
def test_what_was_decided_stays_in_its_column(
    visit: Callable[..., Page], server: Up, width: int, has_panel: bool
) -> None:
    write(server, f"At {width} px: {'the payout waits for the bank, ' * 20}then it is sent.", propose=True)
    page = visit("/p/default/review?reason=proposed")
    page.set_viewport_size({"width": width, "height": 900})
    page.get_by_role("button", name="Accept").first.click()
    expect(page.locator(DONE)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    panel = page.locator("[data-preview]")
    assert panel.is_visible() == has_panel
    if has_panel:
        decided, beside = page.locator(DONE).bounding_box(), panel.bounding_box()
        assert decided
        assert beside
        assert decided["x"] + decided["width"] <= beside["x"]


def test_menu_and_filter_count_what_still_waits(visit: Callable[..., Page], server: Up) -> None:
    server.run_python(START)
    write(server, "First.", "Second.", propose=True)
    server.run_python(f"{LOADED}pairs(actor, 3)\n")
    page = visit("/p/default/review")
    menu, proposals, doubles = (
        page.locator(f"#{name}") for name in ("open-questions", "waits-proposed", "waits-near_duplicate")
    )
    expect(menu).to_have_text("5")
    page.keyboard.type("v")
    expect(menu).to_have_text("4")
    expect(proposals).to_have_text("1")
    page.keyboard.type("vi")
    expect(menu).to_have_text("2")
    expect(proposals).to_have_text("")
    expect(doubles).to_have_text("2")
    page.keyboard.type("uu")
    expect(menu).to_have_text("4")
    expect(proposals).to_have_text("1")
    expect(doubles).to_have_text("3")


def test_a_proposal_is_decided_on_its_page(visit: Callable[..., Page], server: Up) -> None:
    one, two = write(server, "Accept it.", "Refuse it.", propose=True)
    page = visit(f"/admin/p/default/facts/{one}")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("Accepted.")).to_be_visible()
    go(page, f"{server.first['url']}/admin/p/default/facts/{two}")
    page.keyboard.press("i")
    expect(page.get_by_text("Refused: it is archived.")).to_be_visible()
    assert states(server, [one, two]) == ["active unverified", "archived unverified"]


def test_proposals_are_decided_many_at_once(visit: Callable[..., Page], server: Up) -> None:
    uids = write(server, *(f"Bulk {number}." for number in range(3)), propose=True)
    page = visit("/p/default/facts?status=created")
    for uid in uids[:2]:
        page.locator(f'#fact-{uid} input[name="fact"]').check()
    page.get_by_role("button", name="Accept", exact=True).first.click()
    expect(page.get_by_text("2 done", exact=True)).to_be_visible()
    assert states(server, uids) == ["active unverified"] * 2 + ["created unverified"]
    settle(page)
    page.keyboard.press("u")
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert states(server, uids) == ["created unverified"] * 3
