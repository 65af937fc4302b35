"""Quarantine and invitations in the browser: previewed, begun, released; a link made and accepted."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import check_page
from tests.e2e.test_questions import call
from tests.up_process import Up

pytestmark = pytest.mark.browser
HOME = "/p/default"


def test_an_agent_is_put_into_quarantine_and_released(server: Up, open_page: Any) -> None:
    for n in range(3):
        call(server, "/facts", {"fact_text": f"Parcel {n} is lost in Lyon.", "agent_id": "eve"})
    view = open_page(f"{HOME}/quarantines")
    page, address = view.page, server.first["url"]
    page.get_by_text("Quarantine a source").click()
    page.get_by_label("Its id").fill("eve")
    page.get_by_label("Reason").fill("It makes parcels up.")
    page.get_by_label("Reason").press("Enter")
    expect(page.get_by_role("heading", name="Quarantine it?")).to_be_visible()
    check_page(view, address, "quarantines")
    page.get_by_role("button", name="Put into quarantine").dblclick()
    expect(page.locator("main").get_by_text("in quarantine").first).to_be_visible()
    assert len(call(server, "/quarantine", None, "GET")["results"]) == 1
    check_page(view, address, "quarantines")
    page.goto(f"{address}{HOME}/quarantines")
    page.get_by_role("link", name="eve").click()
    page.get_by_role("button", name="Release").dblclick()
    expect(page.locator("main").get_by_text("released").first).to_be_visible()


def test_a_link_is_made_and_accepted(server: Up, open_page: Any, browser: Browser) -> None:
    view = open_page(f"{HOME}/members")
    page, address = view.page, server.first["url"]
    check_page(view, address, "members")
    page.locator("#invite").get_by_label("For whom").fill("Mira")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#link").input_value()
    guest = browser.new_context().new_page()
    guest.goto(link)
    guest.get_by_label("Username").fill("mira")
    guest.get_by_label("Password", exact=True).fill("seven green lanterns")
    guest.get_by_label("The password again").fill("seven green lanterns")
    guest.get_by_role("button", name="Make it and join").click()
    guest.wait_for_url(f"**{HOME}/")
    guest.context.close()
    page.goto(f"{address}{HOME}/members")
    expect(page.get_by_text("1 / 1")).to_be_visible()
