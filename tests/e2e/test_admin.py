"""The curators' admin pages in a real browser, with the demo: console, policy, axe, widths, actions."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import LISTEN, View, check_clean, check_page, listen, settle
from tests.e2e.conftest import PASSWORD
from tests.up_process import Up

pytestmark = pytest.mark.browser

ADMIN = "/admin/p/demo/"
NAME_SIGNS = str.maketrans("/?=", "---")
# Pages stand in both frames, and test_web.py looks at each of them: here the frame is looked at.
PAGES = ("facts?branch=task/ios-offline-queue", "branches/main")
SERVER_LISTS = ("auth/user/add/", "django_celery_beat/periodictask/")

PEOPLE = """
import json
from django.contrib.auth.models import User
from memory.models import *
project = Project.objects.get(slug="demo")
for name, role in (("vera", "viewer"), ("cora", "curator")):
    user = User.objects.create_user(name, password="correct horse battery", is_staff=True)
    Membership.objects.create(project=project, user=user, role=role)
print(json.dumps(str(Fact.objects.on(project.branches.get(name="main")).newest(1)[0].uid)))
"""


@pytest.fixture(scope="module")
def newest(server: Up) -> str:
    """Create a viewer and a curator; return the newest fact."""
    return str(json.loads(server.run_python(PEOPLE)))


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_a_project(open_page: Any, server: Up, path: str) -> None:
    name = f"admin-{path.translate(NAME_SIGNS)}"
    check_page(open_page(ADMIN + path, shared=True), server.first["url"], name)


@pytest.mark.parametrize("path", SERVER_LISTS)
def test_the_pages_of_the_server(open_page: Any, server: Up, path: str) -> None:
    check_page(
        open_page(f"/admin/{path}", shared=True), server.first["url"], f"admin-{path.replace('/', '-')}"
    )


def log_in(browser: Browser, server: Up, name: str) -> View:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(LISTEN)
    view = View(context.new_page())
    listen(view, missing=False)
    view.page.goto(f"{server.first['url']}{ADMIN}facts")
    view.page.get_by_label("Username").fill(name)
    view.page.get_by_label("Password").fill(PASSWORD)
    view.page.get_by_role("button", name="Log in").click()
    expect(view.page.get_by_role("heading", name="Facts", exact=True)).to_be_visible()
    settle(view.page)  # else pending requests are aborted by the next page
    return view


def test_a_curator_ticks_verifies_and_undoes(browser: Browser, server: Up, newest: str) -> None:
    """Log in and return to the requested page first."""
    view = log_in(browser, server, "cora")
    page = view.page
    page.goto(f"{server.first['url']}{ADMIN}facts?verification_status=unverified&status=active")
    boxes = page.locator('.rows input[name="fact"]')
    chosen = [boxes.nth(place).get_attribute("value") for place in (0, 1)]
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    page.get_by_placeholder("Reason").fill("Read in the minutes.")
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.get_by_text("2 done", exact=True)).to_be_visible()
    assert page.locator(f'input[value="{chosen[0]}"]').count() == 0
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert [boxes.nth(place).get_attribute("value") for place in (0, 1)] == chosen
    check_clean(view, server.first["url"])
    page.context.close()


def test_an_open_menu_hangs_at_its_button_inside_the_window(open_page: Any, server: Up) -> None:
    page = open_page(ADMIN + "facts").page
    page.locator('.rows input[name="fact"]').nth(0).check()
    for name in ("Category", "Supersede"):
        page.locator("summary", has_text=name).click()
        expect(page.locator("details.menu[open] .menu-body")).to_be_in_viewport(ratio=1)
    menu = page.locator("details.menu[open]")
    button, body = menu.locator("summary").bounding_box(), menu.locator(".menu-body").bounding_box()
    assert 0 <= button["y"] - (body["y"] + body["height"]) <= 4


def test_on_a_phone_the_bar_comes_to_the_thumb_and_covers_no_row(open_page: Any, server: Up) -> None:
    page = open_page(ADMIN + "facts").page
    page.set_viewport_size({"width": 390, "height": 740})
    bar, verify = page.locator(".action-bar"), page.get_by_role("button", name="Verify", exact=True)
    box = page.locator('.rows input[name="fact"]').nth(2)
    box.scroll_into_view_if_needed()
    before = box.bounding_box()
    box.check()
    assert box.bounding_box() == before
    assert bar.bounding_box()["y"] + bar.bounding_box()["height"] == 740
    page.locator("summary", has_text="Supersede").click()
    body = page.locator("details.menu[open] .menu-body").bounding_box()
    assert 0 <= body["y"] < body["y"] + body["height"] <= bar.bounding_box()["y"]
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.get_by_role("link", name="Older")).to_be_in_viewport()
    last = page.locator(".bulk .rows > li").last.bounding_box()
    assert last["y"] + last["height"] <= bar.bounding_box()["y"] + 1
    box.evaluate("one => one.scrollIntoView({block: 'center'})")
    box.uncheck()
    expect(verify.first).to_be_hidden()


def test_on_a_phone_a_cell_without_anything_has_no_label(open_page: Any, server: Up) -> None:
    view = open_page(ADMIN + "audit")  # the newest entry is the load of the demo
    view.page.set_viewport_size({"width": 390, "height": 844})
    cells = view.page.locator("td.maybe")
    shown = [(cell.is_visible(), bool(cell.locator("*").count() > 1)) for cell in cells.all()]
    assert len(shown) >= 5
    assert all(seen == full for seen, full in shown)
    assert (False, False) in shown
