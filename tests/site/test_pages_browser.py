"""The pages in a real browser: no console messages, no policy violations, at any width."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from bench.page_audit import CHROMIUM, QUIET
from day1site.api_router import router
from tests.site.test_up import Up

pytestmark = pytest.mark.browser

WIDTHS = (390, 1280, 1920)
SCHEMES = ("light", "dark")
GROUND = "(colour) => getComputedStyle(document.body).backgroundColor === colour"
PAGES = {"home": "/login", "missing": "/no/such/page", "login": "/admin/login/", "docs": "/api/v1/docs"}
LISTEN = """
    window.refused = [];
    document.addEventListener("securitypolicyviolation", event =>
        window.refused.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}`));
"""


@dataclass
class View:
    """Open page, with its console messages and foreign requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def refused(self) -> list[str]:
        return self.page.evaluate("window.refused")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"NO BROWSER: {CHROMIUM} is missing, so no page was looked at. apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    up = Up(tmp_path_factory.mktemp("pages") / "data", "--no-worker").ready()
    yield up
    up.stop()
    up.log.close()


@pytest.fixture
def look(browser: Browser, server: Up, tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens a page, in a width and colour scheme, and takes its screenshot."""
    opened: list[Any] = []

    def open_page(name: str, width: int = 1280, scheme: Any = "light") -> View:
        size = {"width": width, "height": 844 if width < 500 else 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        opened.append(context)
        context.add_init_script(LISTEN)
        view = View(context.new_page())
        listen(view, missing=name == "missing")
        view.page.goto(server.first["url"] + PAGES[name], wait_until="networkidle")
        view.page.screenshot(path=pictures(tmp_path) / f"{name}-{scheme}-{width}.png", full_page=True)
        return view

    yield open_page
    for context in opened:
        context.close()


def pictures(folder: Path) -> Path:
    """Return the folder for screenshots: the one that DAY1_SCREENSHOTS names, if set."""
    chosen = Path(os.environ.get("DAY1_SCREENSHOTS") or folder)
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def listen(view: View, missing: bool) -> None:
    """Record errors and warnings, failed requests, and requests to other servers.

    With ``missing`` a 4xx status is accepted.
    """

    def heard(kind: str, text: str) -> None:
        if kind in ("error", "warning") and not (missing and "status of 4" in text):
            view.complaints.append(f"{kind}: {text}")

    def failed(request: Request) -> None:
        left = request.failure == "net::ERR_ABORTED" and request.url.endswith("/icon.svg")
        # A stream ends with its page, or before; the icon of the tab is fetched last, and dropped on leaving.
        if request.resource_type != "eventsource" and not left:
            heard("error", f"{request.url}: {request.failure}")

    view.page.on("console", lambda message: heard(message.type, message.text))
    view.page.on("pageerror", lambda error: heard("error", str(error)))
    view.page.on("requestfailed", failed)
    view.page.on("request", lambda request: view.elsewhere.append(request.url))


def check_clean(view: View, home: str) -> None:
    assert view.complaints == []
    assert view.refused() == []
    assert [url for url in view.elsewhere if not url.startswith((home, "data:"))] == []


def check_fits(view: View) -> None:
    """Check that nothing scrolls sideways."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert view.page.evaluate(wide) == 0


@pytest.mark.slow
def test_a_breach_of_the_policy_would_be_noticed(look: Any) -> None:
    view = look("home")
    view.page.evaluate("document.head.append(Object.assign(document.createElement('script'), {text: '1'}))")
    view.page.wait_for_function("window.refused.length")
    assert view.refused()[0].startswith("script-src-elem: inline")
    assert len(view.complaints) == 1


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["home", "missing"])
def test_our_own_pages(look: Any, server: Up, name: str, width: int, scheme: str) -> None:
    view = look(name, width, scheme)
    check_clean(view, server.first["url"])
    check_fits(view)
    assert view.page.locator("h1").count() == 1
    dark = view.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    assert dark == (scheme == "dark")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_login_of_the_admin(look: Any, server: Up, width: int, scheme: str) -> None:
    view = look("login", width, scheme)
    assert "/login?next=/admin/" in view.page.url
    view.page.get_by_label("Username").fill("admin")
    view.page.get_by_label("Password").fill(server.first["password"])
    view.page.get_by_role("button", name="Log in").click()
    view.page.wait_for_load_state("networkidle")
    assert view.page.get_by_role("heading", name="Facts", exact=True).is_visible()
    for system in (scheme, *SCHEMES):  # it may change while the page is open
        view.page.emulate_media(color_scheme=system)
        view.page.wait_for_function(
            GROUND, arg="rgb(21, 24, 27)" if system == "dark" else "rgb(251, 251, 250)"
        )
    check_clean(view, server.first["url"])
    check_fits(view)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_api_can_be_browsed_and_tried(look: Any, server: Up, width: int, scheme: str) -> None:
    view = look("docs", width, scheme)
    page = view.page
    page.wait_for_selector(".opblock", timeout=20_000)
    assert page.locator(".opblock").count() >= 30
    names = [tag.get_attribute("data-tag") for tag in page.locator(".opblock-tag").all()]
    assert sorted(names) == sorted(name for name, _, _ in router.registry)
    dark = page.evaluate("getComputedStyle(document.querySelector('.opblock-tag')).color")
    assert page.evaluate("document.documentElement.className") == ("dark-mode" if scheme == "dark" else "")
    assert (dark == "rgb(59, 65, 81)") == (scheme == "light")
    assert page.get_by_role("link", name="Day1").first.get_attribute("href") == "/"
    page.locator(".opblock", has_text="/api/v1/health/live").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.wait_for_selector(".live-responses-table")
    assert '"status": "ok"' in page.locator(".live-responses-table .microlight").first.inner_text()
    check_clean(view, server.first["url"])
