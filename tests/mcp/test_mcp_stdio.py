"""``day1 mcp``, as clients start it: on the local store, and as a bridge to a server."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ErrorData, ListRootsResult, Root

from day1site.mcp.roots import find_common_repository
from tests import databases
from tests.http_doubles import start_serving
from tests.mcp.conftest import read_data
from tests.up_process import ROOT, Up, provisioned
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(provisioned(tmp_path_factory.mktemp("mcp") / "data"), "--no-worker") as up:
        yield up


@pytest.fixture(scope="module")
def local_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory for the tests that look at nothing but what they write into it."""
    return provisioned(tmp_path_factory.mktemp("local") / "data")


def environment(**more: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("DAY1_", "DJANGO_"))}
    return {**kept, "DAY1_NO_BOOTSTRAP": "1", "DAY1_EMBEDDER": "off", **more}


def command(*words: str) -> list[str]:
    return [str(ROOT / "manage.py"), "day1", "mcp", *words]


async def story(parameters: StdioServerParameters, mode: str) -> tuple[list[str], dict[str, Any], Any]:
    """Return the tools' names, the result of a search for a new fact, and a refusal."""
    async with Client(parameters, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        text = f"Deploys run from main, says the {mode} client – für alle 记忆."
        made = await client.call_tool("memory_write", {"fact_text": text, "session_id": "s-1"})
        found = await client.call_tool("memory_search", {"query": mode})
        assert read_data(found)["results"][0]["id"] == read_data(made)["fact"]["id"]
        refusal = await client.call_tool("memory_get", {"fact_ids": ["nonsense"]})
        uid = read_data(made)["fact"]["id"]
        read = read_data(await client.call_tool("memory_get", {"fact_ids": [uid]}))
        assert (read["facts"][0]["fact_text"], read["facts"][0]["session_id"]) == (text, "s-1")
        return names, read_data(made), refusal.content[0].text


@pytest.mark.slow
def test_the_local_store_as_the_local_user_of_an_older_client(tmp_path: Path) -> None:
    """The first call makes the store. Newer clients: test_mcp_every_tool.py."""
    folder = tmp_path / "data"
    parameters = StdioServerParameters(
        command=sys.executable,
        args=command("--data-dir", str(folder)),
        env=environment(**databases.of(folder)),
    )
    names, made, refusal = asyncio.run(story(parameters, "legacy"))
    assert (len(names), names[0]) == (10, "memory_search")
    assert made["branch"] == "main"
    assert refusal.startswith("invalid: fact_ids[0] must be a UUID.")


@pytest.mark.slow
def test_in_front_of_a_server_the_key_decides(server: Up) -> None:
    env = environment(DAY1_URL=server.first["url"], DAY1_KEY=server.first["key"])
    parameters = StdioServerParameters(command=sys.executable, args=command(), env=env)
    names, made, refusal = asyncio.run(story(parameters, "auto"))
    assert (len(names), made["branch"]) == (10, "main")
    assert refusal.startswith("invalid: fact_ids[0] must be a UUID.")


@pytest.mark.slow
def test_both_ways_list_the_tools_of_a_profile(server: Up, local_data: Path) -> None:
    async def names(parameters: StdioServerParameters) -> set[str]:
        async with Client(parameters) as client:
            return {tool.name.partition("_")[0] for tool in (await client.list_tools()).tools}

    local = ("--profile", "memory", "--data-dir", str(local_data))
    remote = environment(DAY1_URL=server.first["url"], DAY1_KEY=server.first["key"])
    own = environment(**databases.of(local_data))
    for words, env in ((local, own), (("--profile", "memory", "--branch", "main"), remote)):
        parameters = StdioServerParameters(command=sys.executable, args=command(*words), env=env)
        assert asyncio.run(names(parameters)) == {"memory"}


def said(line: str, **env: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *command()],
        input=line,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        env=environment(**env),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


class Redirecting(BaseHTTPRequestHandler):
    """Handler that redirects everything elsewhere."""

    def do_POST(self) -> None:
        self.send_response(307)
        self.send_header("Location", "https://other.example/mcp")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Suppress the log."""


@contextmanager
def redirecting() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as http:
        thread = start_serving(http)
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.mark.slow
def test_what_cannot_be_passed_on_is_told_in_an_answer(server: Up) -> None:
    url = server.first["url"]
    ping = '{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'
    wrong = said(ping, DAY1_URL=url, DAY1_KEY="day1_wrong")
    assert wrong["error"]["message"].startswith("unauthenticated: ")
    assert wrong["id"] == 7
    gone = said(ping, DAY1_URL="http://127.0.0.1:1", DAY1_KEY="x")
    assert gone["error"]["message"].startswith("unreachable: The server at http://127.0.0.1:1/mcp")
    with redirecting() as elsewhere:
        moved = said(ping, DAY1_URL=elsewhere, DAY1_KEY="x")["error"]["message"]
    assert moved == (
        "unreachable: The server redirects to https://other.example/mcp (HTTP 307), where the key is not"
        " sent: is DAY1_URL right?"
    )
    assert said("nonsense\n", DAY1_URL=url, DAY1_KEY="x")["error"]["code"] == -32700
    assert said("[1]\n", DAY1_URL=url, DAY1_KEY="x")["error"]["code"] == -32600


@pytest.mark.slow
@pytest.mark.parametrize("answer", ['"result": {"roots": [1, {"uri": 2}]}', None])
def test_a_client_whose_roots_are_nonsense_or_never_come_is_answered(
    answer: str | None, server: Up, tmp_path: Path
) -> None:
    about = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    lines = [
        json.dumps({**hello, "params": {**about, "capabilities": {"roots": {}}}}),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 3, "method": "ping"}',
        *([f'{{"jsonrpc": "2.0", "id": "day1-roots", {answer}}}'] if answer else []),
    ]
    done = subprocess.run(
        [sys.executable, *command()],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        cwd=tmp_path,
        env=environment(DAY1_URL=server.first["url"], DAY1_KEY=server.first["key"]),
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row.get("method")) for row in said] == [
        (1, None),
        ("day1-roots", "roots/list"),
        (3, None),
    ]
    assert said[2]["result"] == {}


@pytest.mark.slow
def test_the_client_says_which_session_it_serves_and_that_the_repository(tmp_path: Path) -> None:
    async def newest(parameters: StdioServerParameters, session: str) -> list[str]:
        async with Client(parameters) as client:
            for text, where in (
                ("Tills beep.", {"session_id": "other", "repository": "github.com/acme/till"}),
                ("Shops close.", {"repository": "github.com/acme/shop"}),
            ):
                made = await client.call_tool("memory_write", {"fact_text": text, **where})
            assert read_data(made)["branch"] == "main"
            if session:
                read = await client.call_tool("memory_get", {"fact_ids": [read_data(made)["fact"]["id"]]})
                assert read_data(read)["facts"][0]["session_id"] == session
            told = read_data(await client.call_tool("memory_context", {}))
            return [row["line"] for row in told["newest_facts"]]

    words = command("--branch", "main", "--data-dir", str(provisioned(tmp_path / "data")))
    own = databases.of(tmp_path / "data")
    for session, lines in (
        ("claude-1", ["Shops close."]),
        ("", ["Shops close.", "Tills beep."]),
    ):
        env = environment(CLAUDE_CODE_SESSION_ID=session, **own)
        parameters = StdioServerParameters(command=sys.executable, args=words, env=env, cwd=tmp_path)
        assert asyncio.run(newest(parameters, session)) == lines


@pytest.fixture
def work_tree(tmp_path: Path) -> Path:
    """Return a folder within a work tree of github.com/acme/shop."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    config = '[remote "origin"]\n\turl = git@github.com:acme/shop.git\n'
    (tmp_path / "shop" / ".git" / "config").write_text(config)
    return tmp_path / "shop" / "src"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "bridged"), [("auto", True), ("legacy", False), ("legacy", True)])
def test_roots_say_the_repository_where_the_folder_says_none(
    mode: str, bridged: bool, server: Up, local_data: Path, work_tree: Path, tmp_path: Path
) -> None:
    """Offer two folders, and none; only an older client can be asked."""

    async def write(folders: list[Path] | None, words: tuple[str, ...] = ()) -> str:
        async def offer(_: Any) -> Any:
            if folders is None:
                return ErrorData(code=-32603, message="No.")
            return ListRootsResult(roots=[Root(uri=folder.as_uri()) for folder in folders])

        parameters = StdioServerParameters(
            command=sys.executable, args=command(*start, *words), env=env, cwd=tmp_path
        )
        async with Client(parameters, mode=mode, list_roots_callback=offer) as client:
            arguments = {"fact_text": "One.", "deduplicate": False}
            uid = read_data(await client.call_tool("memory_write", arguments))["fact"]["id"]
            read = await client.call_tool("memory_get", {"fact_ids": [uid]})
            return read_data(read)["facts"][0]["repository"]

    remote = environment(DAY1_URL=server.first["url"], DAY1_KEY=server.first["key"])
    env = remote if bridged else environment(**databases.of(local_data))
    start = [] if bridged else ["--data-dir", str(local_data)]
    if mode == "auto":
        assert asyncio.run(write([work_tree])) == ""
        return
    assert asyncio.run(write([work_tree, work_tree.parent])) == "github.com/acme/shop"
    if bridged:
        assert asyncio.run(write(None)) == ""
        assert asyncio.run(write([work_tree], ("--repository", "/srv/app"))) == "/srv/app"


def test_folders_say_a_repository_where_all_of_them_are_in_it(work_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "till" / ".git").mkdir(parents=True)

    def find(*folders: Path) -> str:
        return find_common_repository([folder.as_uri() for folder in folders])

    assert find(work_tree, work_tree.parent) == "github.com/acme/shop"
    assert find(tmp_path / "till") == str(tmp_path / "till")
    assert find(work_tree, tmp_path / "till") == find(tmp_path) == find() == ""


@pytest.mark.slow
@pytest.mark.parametrize("bridged", [False, True])
def test_the_folder_that_it_was_started_in_says_the_repository(
    bridged: bool, server: Up, local_data: Path, work_tree: Path, tmp_path: Path
) -> None:
    async def write(parameters: StdioServerParameters, text: str) -> str:
        async with Client(parameters) as client:
            made = await client.call_tool("memory_write", {"fact_text": text, "deduplicate": False})
            uid = read_data(made)["fact"]["id"]
            read = await client.call_tool("memory_get", {"fact_ids": [uid]})
            return read_data(read)["facts"][0]["repository"]

    remote = environment(DAY1_URL=server.first["url"], DAY1_KEY=server.first["key"])
    local = environment(**databases.of(local_data))
    start = [] if bridged else ["--data-dir", str(local_data)]
    for words, folder, repository in (
        ((), work_tree, "github.com/acme/shop"),
        (("--repository", "https://github.com/acme/till.git"), work_tree, "github.com/acme/till"),
        (("--repository", "*"), work_tree, ""),
    )[: 3 if bridged else 1]:  # what words and folders say is read in one place
        parameters = StdioServerParameters(
            command=sys.executable, args=command(*start, *words), env=remote if bridged else local, cwd=folder
        )
        assert asyncio.run(write(parameters, f"Written in {repository}.")) == repository


@pytest.mark.slow
@pytest.mark.parametrize("is_remote", [False, True])
def test_half_a_surrogate_pair_and_a_byte_order_mark_are_answered(
    is_remote: bool, server: Up, local_data: Path
) -> None:
    url_and_key = {"DAY1_URL": server.first["url"], "DAY1_KEY": server.first["key"]}
    words = [] if is_remote else ["--data-dir", str(local_data)]
    env = environment(**(url_and_key if is_remote else databases.of(local_data)))
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "memory_write", "arguments": {"fact_text": f"Half \ud83d of it, {is_remote}."}}
    rows = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    process = subprocess.Popen(
        [sys.executable, *command(*words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    )
    assert process.stdin
    assert process.stdout
    answers = {}
    for row in rows:
        mark = b"\xef\xbb\xbf" if row.get("id") == 1 else b""
        process.stdin.write(mark + json.dumps({"jsonrpc": "2.0", **row}).encode() + b"\n")
        process.stdin.flush()
        if "id" in row:
            answers[row["id"]] = json.loads(process.stdout.readline())
    # What is no message is answered too: no client waits for what never comes.
    for line, code in ((b"nonsense", -32700), (b"42", -32600), (b'{"jsonrpc": "2.0"}', -32600)):
        if is_remote and line.startswith(b"{"):
            continue  # for the server to answer
        process.stdin.write(b"\n" + line + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert (answer["id"], answer["error"]["code"]) == (None, code)
    process.stdin.close()
    process.wait(TIMEOUT_SECONDS)
    shown = json.dumps(answers[2], ensure_ascii=False)
    assert 'isError": true' not in shown, shown
    assert f"Half \ufffd of it, {is_remote}." in shown
