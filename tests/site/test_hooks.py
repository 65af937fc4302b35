"""POST /ingest/hook: rows made of the programs' events, and refusals."""

import json

import pytest

from conversations.models import Conversation, Message
from memory.models import Commit, Observation, Session
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.site.hook_events import HOOK, ROOT, bash, event, first_session, messages, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]


# ---- rows of events --------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False])
def test_a_session(api, together):
    events = first_session()
    answers = [send(api, *events)] if together else [send(api, one) for one in events]
    assert set(answers) == {""}
    asked = events[1]["prompt"]
    assert messages() == [
        (1, "user", asked),
        (2, "tool_result", events[2]["error"]),
        (3, "tool_result", f'{{"filePath":"{ROOT}/auth/hashing.py","success":true}}'),
        (4, "tool_result", "2 passed in 0.31s"),
        (5, "assistant", "Logins work again; the tests pass."),
    ]
    session = Session.objects.get()
    assert (session.key, session.status, session.agent_id) == ("s1", "completed", "claude-code")
    assert session.project_path == "github.com/acme/shop"
    assert session.summary == f"Asked: {asked} Last answer: Logins work again; the tests pass."
    seen = Observation.objects.all_versions().order_by("uid")
    assert [(row.observation_type, row.outcome, row.tool_name) for row in seen] == [
        ("error", "error", "Bash"),
        ("tool_use", "success", "Edit"),
        ("discovery", "success", "Bash"),
    ]
    results = Message.objects.all_versions().filter(role="tool_result").order_by("uid")
    assert [row.message_id for row in seen] == [row.uid for row in results]
    assert {row.raw_output for row in seen} == {""}
    call = {"id": "t3", "name": "Bash", "input": {"command": "pytest tests/test_login.py"}}
    assert results.last().tool_calls == [call]
    (talk,) = Conversation.objects.all_versions().filter(status="completed")
    assert (talk.session_id, talk.agent_id, talk.model) == ("s1", "claude-code", "a-model")


def test_an_array_is_one_commit_until_a_session_ends(api, main):
    send(api, *first_session()[:-1])
    assert [(c.kind, c.added, c.surface) for c in Commit.objects.all()] == [("hook.ingest", 9, "hook")]


def test_the_seeds_own_names(api):
    send(api, event("UserPrompt", prompt="Hello"), event("AssistantResponse", message="Hi"))
    assert messages() == [(1, "user", "Hello"), (2, "assistant", "Hi")]


@pytest.mark.parametrize(
    ("client", "events"),
    [
        (
            "cursor",
            [
                {
                    "hook_event_name": "beforeSubmitPrompt",
                    "conversation_id": "c",
                    "generation_id": "g",
                    "prompt": "Go",
                },
                {
                    "hook_event_name": "postToolUse",
                    "conversation_id": "c",
                    "generation_id": "g",
                    "tool_name": "Shell",
                    "tool_input": '{"command": "ls"}',
                    "tool_output": '{"output": "a.py"}',
                    "tool_use_id": "x",
                },
                {
                    "hook_event_name": "afterAgentResponse",
                    "conversation_id": "c",
                    "generation_id": "g",
                    "text": "Done",
                },
                {"hook_event_name": "stop", "conversation_id": "c", "status": "completed", "loop_count": 0},
            ],
        ),
        (
            "codex",
            [
                {"hook_event_name": "UserPromptSubmit", "session_id": "c", "turn_id": "1", "prompt": "Go"},
                {
                    "hook_event_name": "PostToolUse",
                    "session_id": "c",
                    "turn_id": "1",
                    "tool_name": "Shell",
                    "tool_input": {"command": "ls"},
                    "tool_response": "a.py",
                    "tool_use_id": "x",
                },
                {
                    "hook_event_name": "Stop",
                    "session_id": "c",
                    "turn_id": "1",
                    "last_assistant_message": "Done",
                },
            ],
        ),
        (
            "gemini",
            [
                {"hook_event_name": "BeforeAgent", "session_id": "c", "prompt": "Go"},
                {
                    "hook_event_name": "AfterTool",
                    "session_id": "c",
                    "tool_name": "Shell",
                    "tool_input": {"command": "ls"},
                    "tool_response": {"llmContent": "a.py", "returnDisplay": "a.py"},
                },
                {
                    "hook_event_name": "AfterAgent",
                    "session_id": "c",
                    "prompt": "Go",
                    "prompt_response": "Done",
                },
            ],
        ),
        (
            "vscode",
            [
                {"hookEventName": "UserPromptSubmit", "sessionId": "c", "prompt": "Go"},
                {
                    "hookEventName": "PostToolUse",
                    "sessionId": "c",
                    "toolName": "Shell",
                    "toolUseId": "x",
                    "toolInput": {"command": "ls"},
                    "toolResponse": [{"type": "text", "text": "a.py"}],
                },
                {"hookEventName": "Stop", "sessionId": "c", "lastAssistantMessage": "Done"},
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_programs(api, client, events):
    send(api, *events, client=client)
    assert messages() == [(1, "user", "Go"), (2, "tool_result", "a.py"), (3, "assistant", "Done")]
    (seen,) = Observation.objects.all_versions()
    assert (seen.tool_name, seen.agent_id, seen.session_id) == ("Shell", client, "c")
    assert seen.summary == "Used Shell: ls. Result: a.py"


def test_a_subagent_has_a_conversation_of_its_own(api):
    send(
        api,
        event("UserPromptSubmit", prompt="Look into it"),
        event("SubagentStart", agent_id="a7", agent_type="Explore"),
        event(
            "PostToolUse",
            agent_id="a7",
            tool_name="Read",
            tool_input={"file_path": "x"},
            tool_response="text",
        ),
        event("SubagentStop", agent_id="a7", agent_type="Explore", last_assistant_message="Found it"),
        event("Stop", last_assistant_message="There it is"),
    )
    talks = {row.agent_id: row for row in Conversation.objects.all_versions()}
    assert {agent: row.title for agent, row in talks.items()} == {
        "claude-code": "",
        "claude-code/a7": "Subagent Explore",
    }
    inner = talks["claude-code/a7"].uid
    assert messages(conversation_id=inner) == [(1, "tool_result", "text"), (2, "assistant", "Found it")]
    assert [text for _, _, text in messages(agent_id="claude-code")] == ["Look into it", "There it is"]


def test_a_turn_that_failed_is_no_answer(api):
    send(
        api, event("StopFailure", error="rate_limit", error_details="429", last_assistant_message="API Error")
    )
    (seen,) = Observation.objects.all_versions()
    assert (seen.summary, seen.observation_type) == ("The turn failed: rate_limit: 429", "error")
    assert messages() == []


def test_what_is_unknown_is_left_out(api, main):
    odd = [
        None,
        7,
        "text",
        [],
        {},
        {"hook_event_name": "Stop"},
        event("WorktreeCreate"),
        event("PreToolUse"),
        event("Stop", session=""),
        event("Stop", session=None),
        {"hook_event_name": ["Stop"], "session_id": {}},
    ]
    with nothing_left():
        left_out = json.loads(send(api, *odd))["left_out"]
    assert [one["event"] for one in left_out] == [1, 2, 3, 4, 5, 6, 9, 10, 11]  # not names that are unknown


def test_hostile_events_are_taken_as_they_are(api):
    send(
        api,
        event("UserPromptSubmit", session="s" * 999, prompt="nul \x00 half \ud800 🙂"),
        event(
            "PostToolUse",
            session="s2",
            tool_name="T" * 999,
            tool_input=[1, {"a": "\x00"}],
            tool_response=None,
        ),
        event(
            "PostToolUse", session="s2", tool_name=7, tool_input="{broken", tool_response={"a": [None, 1.5]}
        ),
    )
    assert messages(session_id="s" * 200) == [(1, "user", "nul \ufffd half \ufffd 🙂")]
    assert [role for _, role, _ in messages(session_id="s2")] == ["tool_result", "tool_result"]
    assert [len(row.tool_name) for row in Observation.objects.all_versions().order_by("uid")] == [200, 1]


def test_a_long_result_keeps_head_and_tail(api):
    send(api, bash("t1", "cat big", "a " * 450_000 + " ö" * 450_000))
    ((_, _, text),) = messages()
    assert len(text.encode()) <= 1024 * 1024
    assert (text[:5], text[-5:]) == ("a a a", "ö ö ö")
    assert "… [2250000 bytes, cut] …" in text


# ---- refusals --------------------------------------------------------------------------------------


def test_refusals(api, project, main):
    bound = api_for(project, agent_id="reviewer")
    with nothing_left():
        refused(Api("day1_aaaaaaaa_nobody").post(HOOK, event("Stop")), 401, "unauthenticated")
        refused(api.post(f"{HOOK}?branch=none", event("SessionStart")), 404, "not_found")
        refused(api.post(f"{HOOK}?what=1", event("SessionStart")), 400, "unknown_field", "what")
        refused(api.post(HOOK, "text"), 400, "invalid")
        refused(api.post(HOOK, [event("Stop")] * 1001), 413, "too_large")
        refused(
            api.post(HOOK, b'{"hook_event_name": "Stop\xff"}', **{"Content-Type": "application/json"}),
            400,
            "invalid",
        )
    send(bound, event("UserPromptSubmit", prompt="Hi", agent_id="a1"))
    assert Conversation.objects.all_versions().get().agent_id == "reviewer/a1"


@pytest.mark.parametrize("scopes", [["read"], ["propose"]])
def test_a_key_that_may_not_write(project, scopes):
    reader = api_for(project, scopes=scopes)
    with nothing_left():
        refused(reader.post(HOOK, event("SessionStart")), 403, "scope_missing")
