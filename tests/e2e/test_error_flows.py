"""Errors while a user works: an expired session, an archived branch, an invalid address."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import intercept_from_start, settle, sign_in
from tests.e2e.test_user_flows import PASSWORD, enter, pytestmark, server, states  # noqa: F401  fixtures
from tests.up_process import Up

BACK = "You had to log in again. What you typed is back in the form; nothing was sent yet."


def home(server: Up) -> str:  # noqa: F811
    return f"{server.first['url']}/p/default/"


def admin(server: Up) -> str:  # noqa: F811
    return f"{server.first['url']}/admin/p/default/"


def log_in_again(page: Page) -> None:
    page.get_by_label("Username").fill("cora")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text(BACK)).to_be_visible()


def test_a_session_that_ran_out_in_mid_form_loses_nothing(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora")
    page.goto(f"{home(server)}facts?q=")
    page.get_by_role("link", name="The release train leaves on Thursdays.").click()
    page.locator(".editor > summary").click()
    page.get_by_label("Text", exact=True).fill("A long text\nthat took an hour.")
    page.get_by_label("Pinned").check()
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save").click()
    log_in_again(page)
    expect(page.get_by_label("Text", exact=True)).to_have_value("A long text\nthat took an hour.")
    expect(page.get_by_label("Pinned")).to_be_checked()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory.hero")).to_have_text("A long text\nthat took an hour.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory.hero")).to_have_text("The release train leaves on Thursdays.")
    page.locator(".editor > summary").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("The release train leaves on Thursdays.")


def test_a_form_without_an_answer_is_filled_again_when_the_reader_goes_back(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora")
    intercept_from_start(page.context)
    page.goto(f"{home(server)}facts?q=")
    page.get_by_role("link", name="The release train leaves on Thursdays.").click()
    page.locator(".editor > summary").click()
    settle(page)  # what is typed is kept by a script
    text = page.get_by_label("Text", exact=True)
    text.fill("Typed while\nthe server was down.")
    page.route("**/edit*", lambda route: route.abort("connectionrefused"))
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("chrome-error://**")
    page.unroute("**/edit*")
    page.go_back()
    expect(text).to_have_value("Typed while\nthe server was down.")
    expect(page.get_by_text("The server did not answer. What you typed is back")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".memory.hero")).to_have_text("Typed while\nthe server was down.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory.hero")).to_have_text("The release train leaves on Thursdays.")
    page.locator(".editor > summary").click()
    expect(text).to_have_value("The release train leaves on Thursdays.")
    expect(page.get_by_text("The server did not answer.")).to_be_hidden()


# What a browser says of a page that it shows as it was left; the one under test has no cache of pages.
SHOWN_AGAIN = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"


def test_a_draft_waits_for_its_form_in_a_page_that_is_shown_as_it_was_left(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora")
    page.goto(f"{home(server)}facts?q=")
    page.get_by_role("link", name="The release train leaves on Thursdays.").click()
    settle(page)
    page.evaluate("sessionStorage.setItem('day1-draft', JSON.stringify({ path: '/elsewhere', values: [] }))")
    page.evaluate(SHOWN_AGAIN)
    assert page.evaluate("JSON.parse(sessionStorage.getItem('day1-draft')).unanswered")


def test_the_way_back_after_a_logout_leads_to_the_login(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora", missing=True)  # what the page reads meanwhile is refused
    page.context.clear_cookies()  # the other tests go on with them
    sign_in(page, server.first["url"], "cora", PASSWORD)
    page.goto(f"{home(server)}facts")
    page.evaluate(SHOWN_AGAIN)
    settle(page)
    expect(page.locator("h1")).to_have_text("Facts")
    other = page.context.new_page()
    other.goto(f"{home(server)}facts")
    other.locator(".bar-end summary").click()
    other.get_by_role("button", name="Log out").click()
    other.wait_for_url("**/login*")
    page.evaluate(SHOWN_AGAIN)
    page.wait_for_url("**/login?next=**")


def test_a_form_that_is_out_of_date_since_another_login_loses_nothing(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora")
    page.goto(f"{home(server)}review")
    question = page.locator(".question").first
    question.locator("summary", has_text="Write one for both").click()
    question.get_by_label("The new text").fill("A text for both.")
    other = page.context.new_page()
    page.context.clear_cookies(name="sessionid")
    sign_in(other, server.first["url"], "cora", PASSWORD)
    question.get_by_role("button", name="Replace both").click()
    expect(page.get_by_text("The form was out of date, so nothing was sent")).to_be_visible()
    expect(page.get_by_text(BACK)).to_be_hidden()
    expect(question.get_by_label("The new text")).to_have_value("A text for both.")
    question.get_by_role("button", name="Replace both").click()
    expect(page.get_by_text("A new fact takes the place of both.").first).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.", exact=True)).to_be_visible()


def test_what_became_of_each_row_is_said_in_chinese(enter: Any, server: Up) -> None:  # noqa: F811
    page = enter("cora")
    page.goto(home(server))
    page.locator(".bar-end summary").click()
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    settle(page)  # else pending requests are aborted by the next page
    page.goto(f"{admin(server)}facts?status=archived")
    page.locator('.rows input[name="fact"]').first.check()
    page.locator(".action-bar summary", has_text="取代").click()
    page.locator("[name=new_fact_text]").fill("x")
    page.locator('button[value="supersede"]').click()
    expect(page.locator(".toast.warning", has_text="状态为 已归档 的事实不能变为 已被取代。")).to_be_visible()
    told = page.locator(".report .line")
    expect(told).to_contain_text("已归档")
    for word in ("fact", "cannot", "archived"):
        expect(told).not_to_contain_text(word)
