"""A session of a real agent is erased in the browser, on a running server: no file has a byte of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from tests.browser import check_page, settle
from tests.databases import only_on_sqlite
from tests.e2e.conftest import PASSWORD
from tests.site.hook_events import bash, event
from tests.up_process import Up, prepared
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = pytest.mark.browser
WORD = "quokkaberylwort"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Start a server with a worker and embeddings, whose folder this module has for itself."""
    folder = prepared(tmp_path_factory.mktemp("erasing") / "data")
    with Up(folder, "--admin-password", PASSWORD, DAY1_EMBEDDER="minilm") as up:
        yield up


def files_with(folder: Path, word: str) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file())
    counts = {path.name: path.read_bytes().lower().count(word.encode()) for path in files}
    return {name: count for name, count in counts.items() if count}


def call(server: Up, path: str, body: Any = None) -> Any:
    """Send a REST request with the first key; return the answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {server.first['key']}", "Content-Type": "application/json"}
    with urlopen(
        Request(f"{server.first['url']}/api/v1{path}", data, headers), timeout=TIMEOUT_SECONDS
    ) as answer:
        return json.loads(answer.read() or b"null")


def work(server: Up, session: str) -> None:
    """Let an agent's program tell of a session in which everything has the word, and of a later one."""
    decision = f"From now on we always deploy with the {WORD} token, that is decided."
    events = [
        event("SessionStart", session, source="startup"),
        event("UserPromptSubmit", session, prompt=decision, prompt_id="p1"),
        bash("c1", f"grep -r {WORD} .", f"a.txt: {WORD}", session),
        event("Stop", session, last_assistant_message=f"I stored the {WORD} token.", prompt_id="p1"),
        event("SessionEnd", session, reason="exit"),
    ]
    call(server, "/ingest/hook", events)
    call(server, "/facts", {"fact_text": f"The vault needs {WORD}.", "session_id": session})
    call(server, "/facts", {"fact_text": "Something else altogether."})
    wait_until(lambda: call(server, f"/facts?session_id={session}")["results"])
    wait_until(lambda: call(server, "/health")["embedding"]["pending"] == 0)
    call(server, f"/facts/search?q=the+{WORD}+token")
    call(server, "/ingest/hook", [event("SessionStart", "later", source="startup")])


@only_on_sqlite
def test_a_session_is_erased_in_the_browser(open_page: Any, server: Up) -> None:
    session = "session-to-erase"
    work(server, session)
    assert files_with(server.folder, WORD)
    view = open_page(f"/p/default/session?key={session}")
    page, home = view.page, server.first["url"]
    page.get_by_role("link", name="Erase this session").click()
    expect(page.get_by_text(f"The vault needs {WORD}.")).to_be_visible()
    settle(page)
    check_page(view, home, "erase")
    page.get_by_role("textbox", name="Name").fill("something else")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("nothing was erased")).to_be_visible()
    assert files_with(server.folder, WORD)
    page.get_by_role("textbox", name="Name").fill(session)
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("Everything that it covers is blank")).to_be_visible()
    settle(page)
    assert files_with(server.folder, WORD) == {}
    late = event("UserPromptSubmit", session, prompt=f"Once more: {WORD}", prompt_id="p2")
    call(server, "/ingest/hook", [late])
    assert files_with(server.folder, WORD) == {}
    (fact,) = call(server, "/facts?status=active")["results"]
    assert fact["fact_text"] == "Something else altogether."
    view.complaints.clear()  # of the refused name, whose status is 400
    check_page(view, home, "erasure")
    page.get_by_role("link", name="All erasures").click()
    settle(page)
    expect(page.get_by_role("link", name="Session", exact=True)).to_be_visible()
    check_page(view, home, "erasures")
