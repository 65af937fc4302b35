"""Scenes for screenshots: menus and panels open, rows selected, refusals.

Each scene starts at a page and performs one action; it states whether to take the full page or the window,
which a dialog covers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from bench.page_audit import Window
from bench.page_urls import NOBODY

LONG = "Ein Wort ohne Ende: " + "Zahlungsdienst" * 20


@dataclass(frozen=True)
class Scene:
    name: str
    start: str  # the name of a page, or its URL
    act: Callable[[Page], None]
    whole: bool = True


def scenes(project: str) -> list[Scene]:
    return [
        Scene("palette open", "home", palette, whole=False),
        Scene("keys shown", "home", keys, whole=False),
        Scene("menu of branches", "home", menu("Branch"), whole=False),
        Scene("menu of a person", "home", menu("You and this page"), whole=False),
        Scene("menu of branches at the desk", "admin:facts", menu("Branch"), whole=False),
        Scene("sections at the desk", "admin:facts", sections, whole=False),
        Scene("filters of facts", "facts", filters),
        Scene("filters of search", "search?q=…", filters),
        Scene("filters at the desk", "admin:facts", filters),
        Scene("rows chosen", "admin:facts", choose),
        Scene("rows verified without a choice", "admin:facts", verify_nothing),
        Scene("a search that finds nothing", f"/p/{project}/search?q=zzyzx&agent_id=nobody", nothing),
        Scene("a fact refused", "fact-edit", refuse),
        Scene("a password refused", "password", bad_password),
        Scene("a user refused", "admin:auth_user_add", bad_user),
        Scene("a time that is none", f"/p/{project}/?at=yesterdayish", nothing),
        Scene("a branch that is not there", f"/p/{project}/?branch=task/none", nothing),
        Scene("a fact that is not there", f"/p/{project}/facts/{NOBODY}", nothing),
        Scene("a fact that is not there at the desk", f"/admin/p/{project}/facts/{NOBODY}", nothing),
        Scene("a project that is not there", "/p/none/", nothing),
        Scene("a page that is not there", "/no/such/page", nothing),
        Scene("a page that is not there at the desk", "/admin/no/such/page", nothing),
        Scene("a stale form", "fact-edit", stale),
    ]


# Pages that a viewer may not open.
FORBIDDEN = ("review", "fact-edit", "admin:keys", "admin:auth_user_changelist")


def nothing(page: Page) -> None:
    pass


def palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.locator("#palette-list [role=option]").first.wait_for()


def keys(page: Page) -> None:
    page.keyboard.type("?")
    page.locator("#overlay kbd").first.wait_for()


def menu(title: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f'header summary[title="{title}"]').click()


def sections(page: Page) -> None:
    """Open the sidebar, which is behind a button in a narrow window."""
    burger = page.locator("button.burger")
    if burger.is_visible():
        burger.click()


def filters(page: Page) -> None:
    for summary in page.locator("main form summary", has_text="ilters").all():
        if summary.is_visible():
            summary.click()


def choose(page: Page) -> None:
    for box in page.locator('.rows input[name="fact"]').all()[:3]:
        box.check()


def verify_nothing(page: Page) -> None:
    """Click Verify without a selection; on a phone the buttons appear with the first tick."""
    verify = page.get_by_role("button", name="Verify", exact=True).first
    if verify.is_visible():
        verify.click()
        page.wait_for_load_state("networkidle")


def refuse(page: Page) -> None:
    """Submit a long word and an invalid confidence: the form comes back with the input."""
    page.locator("[name=fact_text]").fill(LONG)
    page.locator("[name=category]").fill("no such category!")
    page.locator("[name=confidence]").evaluate("one => { one.max = ''; one.value = '7'; }")
    save(page)


def save(page: Page) -> None:
    page.locator("main form.edit button[type=submit]").click()
    page.wait_for_load_state("networkidle")


def stale(page: Page) -> None:
    """Save the fact in another tab while the form is open."""
    other = page.context.new_page()
    other.goto(page.url)
    text = other.locator("[name=fact_text]")
    text.fill(f"{text.input_value()} And more.")
    save(other)
    other.close()
    page.locator("[name=fact_text]").fill("Another word on it, written at the same time.")
    save(page)


def bad_password(page: Page) -> None:
    for field, value in (("old_password", "no"), ("new_password1", "short"), ("new_password2", "other")):
        page.locator(f"[name={field}]").fill(value)
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_load_state("networkidle")


def bad_user(page: Page) -> None:
    page.locator("[name=username]").fill("not a name!")
    for field, value in (("password1", "short"), ("password2", "other")):
        page.locator(f"[name={field}]").fill(value)
    page.locator("[name=_save]").first.click()
    page.wait_for_load_state("networkidle")


def sign_out_and_save(window: Window) -> None:
    """Save a form after the session has expired."""
    window.page.locator("[name=fact_text]").fill("Written before the session ran out.")
    window.context.clear_cookies(name="sessionid")
    save(window.page)
