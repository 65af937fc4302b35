"""A server with the demo for all page tests, and a browser for each module."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.site.test_pages_browser import CHROMIUM, LISTEN, QUIET, View, listen
from tests.site.test_up import ROOT, Up, environment

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Start a server with the demo, in which admin is a maintainer."""
    folder = tmp_path_factory.mktemp("web") / "data"
    up = Up(folder, "--no-worker", "--admin-password", PASSWORD).ready()
    command = [sys.executable, "manage.py", "day1", "demo"]
    env = environment(DAY1_DATA_DIR=str(folder))
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    yield up
    up.stop()
    up.log.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"NO BROWSER: {CHROMIUM} is missing, so no page was looked at. apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, server: Up) -> Any:
    """Log in as admin and return the cookies."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.first['url']}/login")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Your projects").wait_for()
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def open_page(browser: Browser, server: Up, signed_in: Any) -> Iterator[Any]:
    opened: list[Any] = []

    def new(path: str, **options: Any) -> View:
        size = {"width": 1280, "height": 900}
        options = {"storage_state": signed_in, **options}
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        opened.append(context)
        context.add_init_script(LISTEN)
        view = View(context.new_page())
        listen(view, missing=path == "/no/such/page")
        view.page.goto(server.first["url"] + path, wait_until="networkidle")
        return view

    yield new
    for context in opened:
        context.close()
