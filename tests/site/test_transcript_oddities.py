"""Transcripts that are unusual or hostile: every part of them that can be stored is, and nothing else."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.capture.engine import IngestEngine
from memory.actors import Actor
from memory.models import Project
from tests.site.test_import_claude_code import KEY, Transcript, call, result, text
from tests.site.test_transcript_gaps import (
    SAID,
    SESSION,
    SHELL,
    codex_event,
    event,
    item,
    listed,
    live,
    open_observations,
    outcomes,
    ran,
    said,
    send,
    talk,
    written,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_gaps_in_two_conversations_of_a_session_are_filled_in_each(api: Any) -> None:
    events = live()
    first, second = [events[0], *events[2:4]], [events[4], *events[6:]]
    send(api, event("SessionStart", 0, source="startup"), *first, event("SessionEnd", 6))
    send(api, event("SessionStart", 7, source="resume"), *second)
    send(api, written(talk()))
    assert said(api) == SAID
    assert [number for number, _, _ in listed(api)] == [1, 2, 3, 4] * 2
    send(api, written(talk()))
    assert said(api) == SAID


def test_lines_of_an_answer_that_are_repeated_count_once(api: Any) -> None:
    lines = ["Cents were floats.\n\nThey are integers now.", "The tests pass."]
    spoken = Transcript().user("u1", "Why?")
    for number in range(600):
        spoken.answer(f"a{number}", "m1", text(lines[number % 2]))
    send(api, written(spoken))
    assert said(api) == [("user", "Why?"), ("assistant", "\n\n".join(lines))]


@pytest.mark.parametrize("odd", [["t9"], {"id": "t9"}, None, True])
def test_ids_that_are_no_text_leave_the_rest_of_a_part(api: Any, odd: Any) -> None:
    spoken = talk()
    spoken.answer("a9", "m9", {**call("t9", command="ls"), "id": odd})
    spoken.user("r9", [{**result("t9", "till.py")[0], "tool_use_id": odd}])
    spoken.answer("a10", "m10", text("It is there."))
    send(api, written(spoken), written(spoken))
    assert said(api) == [*SAID, ("assistant", "It is there.")]


def test_what_says_nothing_for_its_form_is_named(api: Any) -> None:
    odd = [None, {"hook_event_name": 42}, {"hook_event_name": "Stop"}, {"hook_event_name": "Later"}]
    spoken = written(talk())
    spoken["records"] += [42, {"type": "user", "uuid": "x", "message": None}]
    left_out = [
        {"event": 1, "reason": "is null, not an event"},
        {"event": 2, "reason": "has no name of an event"},
        {"event": 3, "reason": "has no session"},
    ]
    records = [
        {"record": len(spoken["records"]) - 1, "reason": "is a number, not an object"},
        {"record": len(spoken["records"]), "reason": "its message is null, not an object"},
    ]
    answer = api.post("/ingest/hook", [*odd, spoken])
    expected = [*left_out, *({"event": 5, **one} for one in records)]
    assert (answer.json(), answer["Day1-Left-Out"]) == (
        {"left_out_count": 5, "left_out": expected},
        "is null, not an event",
    )
    assert said(api) == SAID
    assert api.post("/ingest/hook", spoken).json()["left_out"] == [{"event": 1, **one} for one in records]
    alone = api.post("/ingest/hook", odd[2])
    assert (alone.content, alone["Day1-Left-Out"]) == (b"", "has no session")
    assert "Day1-Left-Out" not in api.post("/ingest/hook", odd[3])


@pytest.mark.parametrize("odd", [["t9"], {"id": "t9"}])
def test_ids_in_a_rollout_that_are_no_text_leave_the_rest_of_a_part(api: Any, odd: Any) -> None:
    rollout = [item(1, "event_msg", type="user_message", message="Go."), ran(2, odd, "ls", 0, "till.py")]
    rollout.append(item(3, "response_item", type="function_call_output", call_id=odd, output="till.py"))
    rollout.append(item(4, "event_msg", type="agent_message", message="Done."))
    one = codex_event("Day1Transcript", 5, records=rollout)
    send(api, one, one)
    assert [one for one in said(api) if one[0] != "tool_result"] == [("user", "Go."), ("assistant", "Done.")]


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"source_id": {"a": 1}}},
        {"metadata": {"prompt_id": ["p1"]}},
        {"role": "tool_result", "tool_calls": [{"id": {"a": 1}, "name": "Bash"}]},
    ],
)
def test_stored_ids_that_are_no_text_are_no_obstacle(api: Any, fields: dict[str, Any]) -> None:
    send(api, live()[0])
    uid = api.get(f"/conversations?session_id={SESSION}").json()["results"][0]["id"]
    odd = {"role": "assistant", "content": "A note.", **fields}
    assert api.post(f"/conversations/{uid}/messages", odd).status_code == 201
    send(api, written(talk()))
    assert sorted(said(api)) == sorted([*SAID, (odd["role"], "A note.")])


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00+23:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:00", -62135596800]
)
def test_times_that_no_session_had_are_left_out(api: Any, time: Any) -> None:
    spoken = talk()
    spoken.records[0]["timestamp"] = spoken.records[5]["timestamp"] = time
    send(api, written(spoken), written(spoken))
    assert said(api) == SAID


def test_a_clock_that_is_ahead_adds_nothing_twice(api: Any) -> None:
    spoken = talk()
    for record in spoken.records:
        record["timestamp"] = "2199-10-05T09:00:00Z"
    send(api, written(spoken), written(spoken))
    assert said(api) == SAID


def test_the_name_of_a_model_may_hold_what_no_database_stores(api: Any) -> None:
    spoken = talk()
    for record in spoken.records:
        record["message"]["model"] = "claude\x00\ud800"
    send(api, written(spoken))
    assert said(api) == SAID


NAMED_SECRET = {"data": {"token": "hunter2x", "total": 7}}


@pytest.mark.parametrize("kept", [False, True])
def test_a_secret_is_known_by_its_name_in_a_tools_output(api: Any, project: Project, kept: bool) -> None:
    Project.objects.filter(pk=project.pk).update(redact_secrets=not kept)
    spoken = Transcript().user("u1", "Go.").answer("a1", "m1", call("t1", "Web"), call("t2", "Web"))
    spoken.user("r1", result("t1", "done"), toolUseResult=NAMED_SECRET)
    spoken.user("r2", result("t2", json.dumps(NAMED_SECRET)))
    send(api, written(spoken))
    assert [("hunter2x" in content, "7" in content) for _, content in said(api)[1:]] == [(kept, True)] * 2


@pytest.mark.parametrize("kept", [False, True])
def test_a_secret_is_known_by_its_name_in_a_rollout(api: Any, project: Project, kept: bool) -> None:
    Project.objects.filter(pk=project.pk).update(redact_secrets=not kept)
    done = {"type": "McpToolCall", "id": "c1", "server": "s", "tool": "t", "result": NAMED_SECRET}
    rollout = [ran(2, "c2", "curl x", 0, json.dumps(NAMED_SECRET))]
    rollout.append(item(3, "event_msg", type="item_completed", item=done))
    for number, output in enumerate((NAMED_SECRET, f"Output:\n{json.dumps(NAMED_SECRET)}")):
        rollout.append(item(4, "response_item", type="function_call", call_id=f"f{number}", name="x"))
        rollout.append(
            item(5, "response_item", type="function_call_output", call_id=f"f{number}", output=output)
        )
    send(api, codex_event("Day1Transcript", 9, records=rollout))
    assert [("hunter2x" in content, "7" in content) for _, content in said(api)] == [(kept, True)] * 4


@pytest.mark.parametrize("uid", ["t" * 250, f"call {KEY}", " t1 ", "<private>t1</private>", ""])
def test_a_call_with_an_unusual_id_is_there_once(api: Any, uid: str) -> None:
    done = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "till.py"}}
    if uid:
        send(api, event("PostToolUse", 1, tool_use_id=uid, **done))
    spoken = Transcript().user("u1", "Go.").answer("a1", "m1", call(uid, command="ls"))
    spoken.user("r1", result(uid, "till.py"))
    send(api, written(spoken), written(spoken))
    assert said(api) == [("user", "Go."), ("tool_result", "till.py")][: 2 if uid else 1]


def test_a_call_of_a_rollout_without_an_id_is_left_out(api: Any) -> None:
    rollout = [item(1, "event_msg", type="user_message", message="Go."), ran(2, "", "ls", 0, "till.py")]
    one = codex_event("Day1Transcript", 5, records=rollout)
    send(api, one, one)
    assert said(api) == [("user", "Go.")]


def test_a_late_success_repairs_no_failure_that_came_after_it(api: Any) -> None:
    events = live()
    failed = event("PostToolUseFailure", 5, tool_use_id="t2", error="Exit code 1", prompt_id="p1", **SHELL)
    send(api, events[0], failed, events[3])
    spoken = talk()
    spoken.records[3]["message"]["content"] = result("t1", "4 passed")
    spoken.records[5]["message"]["content"] = result("t2", "Exit code 1", is_error=True)
    send(api, written(spoken))
    assert outcomes(api) == [("success", "tool_use"), ("error", "error")]


def test_a_late_failure_makes_the_success_after_it_a_discovery(api: Any) -> None:
    events = live()
    send(api, events[0], *events[2:])
    assert outcomes(api) == [("success", "tool_use")]
    send(api, written(talk()))
    assert outcomes(api) == [("error", "error"), ("success", "discovery")]
    failed, worked = sorted(open_observations(), key=lambda row: row.uid)
    assert worked.parent_id == failed.uid


def test_a_late_failure_before_another_call_repairs_nothing_else(api: Any) -> None:
    other = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "till.py"}}
    send(api, live()[0], event("PostToolUse", 5, tool_use_id="t7", prompt_id="p1", **other))
    send(api, written(talk()))
    assert sorted(outcomes(api)) == [("error", "error"), ("success", "discovery"), ("success", "tool_use")]


@pytest.mark.parametrize("agent", ["planner", "claude-code"])
def test_a_session_that_another_agent_began_has_a_summary(api: Any, agent: str) -> None:
    assert api.post("/sessions", {"session_id": SESSION, "agent_id": agent}).status_code == 201
    send(api, *live(), event("SessionEnd", 11))
    assert api.get(f"/sessions/{SESSION}").json()["summary"] == (
        "Asked: Why is the till's total wrong? Last answer: Noted."
    )


def count_transactions(actor: Actor, one: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as queries:
        IngestEngine().ingest(events=[one], actor=actor)
    return sum(query["sql"].startswith("BEGIN") for query in queries)


def test_only_gaps_wait_for_other_writers(api: Any, actor: Actor) -> None:
    empty = talk().answer("a7", "m7", text("No response requested."))
    assert count_transactions(actor, written(empty)) == 1
    assert said(api) == SAID
    assert count_transactions(actor, written(empty)) == 0
    assert said(api) == SAID


@pytest.mark.slow
def test_each_batch_of_gaps_is_a_transaction_of_its_own(actor: Actor) -> None:
    spoken = Transcript()
    for number in range(1010):
        spoken.user(f"u{number}", f"Question {number}", timestamp="2026-10-05T09:00:00.000Z")
    assert count_transactions(actor, written(spoken)) >= 3  # one more takes ids
    assert count_transactions(actor, written(spoken)) == 0
