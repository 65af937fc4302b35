"""A server with the demo and a browser for all page tests."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser import LISTEN, View, listen, log_in_once, open_chromium
from tests.up_process import Up, provisioned, with_demo

PASSWORD = "correct horse battery"
CURATOR = f"""
from django.contrib.auth import get_user_model
get_user_model().objects.create_user("cora", password="{PASSWORD}", is_staff=True)
"""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Start a server with the demo, in which admin is a maintainer."""
    folder = tmp_path_factory.mktemp("web") / "data"
    with Up(with_demo(folder), "--no-worker", "--admin-password", PASSWORD) as up:
        up.add_demo()
        yield up


@pytest.fixture(scope="session")
def curators_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Start a server with the user cora, whose project each module makes anew, see ``key_scene``."""
    folder = tmp_path_factory.mktemp("quick") / "data"
    with Up(provisioned(folder), "--no-worker", DAY1_EMBEDDER="off") as up:
        up.run_python(CURATOR)
        yield up


@pytest.fixture(scope="package")
def curators_cookies(browser: Browser, curators_server: Up) -> Any:
    return log_in_once(browser, curators_server.first["url"], "cora", PASSWORD)


@pytest.fixture(scope="package")  # no longer: its event loop would be in the way of other tests
def browser() -> Iterator[Browser]:
    with open_chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")  # some modules have a server of their own
def signed_in(browser: Browser, server: Up) -> Any:
    """Log in as admin and return the cookies."""
    return log_in_once(browser, server.first["url"], "admin", PASSWORD)


@pytest.fixture(scope="module")
def shared_context(browser: Browser, signed_in: Any) -> Iterator[BrowserContext]:
    """Return the context of pages that are only looked at: their styles and scripts are fetched once."""
    context = new_context(browser, storage_state=signed_in)
    yield context
    context.close()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    size = {"width": 1280, "height": 900}
    context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
    context.add_init_script(LISTEN)
    return context


@pytest.fixture
def open_page(browser: Browser, server: Up, signed_in: Any, shared_context: BrowserContext) -> Iterator[Any]:
    opened: list[Any] = []

    def new(path: str, shared: bool = False, **options: Any) -> View:
        options = {"storage_state": signed_in, **options}
        context = shared_context if shared else new_context(browser, **options)
        view = View(context.new_page())
        opened.append(view.page if shared else context)
        listen(view, missing=path == "/no/such/page")
        view.page.goto(server.first["url"] + path)
        return view

    yield new
    for one in opened:
        one.close()
