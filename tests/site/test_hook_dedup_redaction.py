"""POST /ingest/hook: each event is stored once; secrets and private text never."""

import pytest

from conversations.models import Message
from memory.models import IngestedEvent, Observation, Session
from tests.memory.api.client import api_for, nothing_left
from tests.site.hook_events import bash, event, first_session, messages, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]


# ---- once ------------------------------------------------------------------------------------------


def test_an_event_comes_in_once(api):
    events = first_session()[1:-1]
    send(api, *events)
    with nothing_left():
        send(api, *events)
        for one in events:
            send(api, one)
    assert IngestedEvent.objects.count() == 5


def test_the_same_event_twice_in_one_array(api):
    one = bash("t1", "ls", "a")
    send(api, one, one, bash("t2", "ls", "a"))
    assert len(messages()) == 2


def test_without_an_id_of_its_own_the_clients_mark_tells_events_apart(api):
    first = event("UserPromptSubmit", prompt="continue", day1={"nonce": "1"})
    second = event("UserPromptSubmit", prompt="continue", day1={"nonce": "2"})
    send(api, first, second, first)
    assert messages() == [(1, "user", "continue"), (2, "user", "continue")]


def test_cursors_run_of_hooks_that_were_written_for_others(api):
    one = event("UserPromptSubmit", prompt="Go", generation_id="g", cursor_version="2.1", day1={})
    send(api, one, client="claude-code")
    send(api, one, client="cursor")
    assert messages() == [(1, "user", "Go")]


def test_two_projects_do_not_share_events(api, other_project):
    send(api, *first_session())
    send(api_for(other_project), *first_session())
    assert len(messages()) == 10
    assert {s.project_id: s.status for s in Session.objects.all()} == dict.fromkeys(
        {s.project_id for s in Session.objects.all()}, "completed"
    )


# ---- redaction -------------------------------------------------------------------------------------


def everything() -> str:
    rows = [*Message.objects.all_versions(), *Observation.objects.all_versions(), *Session.objects.all()]
    return repr([{k: v for k, v in vars(row).items() if k != "_state"} for row in rows])


def test_private_text_and_secrets(api):
    token = "ghp_" + "a1B2" * 9
    send(
        api,
        event("SessionStart", cwd=f"/x/{token}", day1={}, agent_type=token, model=token),
        event(
            "UserPromptSubmit",
            prompt=f"Log in <private>as root, s3sam</private> with {token}",
            prompt_id=token,
        ),
        event(
            "PostToolUse",
            tool_name=f"Bash {token}",
            tool_input={"command": f"echo {token}", "PASSWORD": "xyzzy1"},
            tool_response={"stdout": f"{token}\n<PRIVATE>plugh", "stderr": "", token: "k"},
        ),
        event("PostToolUseFailure", tool_name="Bash", tool_input={}, error=f"no {token}"),
        event("Stop", last_assistant_message=f"{token} and a </private> end", prompt_id="p2"),
        event("StopFailure", error=token),
        event("PostCompact", compact_summary=f"used {token}"),
    )
    kept = everything()
    assert [word for word in ("a1B2a1B2", "s3sam", "plugh", "xyzzy1", "root") if word in kept] == []
    assert messages(role="user") == [(1, "user", "Log in [private] with [redacted: GitHub token]")]
    assert Session.objects.get().summary == "used [redacted: GitHub token]"


def test_own_tools_are_not_observed(api):
    names = [
        "mcp__day1__memory_search",
        "mcp__plugin_day1_day1__memory_write",
        "mcp_day1_memory_get",
        "memory_search",
    ]
    own = [event("PostToolUse", tool_name=name, tool_response="x", tool_use_id=name) for name in names]
    send(api, *own, bash("b", "day1 search logins", "x"), bash("c", ".venv/bin/day1 facts", "x"))
    assert messages() == []
    send(api, bash("d", "python manage.py check", "fine"))
    assert messages() == [(1, "tool_result", "fine")]


def test_what_day1_said_is_not_the_users(api):
    said = "<day1-memory>\nWe decided X.\n</day1-memory>\nWhat now?<system-reminder>be nice</system-reminder>"
    send(
        api,
        event("UserPromptSubmit", prompt=said),
        event("UserPromptSubmit", prompt="<day1-memory>open", cwd="/"),
    )
    assert messages() == [(1, "user", "What now?")]


def test_what_a_program_put_among_the_users_words_is_not_theirs(api):
    prompt = "<ide_opened_file>a.py</ide_opened_file>Go on<bash-stdout>4 passed</bash-stdout>, please"
    send(
        api,
        event("UserPromptSubmit", prompt=prompt),
        event("UserPromptSubmit", prompt="<task-notification>done</task-notification>", cwd="/"),
    )
    assert messages() == [(1, "user", "Go on, please")]


def test_what_a_file_or_an_answer_says_in_tags_is_kept(api):
    page = "<webhook>on</webhook> <INSTRUCTIONS>Sort."
    send(
        api,
        bash("t1", "cat page", f"{page}<System-Reminder>\n<system-reminder>be nice</system-reminder>"),
        event("Stop", last_assistant_message=f"It says {page}<DAY1-memory>known</day1-MEMORY>"),
    )
    assert messages() == [(1, "tool_result", f"{page}<System-Reminder>"), (2, "assistant", f"It says {page}")]
