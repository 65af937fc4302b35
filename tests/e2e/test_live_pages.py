"""What agents do appears on the page while one looks, and a server that restarts is told and waited for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import log_in_once, sign_in
from tests.e2e.conftest import PASSWORD
from tests.systems import CAN_FORK
from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.browser
FACTS = "/p/default/facts"
# A page that can be hidden, and hides itself as it is told of something new where that is asked for.
CAN_HIDE = """
window.hide = (hidden) => {
    Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
    document.documentElement.toggleAttribute("data-away", hidden);
    document.dispatchEvent(new Event("visibilitychange"));
};
const add = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (name, listen) {
    add.call(this, name, (event) => { listen(event); if (name === "change" && window.hides) hide(true); });
};
"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = provisioned(tmp_path_factory.mktemp("live") / "data")
    processes = "2" if CAN_FORK else "1"
    with Up(folder, "--no-worker", "--admin-password", PASSWORD, DAY1_PROCESSES=processes) as up:
        write(up, "The first fact.")
        yield up


@pytest.fixture(scope="module")
def cookies(browser: Browser, up: Up) -> Any:
    return log_in_once(browser, up.first["url"], "admin", PASSWORD)


@pytest.fixture
def page(browser: Browser, cookies: Any) -> Iterator[Page]:
    size = {"width": 1280, "height": 900}
    context = browser.new_context(viewport=size, reduced_motion="reduce", storage_state=cookies)
    yield context.new_page()
    context.close()


def write(up: Up, text: str, **more: Any) -> None:
    headers = {"Authorization": f"Bearer {up.first['key']}", "Content-Type": "application/json"}
    body = json.dumps({"fact_text": text, **more}).encode()
    request = Request(f"{up.first['url']}/api/v1/facts", body, headers)
    assert urlopen(request, timeout=TIMEOUT_SECONDS).status == 201


def open_and_follow(page: Page, up: Up, path: str) -> None:
    """Open a page, and wait until it has its stream."""
    with page.expect_response(lambda answer: "/live/default/changes" in answer.url):
        page.goto(up.first["url"] + path)


@pytest.mark.parametrize("path", [FACTS, "/p/default/"])
def test_a_fact_appears_while_one_looks(page: Page, up: Up, path: str) -> None:
    open_and_follow(page, up, path)
    page.evaluate("window.same = true")
    text = f"Seen on {path}."
    write(up, text)
    expect(page.locator("main").get_by_text(text).first).to_be_visible()
    assert page.evaluate("window.same") is True  # the page was not loaded anew


def test_a_commit_appears_on_its_branch(page: Page, up: Up) -> None:
    open_and_follow(page, up, "/p/default/branches/main")
    commits = page.get_by_role("link", name="Added 1 fact")
    before = commits.count()
    write(up, "One more commit.")
    expect(commits).to_have_count(before + 1)


def test_what_a_reader_has_ticked_stays_and_the_page_says_that_there_is_more(page: Page, up: Up) -> None:
    open_and_follow(page, up, FACTS)
    page.locator("main tbody input[type=checkbox], main .rows input[type=checkbox]").first.check()
    write(up, "Written while somebody ticks.")
    more = page.get_by_text("There is something new on this page.")
    expect(more).to_be_visible()
    expect(page.get_by_text("Written while somebody ticks.")).to_have_count(0)
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_text("Written while somebody ticks.").first).to_be_visible()


def test_what_was_told_as_the_page_was_hidden_is_shown_when_it_is_seen_again(page: Page, up: Up) -> None:
    page.add_init_script(CAN_HIDE)
    open_and_follow(page, up, FACTS)
    write(up, "Told before.")
    expect(page.get_by_text("Told before.").first).to_be_visible()
    page.evaluate("window.hides = true")
    write(up, "Told while the tab is left.")
    expect(page.locator("html[data-away]")).to_have_count(1)
    page.evaluate("hides = false, hide(false)")
    expect(page.get_by_text("Told while the tab is left.").first).to_be_visible()


def test_what_one_reads_on_home_does_not_move_until_one_is_back_at_its_top(page: Page, up: Up) -> None:
    for number in range(8):
        write(up, f"A row to scroll through, number {number}.")
    page.set_viewport_size({"width": 1280, "height": 500})
    open_and_follow(page, up, "/p/default/")
    page.evaluate("scrollTo(0, 300)")
    row = page.locator("[data-steady=learned] .told > li").nth(3)
    text, top = row.locator("a.line").inner_text(), row.evaluate("(one) => one.getBoundingClientRect().top")
    write(up, "Written while somebody scrolls.")
    expect(page.get_by_text("There is something new on this page.")).to_be_visible()
    assert row.locator("a.line").inner_text() == text
    assert row.evaluate("(one) => one.getBoundingClientRect().top") == top
    page.evaluate("scrollTo(0, 0)")
    news = page.locator("[data-steady=learned] a.line", has_text="Written while somebody scrolls.")
    expect(news).to_be_visible()
    expect(page.get_by_text("There is something new on this page.")).to_be_hidden()


def test_no_other_row_comes_below_the_pointer(page: Page, up: Up) -> None:
    write(up, "The row that one points at.")
    open_and_follow(page, up, "/p/default/")
    button = page.locator("[data-steady=learned]").get_by_role("button", name="Wrong").first
    button.hover()
    pressed = button.get_attribute("value")
    write(up, "Written while somebody points.")
    expect(page.get_by_text("There is something new on this page.")).to_be_visible()
    assert button.get_attribute("value") == pressed
    page.mouse.move(1, 1)
    expect(button).not_to_have_attribute("value", pressed or "")


def test_what_was_typed_and_left_stays(page: Page, up: Up) -> None:
    open_and_follow(page, up, FACTS)
    page.get_by_role("searchbox").fill("half a quest")
    page.get_by_role("heading", level=1).click()
    write(up, "Written after somebody typed.")
    expect(page.get_by_text("There is something new on this page.")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("half a quest")


def test_the_fact_beside_its_list_stays(page: Page, up: Up) -> None:
    write(up, "The one that is read.")
    page.set_viewport_size({"width": 1920, "height": 1000})
    open_and_follow(page, up, FACTS)
    page.get_by_role("link", name="The one that is read.").click()
    beside = page.locator("[data-preview] .hero")
    expect(beside).to_have_text("The one that is read.")
    write(up, "Written while somebody reads.")
    expect(page.locator("#rows").get_by_text("Written while somebody reads.")).to_be_visible()
    expect(beside).to_have_text("The one that is read.")
    expect(page.locator("main .at a.line")).to_have_text("The one that is read.")


def test_the_past_does_not_change(page: Page, up: Up) -> None:
    page.goto(up.first["url"] + f"{FACTS}?at=1")
    assert page.locator("main[data-live]").count() == 0


def test_who_is_logged_out_is_not_told_that_the_server_is_gone(page: Page, up: Up) -> None:
    open_and_follow(page, up, FACTS)
    page.context.clear_cookies()
    page.evaluate("dispatchEvent(new Event('pagehide')), dispatchEvent(new Event('pageshow'))")
    expect(page.get_by_text("There is something new on this page.")).to_be_visible()
    expect(page.get_by_text("The server does not answer.")).to_be_hidden()
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_label("Username")).to_be_visible()


def test_a_server_that_restarts_is_told_and_waited_for(browser: Browser, tmp_path: Path) -> None:
    folder = provisioned(tmp_path / "data")
    up = Up(folder, "--no-worker", "--admin-password", PASSWORD).ready()
    page = browser.new_context().new_page()
    try:
        write(up, "Before the restart.")
        sign_in(page, up.first["url"], "admin", PASSWORD)
        open_and_follow(page, up, FACTS)
        port = up.first["url"].rsplit(":", 1)[1]
        up.stop()
        silent = page.get_by_text("The server does not answer. This page waits for it.")
        expect(silent).to_be_visible()
        up.end()
        up = Up(folder, "--no-worker", "--port", port).ready()
        expect(silent).to_be_hidden()
        write(up, "After the restart.")
        # The page waits ten times as long as it was read, which takes long beside other work.
        expect(page.get_by_text("After the restart.").first).to_be_visible()
    finally:
        page.context.close()
        up.stop()
        up.end()
