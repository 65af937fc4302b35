"""Which parts of transcripts the hook client sends, and when."""

import json
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from day1site.hooks.client import capture, transcripts
from tests.http_doubles import start_serving
from tests.site.test_hook_client import Client, as_list
from tests.site.test_import_claude_code import Transcript as TranscriptOfDay
from tests.site.test_import_claude_code import call, result, text
from tests.site.test_transcript_gaps import event as event_of_day


class Server:
    """Server that keeps what it is sent, and answers to parts of transcripts with ``status``."""

    def __init__(self) -> None:
        taken: list[dict[str, Any]] = []
        self.taken, self.status, owner = taken, 200, self
        self.sizes: list[int] = []  # of the requests
        self.on_part: Callable[[], None] | None = None  # done while the first part is taken

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.sizes.append(int(self.headers["Content-Length"]))
                events = as_list(json.loads(self.rfile.read(owner.sizes[-1])))
                taken.extend(events)
                if "records" in events[0]:
                    action, owner.on_part = owner.on_part, None
                    if action:
                        action()
                self.send_response(owner.status if "records" in events[0] else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Suppress the log."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        start_serving(self.http)

    def parts(self) -> list[list[str]]:
        """Return the ids of the records of each part, and forget what came."""
        found = [[row["uuid"] for row in one["records"]] for one in self.taken if "records" in one]
        self.taken.clear()
        return found


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.http.shutdown()
    one.http.server_close()


@pytest.fixture
def client(tmp_path: Path, server: Server) -> Client:
    one = Client(tmp_path, f"http://127.0.0.1:{server.http.server_port}")
    return one


SAID_AT = "2026-10-05T09:"  # of the records of a transcript


def move_time(text: str, by: float) -> str:
    """Return a record's time so many seconds later."""
    later = datetime.fromisoformat(text).timestamp() + by
    return datetime.fromtimestamp(later, UTC).isoformat(timespec="milliseconds")[:23] + "Z"


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions begin a minute from now: the time of the config's last change cannot be set."""
    set_now(monkeypatch, 1)


def set_now(monkeypatch: pytest.MonkeyPatch, minutes: int) -> None:
    """Let sessions begin in so many minutes."""
    monkeypatch.setattr(
        f"{__name__}.SHIFT", time.time() + minutes * 60 - event_of_day("Stop", 0)["day1"]["at"]
    )


SHIFT = 0.0


def event(name: str, minute: int, **fields: Any) -> dict[str, Any]:
    one = event_of_day(name, minute, **fields)
    one["day1"]["at"] += SHIFT
    return one


class Transcript(TranscriptOfDay):
    """Transcript of a session that is held now."""

    def write(self, folder: Path, name: str = "") -> Path:
        for record in self.records:
            if record["timestamp"].startswith(SAID_AT):
                record["timestamp"] = move_time(record["timestamp"], SHIFT)
        return super().write(folder, name)


def deliver(client: Client, *events: dict[str, Any]) -> None:
    """Append events to the spool and send them, as the background process does."""
    spool = capture.Spool(str(client.config))
    for one in events:
        spool.append(json.dumps(one).encode() + b"\n")
    capture.sender(spool, 20.0).deliver()


def told(name: str, minute: int, file: Path, **fields: Any) -> dict[str, Any]:
    return event(name, minute, transcript_path=str(file), **fields)


def turn(transcript: Transcript, number: int) -> None:
    """Add a turn of four records."""
    transcript.user(f"u{number}", "Go on.").answer(f"a{number}", f"m{number}", call(f"t{number}"))
    transcript.user(f"r{number}", result(f"t{number}", "done"))
    transcript.answer(f"e{number}", f"n{number}", text("Done."))
    transcript.records[-1]["message"]["stop_reason"] = "end_turn"


def test_each_part_begins_where_the_one_before_ended(client: Client, server: Server, tmp_path: Path) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    deliver(client, told("SessionStart", 0, file, source="startup"), told("Stop", 3, file))
    assert server.parts() == [["u1", "a1", "r1", "e1"]]
    deliver(client, told("Stop", 3, file), told("PostToolUse", 3, file))
    assert server.parts() == []
    turn(transcript, 2)
    transcript.write(tmp_path)
    deliver(client, told("Stop", 7, file), told("SessionEnd", 8, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def test_an_open_turn_is_sent_again_from_its_prompt(client: Client, server: Server, tmp_path: Path) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    turn(transcript, 2)
    answer = transcript.records.pop()
    file = transcript.write(tmp_path)
    deliver(client, told("Stop", 7, file))  # the program wrote its answer a little later
    assert server.parts() == [["u1", "a1", "r1", "e1", "u2", "a2", "r2"]]
    transcript.records.append(answer)
    transcript.write(tmp_path)
    deliver(client, told("SessionEnd", 8, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def test_what_is_later_than_the_event_or_half_written_waits(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    turn(transcript, 2)
    file = transcript.write(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    deliver(client, told("Stop", 4, file))
    assert server.parts() == [["u1", "a1", "r1", "e1", "u2"]]
    deliver(client, told("Stop", 9, file))
    assert server.parts() == [["u2", "a2", "r2"]]
    file.write_bytes(whole)
    deliver(client, told("SessionEnd", 9, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def test_what_a_resumed_session_had_before_is_not_sent(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    turn(transcript, 2)
    file = transcript.write(tmp_path)
    deliver(client, told("SessionStart", 3, file, source="fork"), told("Stop", 9, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def held_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the transcript of a session of two turns; the second began after this moment."""
    set_now(monkeypatch, -4)
    transcript = Transcript()
    turn(transcript, 1)
    turn(transcript, 2)
    for record in transcript.records[4:]:
        record["timestamp"] = move_time(record["timestamp"], 60)
    for record in transcript.records:
        record["timestamp"] = move_time(record["timestamp"], SHIFT)
    return transcript.write(tmp_path)


def test_what_was_said_before_day1_was_turned_on_is_not_sent(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = held_before(tmp_path, monkeypatch)
    deliver(client, told("SessionStart", 0, file, source="startup"), told("Stop", 12, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def test_what_was_said_while_the_config_was_moved_aside_is_not_sent(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(client.config, (0, 0))
    aside = client.config.with_suffix(".aside")
    client.config.rename(aside).rename(client.config)
    file = held_before(tmp_path, monkeypatch)
    deliver(client, told("SessionStart", 0, file, source="startup"), told("Stop", 12, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


def test_without_a_config_the_spool_tells_when_day1_was_turned_on(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in json.loads(client.config.read_text()).items():
        monkeypatch.setenv(f"DAY1_{name.upper()}", value)
    client.config.unlink()
    file = held_before(tmp_path, monkeypatch)
    deliver(client, told("SessionStart", 0, file, source="startup"), told("Stop", 12, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]


@pytest.mark.parametrize("status", [400, 413, 500])
def test_a_part_that_the_server_refuses_is_not_sent_again(
    client: Client, server: Server, tmp_path: Path, status: int
) -> None:
    transcript, server.status = Transcript(), status
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    deliver(client, told("Stop", 3, file), told("SessionEnd", 4, file))
    assert server.parts() == [["u1", "a1", "r1", "e1"]]
    server.status = 200
    turn(transcript, 2)
    transcript.write(tmp_path)
    deliver(client, told("Stop", 9, file))
    assert server.parts() == [["u2", "a2", "r2", "e2"]]
    assert client.lines() == []
    note = {"transcript": str(file), "status": status}
    assert [json.loads(line) for line in client.lines("refused.jsonl")] == [note]


def test_a_part_that_the_server_cannot_take_now_is_sent_with_the_next_event(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript, server.status = Transcript(), 503
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    deliver(client, told("Stop", 3, file))
    server.status = 200
    server.taken.clear()
    deliver(client, told("PostToolUse", 3, file))
    assert server.parts() == [["u1", "a1", "r1", "e1"]]


def test_of_a_record_goes_what_is_read_and_nothing_private(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript = Transcript().user("u1", "My name is <private>Ada</private>.", requestId="q")
    thought = {"type": "thinking", "thinking": "Ada?", "signature": "x"}
    transcript.answer("a1", "m1", thought, text("Hello."))
    transcript.add("s1", "attachment", attachment={"content": "a file"})
    deliver(client, told("Stop", 3, transcript.write(tmp_path)))
    (part,) = [one for one in server.taken if "records" in one]
    assert (part["session_id"], part["day1"]["client"]) == (transcript.session, "claude-code")
    assert part["records"][0]["message"]["content"] == "My name is [private]."
    assert part["records"][1]["message"]["content"] == [text("Hello.")]
    assert "requestId" not in part["records"][0]
    assert "attachment" not in part["records"][2]


def test_a_list_of_transcripts_that_is_broken_begins_anew(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    client.spool.mkdir()
    for number, broken in enumerate(("", "[]", "{", '{"/a": 7}', '{"/a": {"offset": 1}}', "null")):
        (client.spool / "transcripts.json").write_text(broken)
        deliver(client, told("Stop", 3 + number, file))
        assert server.parts() == [["u1", "a1", "r1", "e1"]]
    assert (client.spool / "transcripts.json").stat().st_mode & 0o777 == 0o600


def test_subagents_whose_end_no_event_brought_stand_beside_their_session(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript, helper = Transcript(), Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    turn(helper, 7)
    helper.write(tmp_path / file.stem / "subagents", "agent-9c1")
    deliver(client, told("SessionEnd", 4, file))
    agents = [one["agent_id"] for one in server.taken if "records" in one]
    assert (agents, server.parts()) == (["", "9c1"], [["u1", "a1", "r1", "e1"], ["u7", "a7", "r7", "e7"]])
    ended = told("SubagentStop", 4, file, agent_id="9c1")
    ended["agent_transcript_path"] = str(tmp_path / file.stem / "subagents" / "agent-9c1.jsonl")
    deliver(client, ended, told("SessionEnd", 4, file))
    assert server.parts() == []


def test_a_session_that_was_cut_off_is_sent_with_its_subagents_when_the_next_begins_there(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript, helper = Transcript(), Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    turn(helper, 7)
    helper.write(tmp_path / file.stem / "subagents", "agent-9c1")
    deliver(client, told("PostToolUse", 2, file))
    elsewhere = told("SessionStart", 8, tmp_path / "elsewhere.jsonl", source="startup")
    elsewhere["day1"]["root"] = "github.com/acme/other"
    deliver(client, elsewhere)
    assert server.parts() == []
    deliver(client, told("SessionStart", 9, tmp_path / "next.jsonl", source="startup"))
    assert server.parts() == [["u1", "a1", "r1", "e1"], ["u7", "a7", "r7", "e7"]]
    deliver(client, told("SessionStart", 10, tmp_path / "third.jsonl", source="startup"))
    assert server.parts() == []


@pytest.mark.parametrize("client_name", ["cursor", "gemini", "agent"])
def test_transcripts_of_other_programs_are_left_alone(
    client: Client, server: Server, tmp_path: Path, client_name: str
) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    one = told("Stop", 3, transcript.write(tmp_path))
    one["day1"]["client"] = client_name
    deliver(client, one)
    assert (len(server.taken), server.parts()) == (1, [])


def test_the_oldest_transcripts_are_forgotten(client: Client, server: Server, tmp_path: Path) -> None:
    deliver(client, *(told("PostToolUse", 1, tmp_path / f"{number}.jsonl") for number in range(250)))
    assert len(json.loads((client.spool / "transcripts.json").read_text())) == 200


def test_many_words_of_another_script_are_sent_whole(client: Client, server: Server, tmp_path: Path) -> None:
    transcript, words = Transcript(), "請把付款移到新的資料庫，並且檢查每一個測試。" * 5
    for number in range(6000):
        transcript.user(f"u{number}", words)
        transcript.records[-1]["timestamp"] = move_time("2026-10-05T09:01:00.000Z", SHIFT)
    file = tmp_path / "long.jsonl"
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in transcript.records))
    deliver(client, told("Stop", 3, file))
    records = [row for one in server.taken if "records" in one for row in one["records"]]
    assert len(records) > 4000
    assert {row["message"]["content"] for row in records} == {words}


@pytest.mark.parametrize("program", ["claude-code", "codex"])
def test_a_part_that_is_too_long_becomes_several_events_of_whole_steps(
    client: Client, server: Server, tmp_path: Path, program: str
) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(b"".join(long_turn(program)))
    stop = told("Stop", 59, file)
    stop["day1"]["client"] = program
    deliver(client, stop)
    parts = [one["records"] for one in server.taken if "records" in one]
    assert len(parts) >= 3
    assert max(server.sizes) <= transcripts.MAX_PART_BYTES
    pairs = [[transcripts.find_calls(row, program == "codex") for row in part] for part in parts]
    calls = [[uid for called, _ in part for uid in sorted(called)] for part in pairs]
    assert calls == [[uid for _, done in part for uid in sorted(done)] for part in pairs]
    numbers = [[int(uid[1:]) for uid in part] for part in calls]
    assert numbers[0][0] == 0
    assert sorted({number for part in numbers for number in part}) == list(range(35))
    assert [part[0] for part in numbers[1:]] == [part[-1] for part in numbers[:-1]]


def long_turn(program: str) -> Iterator[bytes]:
    """Yield the lines of a turn whose results are bytes that are no text: JSON has three for each."""
    transcript = Transcript().user("u", "Read all.")
    codex: list[dict[str, Any]] = []
    for number in range(35):
        uid = f"t{number}"
        transcript.answer(f"a{number}", f"m{number}", call(uid)).user(f"r{number}", result(uid, "BYTES"))
        codex.append({"type": "function_call", "call_id": uid, "name": "x", "arguments": "{}"})
        codex.append({"type": "function_call_output", "call_id": uid, "output": "BYTES"})
    at = move_time("2026-10-05T09:01:00.000Z", SHIFT)
    rows = [{"type": "response_item", "timestamp": at, "payload": one} for one in codex]
    for record in transcript.records if program == "claude-code" else rows:
        line = json.dumps({**record, "timestamp": at}).encode()
        yield line.replace(b"BYTES", b"\xff" * 100_000) + b"\n"


def test_no_event_waits_for_a_part(client: Client, server: Server, tmp_path: Path) -> None:
    files = []
    for number in range(2):
        transcript = Transcript(f"s{number}")
        turn(transcript, number)
        files.append(transcript.write(tmp_path))
    answered: list[bool] = []

    def prompt() -> None:
        spool = capture.Spool(str(client.config))
        spool.append(json.dumps(told("PostToolUse", 4, files[0])).encode() + b"\n")
        with capture.Lock(spool.path("send.lock"), wait=0) as sending:
            answered.append(sending.is_acquired)

    server.on_part = prompt
    deliver(client, *(told("Stop", 3, file, session_id=f"s{n}") for n, file in enumerate(files)))
    assert answered == [True]
    assert ["records" in one for one in server.taken] == [False, False, True, False, True]


def test_events_that_came_during_a_part_that_failed_are_sent(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript, server.status = Transcript(), 503
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    late = json.dumps(told("PostToolUse", 4, file)).encode() + b"\n"
    server.on_part = lambda: capture.Spool(str(client.config)).append(late)
    deliver(client, told("Stop", 3, file))
    assert [one["hook_event_name"] for one in server.taken] == ["Stop", "Day1Transcript", "PostToolUse"]
    assert client.lines() == []


def test_a_turn_that_ends_while_its_transcript_is_sent_is_sent_after_it(
    client: Client, server: Server, tmp_path: Path
) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)

    def go_on() -> None:
        turn(transcript, 2)
        transcript.write(tmp_path)
        capture.Spool(str(client.config)).append(json.dumps(told("Stop", 9, file)).encode() + b"\n")

    server.on_part = go_on
    deliver(client, told("Stop", 3, file))
    assert server.parts() == [["u1", "a1", "r1", "e1"], ["u2", "a2", "r2", "e2"]]


def test_one_process_sends_so_much_of_transcripts_and_no_more(
    client: Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture.load_sibling("delivery"), "MAX_PARTS_BYTES", 1000, raising=False)
    files = []
    for number in range(3):
        transcript = Transcript(f"s{number}")
        turn(transcript, number)
        files.append(transcript.write(tmp_path))
    deliver(client, *(told("Stop", 3, file, session_id=f"s{n}") for n, file in enumerate(files)))
    assert [part[0] for part in server.parts()] == ["u0"]
    deliver(client, told("PostToolUse", 4, files[0], session_id="s0"))
    assert [part[0] for part in server.parts()] == ["u1"]


def write_now(transcript: Transcript, folder: Path, name: str = "") -> Path:
    """Write a transcript all of which is said now."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    for record in transcript.records:
        record["timestamp"] = now
    return transcript.write(folder, name)


def end_now(client: Client, file: Path) -> None:
    end = told("SessionEnd", 4, file)
    end["day1"]["at"] = time.time()
    deliver(client, end)


def test_of_very_many_subagents_each_is_sent_once(client: Client, server: Server, tmp_path: Path) -> None:
    turn(transcript := Transcript(), 1)
    file = write_now(transcript, tmp_path)
    for number in range(250):
        turn(helper := Transcript(), number)
        write_now(helper, tmp_path / file.stem / "subagents", f"agent-{number}")
    end_now(client, file)
    first = [part[0] for part in server.parts()]
    assert (first[0], len(first), len(set(first[1:]))) == ("u1", 200, 199)
    end_now(client, file)
    assert server.parts() == []
    turn(helper := Transcript(), 300)
    write_now(helper, tmp_path / file.stem / "subagents", "agent-300")
    end_now(client, file)
    assert [part[0] for part in server.parts()] == ["u300"]


def test_a_session_that_goes_on_is_not_forgotten(client: Client, server: Server, tmp_path: Path) -> None:
    transcript = Transcript()
    turn(transcript, 1)
    file = transcript.write(tmp_path)
    deliver(client, told("Stop", 3, file))
    assert len(server.parts()) == 1
    for begin in range(0, 400, 100):
        others = (told("PostToolUse", 3, tmp_path / f"{begin + n}.jsonl") for n in range(100))
        deliver(client, *others, told("PostToolUse", 4, file, agent_id="a1"))
    deliver(client, told("Stop", 5, file))
    assert server.parts() == []
