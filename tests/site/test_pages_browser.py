"""The pages in a real browser: no console messages, no policy violations, at any width."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from day1site.api_router import router
from tests.browser import (
    LISTEN,
    SCHEMES,
    View,
    check_axe,
    check_clean,
    check_fits,
    listen,
    open_chromium,
    settle,
    take_picture,
)
from tests.up_process import Up, provisioned

pytestmark = pytest.mark.browser

GROUND = "(colour) => getComputedStyle(document.body).backgroundColor === colour"
GROUND_COLOURS = {"light": "rgb(251, 251, 250)", "dark": "rgb(21, 24, 27)"}
SHOWN = {"health", "tasks"}
PAGES = {"home": "/login", "missing": "/no/such/page", "login": "/admin/login/", "docs": "/api/v1/docs"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(provisioned(tmp_path_factory.mktemp("pages") / "data"), "--no-worker") as up:
        yield up


@pytest.fixture
def look(browser: Browser, server: Up) -> Iterator[Any]:
    """Return a function that opens a page, in a width and colour scheme, and takes its screenshot."""
    opened: list[Any] = []

    def open_page(
        name: str, width: int = 1280, scheme: Any = "light", schema: Callable[[Route], None] | None = None
    ) -> View:
        size = {"width": width, "height": 844 if width < 500 else 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        opened.append(context)
        context.add_init_script(LISTEN)
        view = View(context.new_page())
        listen(view, missing=name == "missing")
        if schema:
            context.route("**/api/v1/schema*", schema)
        view.page.goto(server.first["url"] + PAGES[name])
        take_picture(view.page, f"{name}-{scheme}-{width}")
        return view

    yield open_page
    for context in opened:
        context.close()


@pytest.mark.slow
def test_a_breach_of_the_policy_would_be_noticed(look: Any) -> None:
    view = look("home")
    view.page.evaluate("document.head.append(Object.assign(document.createElement('script'), {text: '1'}))")
    view.page.wait_for_function("window.refused.length")
    assert view.refused()[0].startswith("script-src-elem: inline")
    assert len(view.complaints) == 1


@pytest.mark.slow
def test_the_ground_follows_the_scheme_of_the_system(look: Any) -> None:
    """Check a page that no login shows; every other page is looked at in tests/e2e."""
    view = look("missing")
    for scheme in SCHEMES:
        check_ground(view, scheme)


def check_ground(view: View, scheme: Any) -> None:
    """Check that the page follows the system's scheme, which may change while it is open."""
    view.page.emulate_media(color_scheme=scheme)
    view.page.wait_for_function(GROUND, arg=GROUND_COLOURS[scheme])


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_the_login_of_the_admin(look: Any, server: Up, width: int, scheme: str) -> None:
    view = look("login", width, scheme)
    assert "/login?next=/admin/" in view.page.url
    view.page.get_by_label("Username").fill("admin")
    view.page.get_by_label("Password").fill(server.first["password"])
    view.page.get_by_role("button", name="Log in").click()
    settle(view.page)
    assert view.page.get_by_role("heading", name="Facts", exact=True).is_visible()
    for system in (scheme, *SCHEMES):
        check_ground(view, system)
    check_clean(view, server.first["url"])
    check_fits(view)


@pytest.mark.slow
def test_the_api_can_be_browsed_and_tried(look: Any, server: Up) -> None:
    """Narrow and dark, with what two nouns do: to render all of them takes minutes where others work too."""
    names: set[str] = set()

    def take_share(route: Route) -> None:
        answer = route.fetch()
        whole = answer.json()
        names.update(tag for path in whole["paths"].values() for one in path.values() for tag in one["tags"])
        paths = {path: one for path, one in whole["paths"].items() if path.split("/")[3] in SHOWN}
        tags = [tag for tag in whole["tags"] if tag["name"] in SHOWN]
        route.fulfill(response=answer, json={**whole, "paths": paths, "tags": tags})

    view = look("docs", 390, "dark", take_share)
    page = view.page
    expect(page.locator(".opblock-tag")).to_have_count(len(SHOWN))
    assert sorted(names) == sorted(name for name, _, _ in router.registry)
    colour = page.evaluate("getComputedStyle(document.querySelector('.opblock-tag')).color")
    assert page.evaluate("document.documentElement.className") == "dark-mode"
    assert colour != "rgb(59, 65, 81)"  # that of the light scheme
    assert page.get_by_role("link", name="Day1").first.get_attribute("href") == "/"
    page.locator(".opblock", has_text="/api/v1/health/live").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.wait_for_selector(".live-responses-table")
    assert page.evaluate("document.getAnimations().length") == 0  # the reader wants less motion
    assert '"status": "ok"' in page.locator(".live-responses-table .microlight").first.inner_text()
    check_axe(page)
    check_clean(view, server.first["url"])
