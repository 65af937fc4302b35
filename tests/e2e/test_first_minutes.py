"""From `up` to the first event of an agent, with nothing but what the pages say; and how the wait behaves."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import LISTEN, View, check_clean, listen
from tests.up_process import ROOT, Up, environment, prepared
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.browser

SETTLED_MS = 4000  # more than a look of the stream and of the page need
WAITING = "Waiting for the first event…"
NUMBERS = count()
NEWCOMER = """
import json
from django.contrib.auth import get_user_model
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import create_main
from memory.models import Membership, Project
user = get_user_model().objects.create_user("{name}", password="correct horse battery")
project = Project.objects.create(name="{name}", slug="{name}")
create_main(project)
Membership.objects.create(user=user, project=project, role="maintainer")
_, key = KeyEngine().create_key(label="claude-code", scopes=["admin"], actor=local_actor(project.pk))
print(json.dumps({{"user": "{name}", "password": "correct horse battery", "key": key}}))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Up]:
    """Start one that is new: a user, a project, nothing else."""
    up = Up(prepared(tmp_path / "data"), "--no-worker").ready()
    yield up
    up.end()


@dataclass
class Newcomer:
    """A person with a project in which nothing has happened, as ``first`` says it of a new server."""

    first: dict[str, str]


@pytest.fixture
def newcomer(curators_server: Up) -> Newcomer:
    """Make one on a server that runs."""
    first: dict[str, str] = json.loads(curators_server.run_python(NEWCOMER.format(name=f"n{next(NUMBERS)}")))
    return Newcomer({"url": curators_server.first["url"], **first})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the home of a person who has an agent's program and no settings for Day1."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def view(browser: Browser) -> Iterator[View]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(LISTEN)
    view = View(context.new_page())
    listen(view, missing=False)
    yield view
    context.close()


def log_in(page: Page, server: Up | Newcomer) -> None:
    page.goto(f"{server.first['url']}/login")
    page.get_by_label("Username").fill(server.first["user"])
    page.get_by_label("Password").fill(server.first["password"])
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Connect an agent").wait_for()


def test_the_link_that_up_prints_logs_in_once(server: Up, view: View, browser: Browser) -> None:
    (link,) = re.findall(r"http://\S+/login/\S+", server.output())
    page = view.page
    page.goto(link)
    page.get_by_role("button", name="Log in as admin").click()
    page.get_by_role("heading", name="Connect an agent").wait_for()
    page.get_by_role("button", name="Play a sample session").wait_for()
    check_clean(view, server.first["url"])
    check_tab(page)
    other = browser.new_context().new_page()
    other.goto(link)
    expect(other.locator("main")).to_contain_text(
        "This login link was used already: day1 login makes another."
    )
    other.context.close()


def check_tab(page: Page) -> None:
    """Check that the program that is chosen stands in the address."""
    page.locator("label", has_text="Cursor").click()
    assert page.url.endswith("/p/default/?client=cursor")
    page.reload()
    expect(page.locator("#command-cursor")).to_be_visible()
    expect(page.locator("#command-claude-code")).to_be_hidden()


def run_in_home(home: Path, command: str, stdin: str = "") -> str:
    """Run what a person copied at a terminal, in the folder of Day1."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env=environment(HOME=str(home), PATH=path),
        input=stdin,
        text=True,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def start_agent(home: Path) -> None:
    """Do what Claude Code does when a session starts: run the hook that its settings name."""
    settings = json.loads((home / ".claude/settings.json").read_text())
    (entry,) = settings["hooks"]["SessionStart"]
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s1", "cwd": str(home)}
    run_in_home(home, entry["hooks"][0]["command"], json.dumps(event))


def state_of(page: Page) -> Any:
    return page.locator("[data-first-event] [data-state]")


def post(server: Newcomer, token: str, path: str, body: Any) -> None:
    words = ["curl", "-sf", server.first["url"] + path, "-H", f"Authorization: Bearer {token}"]
    words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    subprocess.run(words, check=True, capture_output=True, timeout=TIMEOUT_SECONDS)


def test_from_up_to_the_first_event_in_four_actions(server: Up, home: Path, view: View) -> None:
    page = view.page
    log_in(page, server)  # 1: the start page of the one project is open
    expect(state_of(page)).to_contain_text(WAITING)
    command = page.locator("#command-claude-code").inner_text()  # 2: copy the command
    run_in_home(home, command)  # 3: run it
    expect(state_of(page)).to_have_attribute("data-state", "reached")
    expect(state_of(page)).to_contain_text("Connected, waiting for the first event…")
    expect(state_of(page)).to_contain_text("Last call: claude-code")
    expect(state_of(page)).to_have_class("note waiting")
    run_in_home(home, f"{shlex.quote(sys.executable)} manage.py day1 doctor")  # a test event is none
    page.wait_for_timeout(SETTLED_MS)
    expect(state_of(page)).to_have_attribute("data-state", "reached")
    start_agent(home)  # 4: start the agent
    expect(state_of(page)).to_have_attribute("data-state", "event")
    expect(state_of(page)).to_contain_text("Connected. Last call: claude-code")
    expect(state_of(page)).to_have_class("note good")
    check_clean(view, server.first["url"])
    page.get_by_role("link", name="See its sessions").click()
    expect(page.get_by_text("claude-code").first).to_be_visible()
    check_printed_command(server, home.with_name("another"))


def check_printed_command(server: Up, home: Path) -> None:
    """Check that the command that `up` prints connects too; it stands above everything else."""
    lines = [line.strip() for line in server.output().splitlines()]
    command = next(line for line in lines if " connect claude-code " in line)
    assert lines.index(command) < next(n for n, line in enumerate(lines) if line.startswith("Web"))
    home.mkdir()
    run_in_home(home, command)
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["day1"]
    assert entry["url"] == f"{server.first['url']}/mcp"


def test_the_page_of_a_new_key_waits_for_that_key_alone(newcomer: Newcomer, view: View) -> None:
    page = view.page
    log_in(page, newcomer)
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("link", name="Agents & keys").click()
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_label("Agent that writes").check()
    page.get_by_role("button", name="Make the key").click()
    token = page.get_by_label("The key").input_value()
    expect(state_of(page)).to_contain_text(WAITING)
    post(newcomer, newcomer.first["key"], "/api/v1/facts", {"fact_text": "Another key wrote this."})
    expect(state_of(page)).to_contain_text(WAITING)
    page.locator("label", has_text="Hooks and REST by hand").click()
    command = page.locator("#command-rest-setup").inner_text()
    assert token in command
    assert shlex.split(command)[0] == "curl"
    subprocess.run(shlex.split(command), check=True, capture_output=True, timeout=TIMEOUT_SECONDS)
    expect(state_of(page)).to_have_attribute("data-state", "event")
    expect(state_of(page)).to_contain_text("Connected. Last call: laptop")
    check_clean(view, newcomer.first["url"])


def test_where_no_stream_comes_through_the_page_asks_again(newcomer: Newcomer, view: View) -> None:
    page = view.page
    page.route("**/live/**", lambda route: route.fulfill(status=404, body=""))
    log_in(page, newcomer)
    expect(state_of(page)).to_contain_text(WAITING)
    post(newcomer, newcomer.first["key"], "/api/v1/facts", {"fact_text": "Told without a stream."})
    expect(state_of(page)).to_have_attribute("data-state", "event")


HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_the_start_page_shows_what_happens_after_the_first_event(newcomer: Newcomer, view: View) -> None:
    page, content = view.page, view.page.locator("#content")
    log_in(page, newcomer)
    expect(state_of(page)).to_contain_text(WAITING)
    page.wait_for_timeout(SETTLED_MS)
    post(newcomer, newcomer.first["key"], "/api/v1/facts", {"fact_text": "The first one."})
    expect(state_of(page)).to_have_attribute("data-state", "event")
    expect(content.locator("section:has(#learned)")).to_contain_text("The first one.")
    expect(content.locator("#connect")).to_have_count(0)
    post(newcomer, newcomer.first["key"], "/api/v1/facts", {"fact_text": "Another one."})
    expect(content.locator("section:has(#learned)")).to_contain_text("Another one.")
    expect(state_of(page)).to_contain_text("Connected.")
    check_clean(view, newcomer.first["url"])


def test_a_hidden_page_asks_for_nothing_and_catches_up(newcomer: Newcomer, view: View) -> None:
    page, asked = view.page, []
    log_in(page, newcomer)
    expect(state_of(page)).to_contain_text(WAITING)
    page.evaluate(HIDE, True)
    page.on("request", lambda request: asked.append(request.url))
    post(newcomer, newcomer.first["key"], "/api/v1/facts", {"fact_text": "Nobody looks."})
    page.wait_for_timeout(5000)  # more than a stream and the fallback need
    assert asked == []
    expect(state_of(page)).to_contain_text(WAITING)
    page.evaluate(HIDE, False)
    expect(state_of(page)).to_have_attribute("data-state", "event")
