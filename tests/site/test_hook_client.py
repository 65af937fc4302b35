"""The hook client without a server: its spool, and that it never disturbs the agent."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from day1site.cli import main
from day1site.cli.connect.doctor import count_dropped
from day1site.hooks.client import capture, delivery, hook, transcripts
from tests.http_doubles import start_serving
from tests.site.hook_events import event
from tests.up_process import ROOT, environment, make_once
from tests.waiting import TIMEOUT_SECONDS, wait_until

CLIENT = Path(hook.__file__).resolve()
WAITS = re.compile(r"^(WAIT, BACKLOG|PROMPT_WAIT, PROMPT_BACKLOG|SIGN_WAIT, SILENT_SIGN_WAIT) = .*?  #", re.M)
NOBODY = "http://127.0.0.1:9"


def copy_patient(folder: Path) -> None:
    """Copy the client, with waits for a server as long as those of tests."""
    shutil.copytree(CLIENT.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    module = folder / "capture.py"
    text, count = WAITS.subn(rf"\1 = {TIMEOUT_SECONDS}.0, {TIMEOUT_SECONDS}.0  #", module.read_text())
    assert count == 3
    module.write_text(text)


class Client:
    """Client process as a program runs it, with a config and a spool of its own.

    It waits for the server as long as tests do, unless the test is about a server that hangs.
    """

    def __init__(
        self, folder: Path, url: str = NOBODY, key: str = "day1_none", script: Path | None = None
    ) -> None:
        self.script = script or make_once("patient", copy_patient) / CLIENT.name
        self.config = folder / "hooks.json"
        self.spool = folder / "hooks.json.spool"
        self.config.write_text(json.dumps({"url": url, "key": key}))

    def start(self, *before: str, **env: str) -> subprocess.Popen:
        """Start the client, by the words of a command ``before`` it where there are any."""
        options = ["--client", "claude-code", "--config", str(self.config)]
        words = [*before, sys.executable, "-I", "-S", str(self.script), *options]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAY1_", "CLAUDE"))}
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env={**kept, **env})

    def run(self, given: object, *before: str, **env: str) -> str:
        """Run the client with one event, as JSON or as bytes; return its output."""
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        process = self.start(*before, **env)
        out, err = process.communicate(data, timeout=TIMEOUT_SECONDS)
        assert (process.returncode, err) == (0, b"")
        return out.decode()

    def lines(self, name: str = "events.jsonl") -> list[bytes]:
        file = self.spool / name
        return file.read_bytes().splitlines() if file.exists() else []

    def events(self) -> list[dict]:
        return [json.loads(line) for line in self.lines()]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def test_an_event_is_kept_as_it_came(client):
    given = event("UserPromptSubmit", prompt="Grüße 🙂", prompt_id="p1")
    del given["day1"]
    client.run(given, CLAUDE_PROJECT_DIR="/nowhere/at/all")
    (kept,) = client.events()
    beside = kept.pop("day1")
    assert kept == given
    assert (beside["client"], beside["root"]) == ("claude-code", "/nowhere/at/all")
    assert beside.keys() == {"client", "root", "at", "nonce"}
    assert (client.spool / "events.jsonl").stat().st_mode & 0o777 == 0o600
    assert client.spool.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_left_out(client, code):
    client.run(json.dumps(event("UserPromptSubmit", prompt="Grüße")).encode(code))
    (kept,) = client.events()
    assert kept["prompt"] == "Grüße"


def test_what_is_no_json_is_set_aside(client):
    client.run(b"no event\nat all")
    client.run(b"<private>my secret</private>")
    assert client.lines() == []
    assert client.lines("broken.jsonl") == [b"no event at all", b'{"day1":{"bytes":28}}']


def test_many_lines_are_one(client):
    client.run(json.dumps(event("Stop"), indent=2).replace("\n", "\r\n").encode())
    client.run(event("SessionEnd", reason="x"))
    assert [kept["hook_event_name"] for kept in client.events()] == ["Stop", "SessionEnd"]


@pytest.mark.parametrize("given", [b"", b"   ", b"null", b"[1]", b'"text"', b"{}", b"\xff\xfe", b"{" * 3000])
def test_what_is_no_event_is_not_kept(client, given):
    assert client.run(given) == ""
    assert client.lines() == []


def test_no_config_no_trace(tmp_path):
    client = Client(tmp_path)
    client.config.unlink()
    assert client.run(event("Stop")) == ""
    assert not client.spool.exists()


def test_a_client_that_is_not_whole_disturbs_nobody(client, tmp_path):
    script = tmp_path / "hook.py"
    script.write_bytes(CLIENT.read_bytes())
    words = [sys.executable, "-I", "-S", str(script), "--client", "gemini", "--config", str(client.config)]
    done = subprocess.run(words, input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_folder_that_cannot_be_written(client):
    client.spool.write_text("a file in its place")
    assert client.run(event("Stop")) == ""


SMALL_FILES = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh")  # a file takes as little as on a full disk


def test_what_a_full_disk_does_not_take_is_sent_at_once_or_said_to_be_lost(client, failing):
    client.run(event("Stop", text="one"))
    long = "x" * 2000
    assert client.run(event("Stop", text=long), *SMALL_FILES) == ""
    told = json.loads(client.run(event("UserPromptSubmit", prompt=long), *SMALL_FILES))
    assert told["systemMessage"] == (
        "Day1: memory is off, the server does not answer, and nothing can be kept for it: File too large "
        f"({client.spool}). What happens meanwhile is lost; `day1 doctor` says more."
    )
    assert [one["text"] for one in client.events()] == ["one"]  # and no half line
    there = Client(client.config.parent, f"http://127.0.0.1:{failing.server_port}")
    assert there.run(event("UserPromptSubmit", text=long), *SMALL_FILES) == ""
    assert (failing.taken, len(there.lines())) == ([long], 1)


def test_a_prompt_without_memory_denies_nothing_of_what_was_told_before(client):
    context = json.loads(client.run(event("UserPromptSubmit", prompt="Go.")))["hookSpecificOutput"]
    assert context["additionalContext"] == (
        "<day1-memory>Day1: memory is off, the server does not answer. "
        "Nothing is looked up for this prompt.</day1-memory>"
    )


def test_that_memory_is_off_is_told_once_in_a_session(client):
    answer = json.loads(client.run(event("SessionStart")))
    assert answer == {
        "systemMessage": f"Day1: memory is off, the server does not answer ({NOBODY}). "
        "What happens meanwhile is kept and sent later; `day1 doctor` says more.",
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "<day1-memory>Day1: memory is off, the server does not answer. "
            "Nothing is known of earlier sessions.</day1-memory>",
        },
    }
    for again in ("UserPromptSubmit", "SubagentStart", "SessionStart", "Stop"):
        assert client.run(event(again, prompt="Go.")) == ""
    assert "memory is off" in client.run(event("UserPromptSubmit", "s2", prompt="Go."))
    assert [one["hook_event_name"] for one in client.events()] == [
        *("SessionStart", "UserPromptSubmit", "SubagentStart", "SessionStart", "Stop", "UserPromptSubmit"),
    ]


def test_a_later_outage_is_told_again_and_what_was_kept_arrives_in_order(client, failing):
    failing.down = True
    client.config.write_text(json.dumps({"url": f"http://127.0.0.1:{failing.server_port}", "key": "k"}))
    for n in range(2):
        answer = client.run({**event("UserPromptSubmit", prompt="Go."), "text": f"prompt {n}"})
        assert ("the server fails with status 500" in answer) == (n == 0)
    with capture.Lock(str(client.spool / "send.lock"), wait=TIMEOUT_SECONDS):  # between two batches
        failing.down = False
    deliver(client, failing, "last")
    while client.lines():  # another process may be at it
        deliver(client, failing)
    assert failing.taken == ["prompt 0", "prompt 1", "last"]
    failing.down = True
    assert "memory is off" in client.run({**event("UserPromptSubmit", prompt="Go."), "text": "next"})


def test_a_huge_result_keeps_head_and_tail(client):
    output = "first " + "ä" * 10_000_000 + " last"
    client.run(event("PostToolUse", tool_name="Bash", tool_response={"stdout": output}))
    ((line,), (kept,)) = client.lines(), client.events()
    text = kept["tool_response"]["stdout"]
    assert len(text.encode()) <= 1 << 20
    assert (text[:6], text[-5:]) == ("first ", " last")
    assert "[20000011 bytes, cut]" in text
    assert len(line) < 8 << 20


def test_many_long_texts_are_cut_until_they_fit(client):
    client.run(event("PostToolUse", tool_response=["x" * 900_000] * 30))
    (line,) = client.lines()
    assert len(line) <= 4 << 20


@pytest.mark.slow
def test_very_many_parts_are_kept_as_the_head_and_tail_of_their_json(client):
    given = {"stdout": "ok", "files": [f"/a/long/path/of/a/file/{n}" for n in range(400_000)]}
    client.run(event("PostToolUse", tool_name="Glob", tool_use_id="g", tool_response=given))
    ((line,), (kept,)) = client.lines(), client.events()
    assert len(line) <= 4 << 20
    assert (kept["tool_name"], kept["tool_use_id"]) == ("Glob", "g")
    assert kept["tool_response"].startswith('{"stdout": "ok", "files": ["/a/long/path/of/a/file/0", ')
    assert kept["tool_response"].endswith('"/a/long/path/of/a/file/399999"]}')
    assert " bytes, cut] …" in kept["tool_response"]


def test_what_is_beyond_every_limit_is_left_out(client):
    assert client.run(b'{"a": "' + b"x" * (65 << 20) + b'"}') == ""
    assert client.lines() == []


def test_invalid_utf8_is_replaced_when_it_is_sent(client):
    client.run(b'{"hook_event_name": "Stop", "session_id": "s", "text": "a\xff\xc3b"}')
    (line,) = client.lines()
    assert b"\xff" in line
    assert json.loads(line.decode("utf-8", "replace"))["text"] == "a\ufffd\ufffdb"


def test_private_text_does_not_reach_the_disk(client):
    client.run(event("UserPromptSubmit", prompt="a <private>one</private> b <PRIVATE >two"))
    client.run(b'{"hook_event_name": "Stop", "session_id": "s", "text": "a \\u003cprivate\\u003ethree"}')
    client.run(b'{"broken": <private>four')
    stored = b"".join(client.lines())
    assert [word for word in (b"one", b"two", b"three", b"four") if word in stored] == []
    assert client.events()[0]["prompt"] == "a [private] b [private]"


def test_a_compaction_brings_what_was_said(client, tmp_path):
    def record(kind, *texts, **more):
        content = [{"type": "text", "text": text} for text in texts]
        content.append({"type": "tool_use", "id": "t", "name": "Bash", "input": {}})
        return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more})

    lines = [
        record("user", "asked"),
        record("assistant", "one", "two"),
        record("assistant"),
        record("assistant", "a subagent's", isSidechain=True),
        record("assistant", "API Error: 529", isApiErrorMessage=True),
        "{broken",
        '{"type": "assistant", "message": "odd"}',
        record("assistant", "three <private>four</private>"),
    ]
    path = tmp_path / "transcript.jsonl"
    path.write_text("\n".join(lines))
    client.run(event("PreCompact", transcript_path=str(path), trigger="auto"))
    client.run(event("PreCompact", transcript_path="/nowhere"))
    client.run(event("PreCompact", transcript_path=7))
    assert [kept["transcript"] for kept in client.events()] == [["one\ntwo", "three [private]"], [], []]


def test_two_at_once(client):
    running = [client.start() for _ in range(12)]
    for number, process in enumerate(running):
        given = event("Stop", text=f"{number} " + "x" * 200_000)
        del given["day1"]
        process.stdin.write(json.dumps(given).encode())
    for process in running:
        process.communicate(timeout=TIMEOUT_SECONDS)
    assert sorted(int(kept["text"].split()[0]) for kept in client.events()) == list(range(12))
    assert len({kept["day1"]["nonce"] for kept in client.events()}) == 12


def test_a_line_that_was_cut_off_does_not_spoil_the_next(client):
    client.run(event("Stop", text="one"))
    with (client.spool / "events.jsonl").open("ab") as file:
        file.write(b'{"half')
    client.run(event("Stop", text="two"))
    lines = client.lines()
    assert (len(lines), lines[1], json.loads(lines[2])["text"]) == (3, b'{"half', "two")


def test_the_spool_is_bounded(client, monkeypatch):
    """Drop the oldest, keep the newest, and cut none."""
    for module in (capture, delivery):
        monkeypatch.setattr(module, "MAX_SPOOL_BYTES", 20_000)
    monkeypatch.setattr(
        capture,
        "sender",
        lambda spool, _: delivery.Sender(
            spool, capture.Lock, capture.write_all, capture.read_text, 1.0, transcripts.Transcripts
        ),
    )
    spool = capture.Spool(str(client.config))
    for number in range(200):
        spool.append(json.dumps({"number": number, "text": "x" * 300}).encode() + b"\n")
    assert (client.spool / "events.jsonl").stat().st_size <= 20_000
    numbers = [kept["number"] for kept in client.events()]
    assert len(numbers) > 20
    assert numbers == list(range(200 - len(numbers), 200))
    assert int((client.spool / "dropped").read_text()) == 200 - len(numbers)  # as day1 doctor says
    assert count_dropped(client.spool) == 200 - len(numbers)


# ---- a server that fails ---------------------------------------------------------------------------


class Failing(BaseHTTPRequestHandler):
    """Handler that takes events, but fails at a word; at every event while ``down`` is set.

    It holds the response back until ``awake`` is set.
    """

    def do_POST(self) -> None:
        self.server.awake.wait(TIMEOUT_SECONDS)
        self.server.asked += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if body == b'{"text": "cut"}' and self.server.cuts:
            self.server.cuts -= 1
            return  # the connection breaks
        events, left = json.loads(body), self.server.writes_left
        is_spent = left is not None and len(as_list(events)) > left
        failed = self.server.down or self.server.full or self.server.status or is_spent or b"poison" in body
        if b"late" in body and self.server.stumbles:
            self.server.stumbles -= 1
            failed = True
        if not failed:
            self.server.taken += [one["text"] for one in as_list(events)]
            self.server.writes_left = left and left - len(as_list(events))
        refusal = b'{"code":"quota_exceeded"}' if self.server.full else b""
        refusal = b'{"data":{"limit_name":"daily_writes"}}' if is_spent else refusal
        left_out = [
            {"event": number, "reason": "no session"}
            for number, one in enumerate(as_list(events), 1)
            if one["text"] == "formless"
        ]
        if left_out and isinstance(events, list):
            named = left_out[: self.server.max_named]
            refusal = json.dumps({"left_out_count": len(left_out), "left_out": named}).encode()
        status = 403 if self.server.full else 429 if is_spent else 500 if failed else 200
        self.send_response(self.server.status or status)
        self.send_header("Content-Length", str(len(refusal)))
        if left_out:
            self.send_header("Day1-Left-Out", "no session")
        self.end_headers()
        self.wfile.write(refusal)

    def log_message(self, *_: object) -> None:
        """Suppress the log."""


def as_list(value):
    return value if isinstance(value, list) else [value]


@pytest.fixture
def failing():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.down, server.full, server.taken, server.asked = False, False, [], 0
    server.status = 0
    server.cuts, server.stumbles, server.max_named, server.writes_left = 0, 0, 100, None
    server.awake = threading.Event()
    server.awake.set()
    thread = start_serving(server)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def deliver(client, server, *texts):
    """Append events to the spool and send them, as the background process does."""
    client.config.write_text(json.dumps({"url": f"http://127.0.0.1:{server.server_port}", "key": "k"}))
    spool = capture.Spool(str(client.config))
    for text in texts:
        spool.append(json.dumps({"text": text}).encode() + b"\n")
    capture.sender(spool, 20.0).deliver()


def test_what_the_server_fails_at_does_not_block_what_follows(client, failing):
    deliver(client, failing, "one", "poison", "two")
    assert failing.taken == ["one", "two"]
    assert client.lines("refused.jsonl") == [b'{"text": "poison"}']
    assert client.lines() == []
    deliver(client, failing, "three")
    assert failing.taken == ["one", "two", "three"]


def test_what_the_server_leaves_out_for_its_form_is_set_aside(client, failing):
    deliver(client, failing, "one", "formless", "two")
    deliver(client, failing, "formless")
    assert client.lines("refused.jsonl") == [b'{"text": "formless"}'] * 2
    deliver(client, failing, "poison", "formless", "three")
    assert client.lines("refused.jsonl")[2:] == [b'{"text": "formless"}', b'{"text": "poison"}']
    assert client.lines() == []


def test_a_connection_that_breaks_after_what_was_left_out_loses_nothing(client, failing):
    failing.cuts = 2  # it is tried twice
    deliver(client, failing, "poison", "formless", "cut", "two")
    assert client.lines("refused.jsonl") == []
    assert client.lines()[2:] == [b'{"text": "cut"}', b'{"text": "two"}']
    deliver(client, failing)
    assert failing.taken[-2:] == ["cut", "two"]
    assert client.lines("refused.jsonl") == [b'{"text": "formless"}', b'{"text": "poison"}']
    assert client.lines() == []


def test_a_server_that_comes_back_in_the_middle_loses_nothing(client, failing):
    failing.stumbles = 2  # with the list, and with the event alone
    deliver(client, failing, "late", "two")
    assert sorted(failing.taken) == ["late", "two"]
    assert (client.lines(), client.lines("refused.jsonl")) == ([], [])


def test_what_an_answer_does_not_name_is_set_aside_too(client, failing):
    failing.max_named = 1
    deliver(client, failing, "formless", "one", "formless")
    assert client.lines("refused.jsonl") == [b'{"text": "formless"}'] * 2
    assert client.lines() == []


def test_alone_it_waits_until_another_shows_that_it_is_the_reason(client, failing):
    deliver(client, failing, "poison")
    assert (client.lines(), client.lines("refused.jsonl")) == ([b'{"text": "poison"}'], [])
    deliver(client, failing, "two")
    assert (client.lines(), failing.taken) == ([], ["two"])
    assert client.lines("refused.jsonl") == [b'{"text": "poison"}']


def test_a_full_project_is_left_alone_for_a_while_and_loses_nothing(client, failing):
    failing.full = True
    deliver(client, failing, "one")
    deliver(client, failing, "two")
    deliver(client, failing, "three")
    assert (failing.asked, len(client.lines()), client.lines("refused.jsonl")) == (1, 3, [])
    refusal = b'{"code":"quota_exceeded","answer":{"additional_context":"Known."}}'
    assert delivery.read_answer(403, refusal) == b'{"additional_context": "Known."}'
    assert [delivery.read_answer(403, body) for body in (b'{"code":"quota_exceeded"}', b"no")] == [b"", b""]
    failing.full = False
    deliver(client, failing, "four")
    assert failing.asked == 1
    then = time.time() - delivery.FULL_PAUSE - 1
    os.utime(client.spool / "full", (then, then))
    deliver(client, failing, "five")
    assert (failing.taken, client.lines()) == (["one", "two", "three", "four", "five"], [])


def test_more_than_a_day_allows_arrives_in_parts(client, failing):
    failing.writes_left = 2
    deliver(client, failing, "one", "two", "three")
    assert (failing.taken, client.lines("refused.jsonl")) == (["one", "two"], [])
    deliver(client, failing, "four")
    assert (failing.asked, len(client.lines())) == (4, 4)  # the list and three alone; then it is left alone
    assert delivery.read_answer(429, b'{"limit_name":"key_daily_writes","answer":{}}') == b"{}"
    assert delivery.read_answer(429, b'{"limit_name":"requests","answer":{}}') == b""
    failing.writes_left = None  # the next day; the server knows those that it took
    os.remove(client.spool / "full")
    deliver(client, failing)
    assert (failing.taken[2:], client.lines()) == (["one", "two", "three", "four"], [])


@pytest.mark.parametrize("status", [429, 503])
def test_a_request_too_many_waits_in_the_spool(client, failing, status):
    failing.status = status
    deliver(client, failing, "one")
    deliver(client, failing, "two")
    assert (failing.taken, len(client.lines()), client.lines("refused.jsonl")) == ([], 2, [])
    assert not (client.spool / "full").exists()
    failing.status = 0
    deliver(client, failing)
    assert (failing.taken, client.lines()) == (["one", "two"], [])


def test_a_server_that_fails_at_all_loses_nothing(client, failing):
    failing.down = True
    deliver(client, failing, "one", "two")
    assert client.lines("refused.jsonl") == []
    failing.down = False
    deliver(client, failing)
    assert (failing.taken, client.lines()) == (["one", "two"], [])


def test_what_is_set_aside_is_so_once_however_often_its_batch_is_sent(client, failing):
    failing.down = True
    deliver(client, failing, "one")
    with (client.spool / "events.jsonl").open("ab") as file:
        file.write(b'{"half\n')
    deliver(client, failing, "poison", "formless")
    deliver(client, failing)
    assert client.lines("broken.jsonl") == []
    failing.down = False
    deliver(client, failing)
    assert client.lines("broken.jsonl") == [b'{"half']
    assert client.lines("refused.jsonl") == [b'{"text": "formless"}', b'{"text": "poison"}']


def test_private_text_that_is_nested_deeply_does_not_reach_the_disk(client):
    deep = "[" * 500 + '"<private>one</private>"' + "]" * 500
    client.run(b'{"hook_event_name": "Stop", "session_id": "s", "tool_input": ' + deep.encode() + b"}")
    (line,) = client.lines()
    assert b"[private]" in line
    assert b"one" not in line


# ---- the project -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("https://github.com/acme/shop.git", "github.com/acme/shop"),
        ("https://me:token@GitHub.com/acme/shop", "github.com/acme/shop"),
        ("ssh://git@git.example.com:2222/acme/shop.git/", "git.example.com:2222/acme/shop"),
        ("/srv/git/shop.git", "/srv/git/shop.git"),
        ("", ""),
    ],
)
def test_the_address_of_a_remote(address, plain):
    assert capture.plain_address(address) == plain


def test_the_project_is_the_remote_else_the_root(tmp_path, monkeypatch):
    root, inner = tmp_path / "shop", tmp_path / "shop" / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(inner))
    assert capture.project_root() == str(inner)
    (root / ".git").mkdir()
    assert capture.project_root() == str(root)
    (root / ".git" / "config").write_text(
        '[remote "fork"]\n\turl = x:f/g\n[remote "origin"]\n\turl = git@h:a/b.git\n'
    )
    assert capture.project_root() == "h/a/b"
    (root / ".git" / "worktrees" / "w").mkdir(parents=True)
    (root / ".git" / "worktrees" / "w" / "commondir").write_text("../..\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {root}/.git/worktrees/w\n")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tree))
    assert capture.project_root() == "h/a/b"
    (root / ".git" / "config").write_text("")
    assert capture.project_root() == str(root)


def test_the_program_goes_on_while_an_event_is_sent(client, failing):
    failing.awake.clear()
    client.config.write_text(json.dumps({"url": f"http://127.0.0.1:{failing.server_port}", "key": "k"}))
    for text in ("one", "two", "three"):  # returns when nobody has the pipes open any more
        assert client.run(event("Stop", text=text)) == ""
    assert (failing.taken, len(client.events())) == ([], 3)
    failing.awake.set()
    wait_until(lambda: not client.lines())
    assert failing.taken == ["one", "two", "three"]  # the last without a further event


# ---- the command line ------------------------------------------------------------------------------


def test_the_command_that_is_printed_is_the_client(client, capsys):
    words = ["hook", "--print", "--client", "codex", "--config", str(client.config), "--format", "json"]
    assert main(words) == 0
    line = json.loads(capsys.readouterr().out)["command"]
    assert line[1:] == ["-I", "-S", str(CLIENT), "--client", "codex", "--config", str(client.config)]
    done = subprocess.run(line, input=b'{"hook_event_name": "Stop", "session_id": "s"}', capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert client.events()[0]["day1"]["client"] == "codex"


@pytest.mark.parametrize("has_own", [False, True])
def test_a_project_with_a_database_of_its_own_disturbs_no_hook(tmp_path, monkeypatch, capsys, has_own):
    own = tmp_path / "day1" / "hooks.json"
    own.parent.mkdir()
    if has_own:
        own.touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "postgres://app:secret@db/app")
    assert main(["hook", "--print", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["command"][-1], err) == (str(own), "")


def test_day1_hook_takes_an_event(client):
    words = [sys.executable, "manage.py", "day1", "hook", "--client", "codex", "--config", str(client.config)]
    done = subprocess.run(
        words,
        input=b'{"hook_event_name": "Stop", "session_id": "s"}',
        capture_output=True,
        cwd=ROOT,
        env=environment(),
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert [kept["session_id"] for kept in client.events()] == ["s"]
