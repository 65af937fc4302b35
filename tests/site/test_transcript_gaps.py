"""What a program wrote of a session and no event brought: added in its place, once."""

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.models import Observation, Project, Session
from tests.memory.api.client import api_for, refused
from tests.site.hook_events import HOOK, learn, messages
from tests.site.test_import_claude_code import KEY, Transcript, call, result, text

pytestmark = pytest.mark.django_db(transaction=True)
SESSION = Transcript().session
QUESTION = "The till needs window functions. Which database do you want?"
SHELL = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}


def talk() -> Transcript:
    """Return two turns: a failure that is put right, and an answer to a question."""
    return (
        Transcript()
        .user("u1", "Why is the till's total wrong?", promptId="p1")
        .answer("a1", "m1", text("I look at the tests."))
        .answer("a2", "m1", call("t1", command="pytest -q"))
        .user("r1", result("t1", "Exit code 1\nE   AssertionError", is_error=True), promptId="p1")
        .answer("a3", "m2", call("t2", command="pytest -q"))
        .user("r2", result("t2", "4 passed"), toolUseResult={"stdout": "4 passed"}, promptId="p1")
        .answer("a4", "m3", text("Cents were floats."))
        .user("u2", "Plan the migration.", promptId="p2")
        .answer("a5", "m4", text(QUESTION))
        .user("u3", "Postgres 16 then", promptId="p3")
        .answer("a6", "m5", text("Noted."))
    )


SAID = [
    ("user", "Why is the till's total wrong?"),
    ("tool_result", "Exit code 1\nE   AssertionError"),
    ("tool_result", "4 passed"),
    ("assistant", "Cents were floats."),
    ("user", "Plan the migration."),
    ("assistant", QUESTION),
    ("user", "Postgres 16 then"),
    ("assistant", "Noted."),
]


def event(name: str, minute: int, **fields: Any) -> dict[str, Any]:
    at = datetime(2026, 10, 5, 9, minute, 1, tzinfo=UTC).timestamp()
    own = {"client": "claude-code", "root": "github.com/acme/till", "at": at}
    return {"session_id": SESSION, "cwd": "/srv/till", "hook_event_name": name, "day1": own, **fields}


def live() -> list[dict[str, Any]]:
    """Return the events of the talk, one for each word of it, after the start of the session."""
    return [
        event("UserPromptSubmit", 0, prompt=SAID[0][1], prompt_id="p1"),
        event("PostToolUseFailure", 3, tool_use_id="t1", error=SAID[1][1], prompt_id="p1", **SHELL),
        event(
            "PostToolUse", 5, tool_use_id="t2", tool_response={"stdout": "4 passed"}, prompt_id="p1", **SHELL
        ),
        event("Stop", 6, last_assistant_message=SAID[3][1], prompt_id="p1"),
        event("UserPromptSubmit", 7, prompt=SAID[4][1], prompt_id="p2"),
        event("Stop", 8, last_assistant_message=SAID[5][1], prompt_id="p2"),
        event("UserPromptSubmit", 9, prompt=SAID[6][1], prompt_id="p3"),
        event("Stop", 10, last_assistant_message=SAID[7][1], prompt_id="p3"),
    ]


def written(transcript: Transcript, session: str = SESSION, **fields: Any) -> dict[str, Any]:
    """Return the event with which the hook client sends a transcript."""
    return event("Day1Transcript", 59, records=transcript.records, **fields) | {"session_id": session}


def send(api: Any, *events: dict[str, Any]) -> str:
    answer = api.post(f"{HOOK}?client=claude-code", list(events))
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def listed(api: Any, session: str = SESSION) -> list[tuple[int, str, str]]:
    """Return number, role and text of a session's messages, as its conversations list them."""
    talks = api.get(f"/conversations?session_id={session}").json()["results"][::-1]
    found = [
        row for one in talks for row in api.get(f"/conversations/{one['id']}/messages").json()["results"]
    ]
    return [(row["sequence_num"], row["role"], row["content"]) for row in found]


def said(api: Any) -> list[tuple[str, str]]:
    return [(role, content) for _, role, content in listed(api)]


def outcomes(api: Any) -> list[tuple[str, str]]:
    rows = api.get(f"/observations?session_id={SESSION}").json()["results"][::-1]
    return [(row["outcome"], row["observation_type"]) for row in rows]


@pytest.mark.parametrize(
    "missing", [*([n] for n in range(8)), [0, 1], [2, 3, 4], [3, 5], [6, 7], [*range(8)]]
)
def test_what_no_event_brought_is_added_in_its_place_once(api: Any, missing: list[int]) -> None:
    events = [one for number, one in enumerate(live()) if number not in missing]
    send(api, event("SessionStart", 0, source="startup"), *events)
    send(api, written(talk()))
    assert said(api) == SAID
    assert [number for number, _, _ in listed(api)] == list(range(1, 9))
    assert sorted(Message.objects.all_versions().values_list("uid", flat=True).distinct()) == [
        row.uid for row in sorted(visible(), key=lambda row: row.sequence_num)
    ]
    assert outcomes(api)[0] == ("error", "error")
    commits = len(api.get("/branches/main/log").json()["results"])
    send(api, written(talk()), event("SessionEnd", 11), written(talk()))
    assert said(api) == SAID
    assert len(outcomes(api)) == 2
    assert len(api.get("/branches/main/log").json()["results"]) == commits + 1  # the end of the session


def visible() -> list[Message]:
    branch = Session.objects.get().branch
    return list(Message.objects.on(branch).fetch_all())


def test_nothing_is_added_to_a_session_without_gaps(api: Any) -> None:
    send(api, event("SessionStart", 0, source="startup"), *live())
    before = (listed(api), outcomes(api), api.get("/branches/main/log").json()["results"])
    send(api, written(talk()))
    assert (listed(api), outcomes(api), api.get("/branches/main/log").json()["results"]) == before
    assert said(api) == SAID


@pytest.mark.usefixtures("learning")
def test_a_gap_that_is_filled_after_the_end_is_learned_from(api: Any) -> None:
    spoken = Transcript().user("u1", "We use Postgres 16 for the till; never SQLite.", promptId="p1")
    spoken.answer("a1", "m1", text("Understood."))
    send(api, event("SessionStart", 0, source="startup"), event("SessionEnd", 2))
    assert api.get(f"/sessions/{SESSION}").json()["summary"] == ""
    send(api, written(spoken))
    session = api.get(f"/sessions/{SESSION}").json()
    assert session["status"] == "completed"
    assert session["summary"] == (
        "Asked: We use Postgres 16 for the till; never SQLite. Last answer: Understood."
    )
    assert learn(SESSION) == 1
    assert Conversation.objects.all_versions().values_list("uid").distinct().count() == 1


@pytest.mark.usefixtures("learning")
def test_an_answer_to_a_question_that_was_missed_is_understood(api: Any) -> None:
    events = live()
    del events[5]  # the question
    send(api, event("SessionStart", 0, source="startup"), *events)
    send(api, written(talk()), event("SessionEnd", 11))
    learn(SESSION)
    facts = [fact["fact_text"] for fact in api.get("/facts").json()["results"]]
    assert "Postgres 16 then (to: The till needs window functions. Which database do you want?)" in facts


def test_the_same_words_said_again_are_not_taken_for_the_first(api: Any) -> None:
    again = Transcript()
    for number in range(3):
        again.user(f"u{number}", "Go on.", promptId=f"p{number}")
        again.answer(f"a{number}", f"m{number}", text("Done."))
    send(api, event("UserPromptSubmit", 0, prompt="Go on.", prompt_id="p0"))
    send(api, event("UserPromptSubmit", 4, prompt="Go on.", prompt_id="p2"))
    again.records = again.records[2:]  # the part that is new
    send(api, written(again))
    assert said(api) == [("user", "Go on."), ("user", "Go on."), ("assistant", "Done.")] * 1 + [
        ("user", "Go on."),
        ("assistant", "Done."),
    ]


def test_secrets_and_private_parts_are_taken_out(api: Any) -> None:
    spoken = Transcript().user("u1", f"The token is {KEY}, the code <private>4711</private>.")
    spoken.answer("a1", "m1", call("t1", command=f"curl -H 'token: {KEY}'"))
    spoken.user("r1", result("t1", f"token={KEY}")).answer("a2", "m2", text(f"I used {KEY}."))
    send(api, written(spoken))
    stored = json.dumps([list(listed(api)), api.get("/observations").json()])
    assert len(listed(api)) == 3
    assert "redacted" in stored
    assert KEY not in stored
    assert "4711" not in stored


def test_a_forks_copies_and_other_sessions_stay_out(api: Any) -> None:
    spoken = talk()
    for record in spoken.records[:7]:
        record["forkedFrom"] = {"sessionId": "other", "messageUuid": record["uuid"]}
    spoken.records[7]["sessionId"] = "another"
    send(api, written(spoken))
    assert said(api) == SAID[5:]


def test_a_subagents_transcript_is_its_own(api: Any) -> None:
    send(api, event("SubagentStart", 0, agent_id="9c1", agent_type="Explore"))
    spoken = Transcript().user("s1", "Find it.", isSidechain=True, agentId="9c1")
    spoken.answer("s2", "m1", call("t1", command="ls"), isSidechain=True, agentId="9c1")
    spoken.user("s3", result("t1", "till.py"), isSidechain=True, agentId="9c1")
    spoken.answer("s4", "m2", text("It is in till.py."), isSidechain=True, agentId="9c1")
    send(api, written(spoken, agent_id="9c1"), written(spoken, agent_id="9c1"))
    assert said(api) == [("tool_result", "till.py"), ("assistant", "It is in till.py.")]
    assert {row.agent_id for row in visible()} == {"claude-code/9c1"}
    send(api, event("SessionEnd", 5))
    assert api.get(f"/sessions/{SESSION}").json()["summary"] == ""  # its own agent said nothing


def test_a_text_before_a_call_that_is_not_written_yet_is_no_answer(api: Any) -> None:
    spoken = Transcript().user("u1", "Go.")
    spoken.answer("a1", "m1", text("I write the file."))
    spoken.records[-1]["message"]["stop_reason"] = "tool_use"
    send(api, written(spoken))
    assert said(api) == [("user", "Go.")]


VALUES: list[Any] = [
    None,
    7,
    "x",
    [],
    {},
    [{}],
    [7],
    {"type": "text"},
    {"content": [{"type": 7}]},
    True,
    -1e9,
    "\x00",
]


def odd_item(chance: random.Random) -> dict[str, Any]:
    kinds = ["message", "function_call", "function_call_output", "item_completed"]
    payload = {
        name: chance.choice(VALUES)
        for name in ("item", "content", "call_id", "arguments", "output", "source")
    }
    payload |= {"type": chance.choice([*VALUES, *kinds]), "role": chance.choice(["user", "assistant", 7])}
    kind = chance.choice([*VALUES, "event_msg", "response_item", "session_meta", "turn_context"])
    return {"type": kind, "payload": payload, "timestamp": chance.choice([*VALUES, "2026-10-05T09:00:00Z"])}


def test_a_key_that_may_not_write_there_adds_nothing(api: Any, project: Project, actor: Actor) -> None:
    send(api, event("SessionStart", 0, source="startup"), live()[0])
    BranchManager().create_branch(name="task/x", actor=actor)
    reader = api_for(project, scopes=["read"], label="reader")
    refused(reader.post(f"{HOOK}?client=claude-code", [written(talk())]), 403, "scope_missing")
    other = api_for(project, scopes=["write"], branch_patterns=["task/*"], label="other")
    refused(other.post(f"{HOOK}?branch=task/x", [written(talk())]), 403, "branch_forbidden")
    assert said(api) == SAID[:1]
    assert len(visible()) == 1


@pytest.mark.parametrize("client", ["cursor", "gemini", "agent"])
def test_transcripts_of_other_programs_are_ignored(api: Any, client: str) -> None:
    one = written(talk())
    one["day1"]["client"] = client
    send(api, one)
    assert not Session.objects.exists()


def test_nonsense_in_a_transcript_is_ignored(api: Any) -> None:
    chance = random.Random(5)
    names = "uuid type message timestamp parentUuid toolUseResult promptId sessionId".split()
    for _ in range(60):
        spoken = talk()
        for record in spoken.records:
            target = record if chance.random() < 0.5 else record.get("message", record)
            target[chance.choice([*names, "content", "id", "model"])] = chance.choice(VALUES)
        send(api, written(spoken, session="odd"))
        one = written(spoken, session="odd codex") | {"records": [odd_item(chance) for _ in range(8)]}
        one["day1"]["client"] = "codex"
        send(api, one, one | {"records": "none"}, one | {"records": [7, None, "x"]})


# ---- Codex -----------------------------------------------------------------------------------------


def item(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-10-05T09:00:{second:02}.000Z", "type": kind, "payload": payload}


def ran(second: int, uid: str, command: str, code: int, output: str = "") -> dict[str, Any]:
    done = {"type": "CommandExecution", "id": uid, "command": ["/bin/bash", "-lc", command]}
    done |= {"exit_code": code, "aggregated_output": output, "status": "completed" if code == 0 else "failed"}
    return item(second, "event_msg", type="item_completed", turn_id="p1", item=done)


def codex_event(name: str, second: int, **fields: Any) -> dict[str, Any]:
    one = event(name, 0, **fields)
    one["day1"] |= {"client": "codex", "at": datetime(2026, 10, 5, 9, 0, second, tzinfo=UTC).timestamp()}
    return one


def codex_call(second: int, uid: str, command: str, output: str) -> dict[str, Any]:
    called = {"tool_name": "Bash", "tool_input": {"command": command}, "turn_id": "p1"}
    return codex_event("PostToolUse", second, tool_use_id=uid, tool_response=output, **called)


def test_a_failure_that_only_the_rollout_tells_is_known_after_the_turn(api: Any) -> None:
    send(
        api,
        codex_call(1, "exec-1", "make", ""),
        codex_call(2, "exec-2", "make", ""),
        codex_call(3, "exec-3", "make", "built"),
        codex_event("Stop", 4, last_assistant_message="Built.", turn_id="p1"),
    )
    assert outcomes(api) == [("success", "tool_use")] * 3
    rollout = [ran(1, "exec-1", "make", 2), ran(2, "exec-2", "make", 1), ran(3, "exec-3", "make", 0, "built")]
    rollout.append(item(4, "event_msg", type="agent_message", message="Built."))
    one = codex_event("Day1Transcript", 5, records=rollout)
    send(api, one)
    assert outcomes(api) == [("error", "error"), ("error", "error"), ("success", "discovery")]
    seen = sorted(open_observations(), key=lambda row: row.uid)
    assert seen[2].parent_id == seen[1].uid
    send(api, one)
    assert outcomes(api) == [("error", "error"), ("error", "error"), ("success", "discovery")]
    assert len(messages()) == 4


def open_observations() -> list[Observation]:
    return list(Observation.objects.on(Session.objects.get().branch).fetch_all())


@pytest.mark.slow
def test_more_than_a_commit_holds_is_there_in_order(api: Any) -> None:
    spoken = Transcript().user("u", "Go.", promptId="p")
    for number in range(1010):
        spoken.answer(f"a{number}", f"m{number}", call(f"t{number}", command=f"make {number}"))
        spoken.user(f"r{number}", result(f"t{number}", f"made {number}"))
    for record in spoken.records:
        record["timestamp"] = "2026-10-05T09:00:00.000Z"
    send(api, written(spoken), written(spoken))
    rows = sorted(visible(), key=lambda row: row.sequence_num)
    assert [row.content for row in rows] == ["Go.", *(f"made {number}" for number in range(1010))]
    assert rows == sorted(rows, key=lambda row: row.uid)
    assert len(open_observations()) == 1010


def test_what_was_deleted_is_not_brought_again(api: Any) -> None:
    send(api, event("SessionStart", 0, source="startup"), *live()[:6])
    (talk_id,) = [row["id"] for row in api.get(f"/conversations?session_id={SESSION}").json()["results"]]
    rows = api.get(f"/conversations/{talk_id}/messages").json()["results"]
    for place in (1, 3):
        assert api.delete(f"/messages/{rows[place]['id']}").status_code == 204
    send(api, *live()[:6], written(talk()))
    left = [one for place, one in enumerate(SAID) if place not in (1, 3)]
    assert said(api) == left
    assert len(outcomes(api)) == 1
    send(api, written(talk()))
    assert said(api) == left

    assert api.delete(f"/conversations/{talk_id}").status_code == 204
    later = talk().user("u4", "Which port?", promptId="p4").answer("a7", "m6", text("5433."))
    send(api, *live()[:6], written(later))
    assert said(api) == [("user", "Which port?"), ("assistant", "5433.")]

    assert api.delete(f"/sessions/{SESSION}").status_code == 204
    send(api, *live()[:6], written(later), event("SessionEnd", 30, reason="exit"))
    send(api, event("SessionStart", 31, source="resume"), event("UserPromptSubmit", 32, prompt="Again?"))
    assert (said(api), outcomes(api)) == ([], [])
    refused(api.get(f"/sessions/{SESSION}"), 404, "not_found")
