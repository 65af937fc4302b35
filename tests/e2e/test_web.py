"""Every web page in a real browser, with the demo: console, content policy, axe, widths."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from playwright.sync_api import expect

from bench.page_urls import routes
from tests.amounts import take_share
from tests.browser import check_axe, check_clean, check_page, settle
from tests.up_process import ROOT, Up, environment

pytestmark = pytest.mark.browser

PARTS = {"first-event"}  # of a page: no document of their own
PROJECT = [
    route.name
    for route in routes()
    if route.of_project and route.name not in PARTS and not route.name.startswith("admin:")
]
OUTSIDE = ("/login", "/help", "/projects", "/account", "/account/password", "/no/such/page")


SAMPLES = """
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from curation.models import ReviewItem
from memory.models import *
project = Project.objects.get(slug="demo")
main = project.branches.get(name="main")
one, two = Fact.objects.on(main).newest(2)
ReviewItem.objects.create(
    project=project, branch=main, kind="near_duplicate", fact_id=one.uid, other_id=two.uid,
    pair="one", score=0.9,
)
KeyEngine().create_key(label="a", scopes=["read"], actor=local_actor(project.pk))
"""


@pytest.fixture(scope="module")
def addresses(server: Up) -> dict[str, str]:
    """Return a URL for each page of the project: the last of its variants."""
    env = environment(DAY1_DATA_DIR=str(server.folder))
    server.run_python(SAMPLES)
    command = [sys.executable, "-m", "bench.page_urls", str(server.folder), "demo"]
    told = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return {re.split("[ ?]", name)[0]: url for name, url in json.loads(told.stdout).items()}


@pytest.mark.nightly
@pytest.mark.parametrize("name", take_share(PROJECT, 6))
def test_every_page_of_a_project(open_page: Any, server: Up, addresses: dict[str, str], name: str) -> None:
    check_page(open_page(addresses[name], shared=True), server.first["url"], name)


@pytest.mark.nightly
@pytest.mark.parametrize("path", take_share(OUTSIDE, 3))
def test_every_page_of_no_project(open_page: Any, server: Up, path: str) -> None:
    unknown = {"storage_state": {"cookies": [], "origins": []}} if path == "/login" else {}
    check_page(open_page(path, **unknown), server.first["url"], path.strip("/").replace("/", "-"))


@pytest.mark.parametrize("place", ["branch=task/alipay-plus", "at=2026-01-01"])
def test_another_branch_and_the_past_are_tinted_and_legible(open_page: Any, server: Up, place: str) -> None:
    name = f"home-{place[:6].replace('=', '-')}"
    check_page(open_page(f"/p/demo/?{place}", shared=True), server.first["url"], name)


# ---- keys and the palette ------------------------------------------------------------------------------


def test_the_palette_goes_to_a_page_without_a_mouse(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/")
    page = view.page
    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette-list [role=option]")
    check_axe(page)
    page.keyboard.type("member")
    expect(page.locator("#palette-list [role=option]")).to_have_count(2)  # and the full search
    assert page.locator("[role=combobox]").get_attribute("aria-activedescendant") == "palette-option-0"
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/demo/members")
    check_clean(view, server.first["url"])


def test_the_palette_does_what_the_page_offers(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/branches")
    page = view.page
    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette-list [data-own]")
    page.keyboard.type("last change")
    page.wait_for_selector("[aria-labelledby=palette-facts] ~ [data-own]")  # the answer to these words
    own = page.get_by_role("option", name="Sort by: Last change")
    page.keyboard.press("ArrowUp")  # from the first to the last
    expect(own).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/demo/branches?ordering=-head_at")
    head = page.get_by_role("columnheader", name="Last change")
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("link").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/demo/branches?ordering=head_at")
    expect(head).to_have_attribute("aria-sort", "ascending")
    check_axe(page)
    page.keyboard.press("Control+k")  # of rows only what the marked one has
    page.wait_for_selector("#palette-list [data-own]")
    page.keyboard.type("release/4")
    expect(page.locator("#palette-list [role=option]").first).to_have_text(re.compile("release"))
    expect(page.locator("#palette-list [data-own] [role=option]")).to_have_count(0)
    check_clean(view, server.first["url"])


def test_the_palette_holds_the_choices_of_the_readers_menu(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/branches")
    page, options = view.page, view.page.locator("#palette-list [data-own] [role=option]")
    for words, names in (("colours", 3), ("log out", 1), ("language", 2)):
        page.keyboard.press("Control+k")
        page.wait_for_selector("#palette-list [data-own]")
        page.locator("[role=combobox]").fill(words)
        expect(options).to_have_count(names)
        page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    # The click would break a search off.
    with page.expect_request_finished(lambda request: "/palette?q=colours%3A" in request.url):
        page.locator("[role=combobox]").fill("colours: dark")
    expect(options).to_have_count(1)
    options.click()
    expect(page.locator("html[data-theme=dark]")).to_have_count(1)
    check_clean(view, server.first["url"])


def test_the_palette_finds_branches_and_facts(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/")
    page = view.page
    page.keyboard.press("Meta+k")
    page.keyboard.type("payout")
    page.wait_for_selector("[aria-labelledby=palette-facts] [role=option]")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    title = chosen.locator(".cut").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/p/demo/(facts|branches)/"))
    assert title in page.locator("main").inner_text()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    check_clean(view, server.first["url"])


def test_letters_go_to_sections_and_show_the_keys(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/")
    page = view.page
    page.keyboard.type("gm")
    page.wait_for_url("**/p/demo/members")
    page.keyboard.type("?")
    page.wait_for_selector("#overlay kbd")
    check_axe(page)
    page.get_by_label("Keys of one letter work in this browser").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.type("gh")
    page.wait_for_timeout(300)
    assert page.url.endswith("/p/demo/members")
    check_clean(view, server.first["url"])


def test_typing_in_a_field_is_not_a_command(open_page: Any) -> None:
    page = open_page("/p/demo/members").page
    page.get_by_label("Username").fill("")
    page.get_by_label("Username").press_sequentially("gh?j")
    assert page.get_by_label("Username").input_value() == "gh?j"
    assert page.url.endswith("/p/demo/members")


def test_rows_are_moved_through_with_j_and_k(open_page: Any) -> None:
    page = open_page("/p/demo/").page
    for key, line in (("j", 0), ("j", 1), ("k", 0)):
        page.keyboard.type(key)
        rows = page.locator("main .rows > li")
        assert rows.nth(line).get_attribute("class") == "at"
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/demo/facts/**")


# ---- without scripts, and with choices that are remembered ----------------------------------------------


def test_dark_and_chinese_are_remembered(open_page: Any, server: Up) -> None:
    view = open_page("/p/demo/", color_scheme="light")
    page = view.page
    for name in ("Dark", "简体中文"):
        page.locator(".bar-end summary").click()
        page.get_by_role("button", name=name).click()
        settle(page)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    assert page.locator(".sections [aria-current=page]").inner_text().strip() == "主页"
    check_axe(page)
    page.goto(f"{server.first['url']}/admin/p/demo/facts")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    assert page.get_by_role("heading", name="事实", exact=True).is_visible()
    check_clean(view, server.first["url"])


def test_a_key_is_copied_and_reloading_makes_no_other(open_page: Any, server: Up) -> None:
    view = open_page("/p/default/keys", permissions=["clipboard-read", "clipboard-write"])
    page = view.page
    page.get_by_label("Name", exact=True).fill("copied")
    page.get_by_role("button", name="Make the key").click()
    token = page.get_by_label("The key").input_value()
    page.locator("[data-once]").get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == token
    page.get_by_role("button", name="Copy Claude Code").click()
    page.get_by_role("button", name="Copied Claude Code").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert (command.startswith("claude mcp add "), token in command) == (True, True)
    page.reload()
    assert page.get_by_role("heading", name="Agents & keys").is_visible()
    assert page.locator("td strong", has_text="copied").count() == 1
    assert token not in page.content()
    check_clean(view, server.first["url"])
