"""Three agents mend one bug on three branches, and two of them disagree: merged, read by a fourth, undone.

Once the agents speak REST and people use a browser; once everybody uses MCP and the command line.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Browser, Page, expect

from tests.browser import LISTEN, View, check_clean, listen, settle, sign_in
from tests.site.hook_events import event
from tests.site.test_hook_client import Client
from tests.up_process import ROOT, Up, environment, provisioned
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow
MAX_TABS = 6
PASSWORD = "correct horse battery"
PEOPLE = f"""
from django.contrib.auth import get_user_model
from memory.models import Membership, Project
project = Project.objects.get(slug="default")
for name, role in (("cora", "curator"), ("vera", "maintainer")):
    user = get_user_model().objects.create_user(name, password="{PASSWORD}")
    Membership.objects.create(user=user, project=project, role=role)
"""
DAY = "Login tokens live for a day."
HOUR = "Login tokens live for an hour: the gateway drops older ones."
TWO_HOURS = "Login tokens live for two hours: the gateway drops older ones."
CLOCKS = (
    "The clock of the login server runs four minutes fast.",
    "A login fails when both clocks differ by more than a minute.",
)
NOT_BY_AUTHOR = "Who opened a merge request into main may not approve it: its policy wants another."
UNAPPROVED = "The merge is refused by approvals: Approvals: 0 of 1."
UNDECIDED = (
    "The merge is refused by conflicts, approvals: Conflicts without a decision: 1. Approvals: 0 of 1."
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Up]:
    with Up(provisioned(tmp_path / "data"), "--no-worker", DAY1_EMBEDDER="off") as up:
        yield up


# ---- the story in a browser ----------------------------------------------------------------------------


class Agent:
    """Program with a key of its own, over REST."""

    def __init__(self, server: Up, key: str) -> None:
        self.server, self.key = server, key

    @classmethod
    def with_new_key(cls, server: Up, name: str, scope: str) -> "Agent":
        admin = cls(server, server.first["key"])
        made = admin.call("POST", "/keys", label=name, scopes=[scope])
        return cls(server, made["token"])

    def send(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        data = json.dumps(body).encode() if method != "GET" else None
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = Request(f"{self.server.first['url']}/api/v1{path}", data, headers, method=method)
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            return error.code, json.loads(error.read())

    def call(self, method: str, path: str, **body: Any) -> Any:
        status, answer = self.send(method, path, **body)
        assert status < 300, answer
        return answer

    def refused(self, path: str) -> tuple[str, str]:
        """Post what must be refused; return the code and the sentence."""
        status, answer = self.send("POST", path)
        assert status == 409, answer
        return answer["code"], answer["detail"]

    def list_main(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.call("GET", "/facts?limit=100")["results"]
        return rows


@pytest.fixture
def visit(browser: Browser, server: Up) -> Iterator[Callable[[str], Page]]:
    """Log people in; fail when the browser reported an error."""
    views: list[View] = []

    def visit(name: str) -> Page:
        size = {"width": 1280, "height": 900}
        context = browser.new_context(viewport=size, reduced_motion="reduce")
        context.add_init_script(LISTEN)
        views.append(View(context.new_page()))
        listen(views[-1], missing=False)
        page = views[-1].page
        sign_in(page, server.first["url"], name, PASSWORD)
        return page

    yield visit
    for view in views:
        settle(view.page)
        check_clean(view, server.first["url"])
        view.page.context.close()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def verify_by_keys(page: Page, branch: str, *texts: str) -> None:
    """Verify the newest facts of a branch in its list."""
    page.goto(f"{home(page)}/facts?branch={branch}")
    for text in texts:
        row = page.locator("main .rows > li", has_text=text)
        press(page, "j")
        expect(row).to_have_class(re.compile(r"\bat\b"))
        press(page, "v")
        expect(row.get_by_text("verified", exact=True)).to_be_visible()
    settle(page)


def home(page: Page) -> str:
    return page.url.partition("/p/default")[0] + "/p/default"


def open_request(page: Page, number: int) -> None:
    page.goto(f"{home(page)}/merge-requests/{number}")


def merge_by_hand(page: Page, number: int) -> None:
    """Approve a request, and merge it with a double click."""
    open_request(page, number)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Approved.")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Merge", exact=True).dblclick()
    expect(page.get_by_text("Merged into main.")).to_be_visible()
    settle(page)


def decide_by_keys(page: Page) -> None:
    """Go to the second newest request, on to its conflict, and take the branch's side, without a mouse."""
    press(page, "g", "q")
    page.wait_for_url(re.compile(r"/merge-requests\?"))
    settle(page)
    press(page, "j", "j", "Enter")
    page.wait_for_url("**/merge-requests/2")
    settle(page)
    press(page, "Tab", "Enter")  # past the navigation
    conflicts = page.get_by_role("link", name="conflicts 1")
    for _ in range(MAX_TABS):  # past both branches and the text of the request
        press(page, "Tab")
        if conflicts.evaluate("link => link === document.activeElement"):
            break
    expect(conflicts).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/merge-requests/2?tab=changes")
    settle(page)
    press(page, "2")
    expect(page.get_by_text("Decided: the branch’s side.")).to_be_visible()
    settle(page)


def read_events(page: Page) -> list[list[str]]:
    """Return who did what, as the conversation of a request tells it."""
    lines = page.locator("ol.events > li > p").all()
    return [re.sub(r"\d{4}-.*", "", line.inner_text()).split() for line in lines]


def begin_session(client: Client, session: str) -> list[str]:
    """Return the facts that a new session is told, without what is known about them."""
    start = event("SessionStart", session, source="startup")
    del start["day1"]
    told = json.loads(client.run(start))["hookSpecificOutput"]["additionalContext"]
    return re.findall(r"^- (.*) \[[^]]*✓\]", told, re.M)


def select_content(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return facts without what goes on when something is undone: versions, and how often they were read."""
    counted = {"version", "updated_at", "access_count", "last_accessed_at"}
    return [{name: value for name, value in row.items() if name not in counted} for row in rows]


@pytest.mark.browser
def test_agents_over_rest_and_people_in_a_browser(
    server: Up, visit: Callable[[str], Page], tmp_path: Path
) -> None:
    server.run_python(PEOPLE)
    admin = Agent(server, server.first["key"])
    admin.call("PATCH", "/policies/main", approvals=1)
    fact = admin.call("POST", "/facts", fact_text=DAY)["id"]
    admin.call("POST", f"/facts/{fact}/verify", verdict="verified")
    ada = Agent.with_new_key(server, "ada", "merge")
    ben, cleo, dora = (Agent.with_new_key(server, name, "write") for name in ("ben", "cleo", "dora"))
    for name, agent in (("ada", ada), ("ben", ben), ("cleo", cleo)):
        agent.call("POST", "/branches", name=f"task/{name}", purpose=f"What {name} found about logins")
    ada.call("PATCH", f"/facts/{fact}", fact_text=HOUR, branch="task/ada")
    ben.call("PATCH", f"/facts/{fact}", fact_text=TWO_HOURS, branch="task/ben")
    for text in CLOCKS:
        cleo.call("POST", "/facts", fact_text=text, branch="task/cleo")
    for number, (name, agent) in enumerate((("ada", ada), ("ben", ben), ("cleo", cleo)), 1):
        made = agent.call("POST", "/merge-requests", source=f"task/{name}", title=f"Logins: {name}")
        assert (made["number"], made["state"], made["author_label"]) == (number, "open", name)
    cora, vera = visit("cora"), visit("vera")
    verify_by_keys(cora, "task/ada", HOUR)
    verify_by_keys(cora, "task/ben", TWO_HOURS)
    verify_by_keys(cora, "task/cleo", *reversed(CLOCKS))

    assert ada.refused("/merge-requests/1/approve") == ("conflict", NOT_BY_AUTHOR)
    assert ada.refused("/merge-requests/1/merge") == ("conflict", UNAPPROVED)
    merge_by_hand(vera, 1)
    merge_by_hand(vera, 3)
    before = admin.list_main()
    assert [row["fact_text"] for row in before] == [*reversed(CLOCKS), HOUR]

    open_request(vera, 2)
    expect(vera.locator("#request-status")).to_contain_text(
        "Not ready to merge. Conflicts without a decision: 1. Approvals: 0 of 1."
    )
    expect(vera.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
    assert ada.refused("/merge-requests/2/merge") == ("conflict", UNDECIDED)
    assert admin.list_main() == before
    decide_by_keys(cora)
    expect(cora.locator("#request-status")).to_contain_text("Approvals: 0 of 1. A maintainer merges it.")
    merge_by_hand(vera, 2)
    assert [row["fact_text"] for row in admin.list_main()] == [*reversed(CLOCKS), TWO_HOURS]

    client = Client(tmp_path, server.first["url"], dora.key)
    assert begin_session(client, "s1") == [*reversed(CLOCKS), TWO_HOURS]
    vera.get_by_role("button", name="Undo the merge").click()
    expect(vera.get_by_text("The merge was taken back: everything is as before.")).to_be_visible()
    settle(vera)
    assert select_content(admin.list_main()) == select_content(before)
    assert begin_session(client, "s2") == [*reversed(CLOCKS), HOUR]
    assert [" ".join(words) for words in read_events(vera)] == [
        "ben opened it",
        "cora decided conflicts: 1",
        "vera approved it",
        "vera merged it main · 5",
        "vera took the merge back main · 7",
    ]
    states = [ada.call("GET", f"/merge-requests/{number}")["state"] for number in (1, 2, 3)]
    assert states == ["merged", "reverted", "merged"]


# ---- the story over MCP and the command line -----------------------------------------------------------


class Terminal:
    """Somebody with a key, who types commands and whose agent has the tools."""

    def __init__(self, server: Up, key: str) -> None:
        self.url, self.key = server.first["url"], key

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its exit status, what it printed, and what it told beside."""
        env = environment(DAY1_URL=self.url, DAY1_KEY=self.key)
        command = [sys.executable, "manage.py", "day1", *words]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def print(self, *words: str) -> str:
        """Run a command that must succeed; return what it printed."""
        status, out, err = self.run(*words)
        assert status == 0, err
        return out

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return its data."""
        found = self._answer(tool, arguments)
        assert not found.is_error, found.content[0].text
        data: dict[str, Any] = json.loads(found.content[0].text)
        return data

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must be refused; return the text."""
        found = self._answer(tool, arguments)
        assert found.is_error, found.content
        text: str = found.content[0].text
        return text

    def _answer(self, tool: str, arguments: dict[str, Any]) -> Any:
        # In a thread of its own: in this one the browser of the other test has a loop that runs.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(self._call(tool, arguments))).result()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http,
            McpClient(streamable_http_client(f"{self.url}/mcp", http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)


def list_contents(admin: Terminal) -> list[dict[str, Any]]:
    """Return the facts that an export of main has."""
    return select_content([json.loads(line) for line in admin.print("export").splitlines()])


def find_lines(context: dict[str, Any]) -> list[str]:
    return [fact["line"] for fact in context["newest_facts"]]


def test_everybody_over_mcp_and_the_command_line(server: Up) -> None:
    admin = Terminal(server, server.first["key"])
    admin.print("policy", "set", "main", "--approvals", "1")

    def enter(name: str, scope: str) -> Terminal:
        return Terminal(server, admin.print("keys", "create", name, "--scope", scope).strip())

    ada, vera, cora = enter("ada", "merge"), enter("vera", "merge"), enter("cora", "curate")
    ben, cleo, dora = (enter(name, "write") for name in ("ben", "cleo", "dora"))
    authors = {"ada": ada, "ben": ben, "cleo": cleo}
    fact = admin.call("memory_write", fact_text=DAY)["fact"]["id"]
    verdict = {"verdict": "verified", "reason": "Read in the settings of the gateway."}
    cora.call("verify_fact", fact_id=fact, **verdict)
    first = list_contents(admin)
    for name, agent in authors.items():
        assert agent.call("branch_create", name=f"task/{name}")["branch"] == f"task/{name}"
    for name, text in (("ada", HOUR), ("ben", TWO_HOURS)):
        authors[name].call("memory_update", fact_id=fact, fact_text=text, branch=f"task/{name}")
        cora.call("verify_fact", fact_id=fact, branch=f"task/{name}", **verdict)
    work = cleo.call("branch_switch", name="task/cleo")["handle"]
    for text in CLOCKS:
        made = cleo.call("memory_write", fact_text=text, work=work)["fact"]["id"]
        cora.call("verify_fact", fact_id=made, branch="task/cleo", **verdict)

    assert ada.refused("branch_merge", name="task/ada", dry_run=False).startswith(
        "conflict: The merge is refused by approvals: A merge request is needed, with approvals: 1."
    )
    for number, (name, agent) in enumerate(authors.items(), 1):
        title = f"Logins: {name}"
        made = agent.print("merge-request", "create", f"task/{name}", "--title", title)
        assert made == f"{number}\t{title}\n"
    assert ada.run("merge-request", "approve", "1") == (1, "", f"conflict: {NOT_BY_AUTHOR}\n")
    assert ada.run("merge-request", "merge", "1") == (1, "", f"conflict: {UNAPPROVED}\n")
    assert list_contents(admin) == first
    for request in "13":
        assert vera.print("merge-request", "approve", request) == f"{request}\tapproved\n"
        assert vera.print("merge-request", "merge", request).startswith(f"{request}\tmerged as ")

    before = list_contents(admin)
    assert {row["fact_text"] for row in before} == {*CLOCKS, HOUR}
    assert vera.run("merge-request", "merge", "2") == (1, "", f"conflict: {UNDECIDED}\n")
    decide = ("merge-request", "decide", "2", "--id", fact, "--choice", "source")
    assert ben.run(*decide) == (1, "", "scope_missing: This needs the scope curate.\n")
    _, plan, counts = cora.run("merge-request", "plan", "2", "--class", "conflict")
    assert plan.splitlines()[1:] == [f"conflict\tfact\t{fact}\tedited\t{TWO_HOURS}"]
    assert counts == "fact: 1 conflict\nverdict: 1 identical\n"
    assert list_contents(admin) == before
    assert cora.print(*decide) == "2\t1 decided, 0 left\n"
    assert vera.print("merge-request", "approve", "2") == "2\tapproved\n"
    assert vera.print("merge-request", "merge", "2").startswith("2\tmerged as ")
    assert find_lines(dora.call("memory_context")) == [*reversed(CLOCKS), TWO_HOURS]

    assert vera.print("merge-request", "revert", "2").startswith("2\treverted by ")
    assert list_contents(admin) == before
    assert find_lines(dora.call("memory_context")) == [*reversed(CLOCKS), HOUR]
    for request in "31":
        vera.print("merge-request", "revert", request)
    assert list_contents(admin) == first
    assert vera.run("merge-request", "merge", "2")[2] == (
        "illegal_transition: Merge request 2 is reverted already.\n"
    )
    log = [line.split("\t") for line in admin.print("branch", "log", "main").splitlines()[1:]]
    assert [f"{by}: {title}" for _, _, title, by, *_ in log] == [
        "vera (key): Undid commit 3",
        "vera (key): Undid commit 4",
        "vera (key): Undid commit 5",
        "vera (key): #2 Logins: ben",
        "vera (key): #3 Logins: cleo",
        "vera (key): #1 Logins: ada",
        "cora (key): Verified 1 fact",
        "first key (key): Added 1 fact",
    ]
