"""What a session is told of decisions: when they were said and by whom, the newest first, each once."""

import re

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.models import Fact
from tests.site.hook_events import bash, event, learn, send, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]
ORDER = "Newest first: where two disagree, the upper holds."


def live(api, session: str, *prompts: str) -> None:
    """Say prompts in a session that ends and is learned from."""
    for number, text in enumerate(prompts):
        send(api, event("UserPromptSubmit", session, prompt=text, prompt_id=f"{session}-{number}"))
    send(api, event("SessionEnd", session))
    learn(session)


def import_said(actor, session: str, said_at: str, *texts: str, role: str = "user") -> None:
    """Store what was said at an earlier time, as an import of transcripts does, and learn from it."""
    where = {"session_id": session, "project_path": "github.com/acme/shop"}
    SessionManager().create_session(actor=actor, **where)
    talk = ConversationEngine().create_conversation(actor=actor, session_id=session)
    rows = [{"role": role, "content": text, "said_at": said_at} for text in texts]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=rows, actor=actor)
    learn(session)


def read_lines(api, session: str) -> list[tuple[str, str, str]]:
    """Return the text, the words beside the id, and the day of each line that a new session is told."""
    lines, day = list[tuple[str, str, str]](), ""
    for line in told(send(api, event("SessionStart", session))).splitlines():
        day = line[:-1] if re.fullmatch(r"\d{4}-\d\d-\d\d:", line) else day
        if found := re.fullmatch(r"- (.*) \[[\da-f]{6} ?([^\]]*)\]", line):
            lines.append((found[1], found[2], day))
    return lines


def today() -> str:
    return str(Fact.objects.all_versions().latest("uid").created_at.date())


def test_what_was_said_long_ago_and_imported_later_has_its_day_and_comes_after(api, actor):
    live(api, "s1", "We use Memcached for the queue now.")
    import_said(actor, "old", "2020-05-04T10:00:00Z", "We use Redis for the sessions, not Rabbit.")
    assert read_lines(api, "s2") == [
        ("We use Memcached for the queue now.", "", today()),
        ("We use Redis for the sessions, not Rabbit.", "", "2020-05-04"),
    ]


def test_the_order_is_said_where_there_is_one(api):
    live(api, "s1", "We use Memcached for the queue now.")
    assert ORDER not in told(send(api, event("SessionStart", "s2")))
    live(api, "s3", "We decided that Maria owns the menu.")
    assert ORDER in told(send(api, event("SessionStart", "s4")))


def test_what_is_said_again_is_as_new_as_the_last_time(api, actor):
    import_said(actor, "a", "2020-01-01T00:00:00Z", "We decided that Maria owns the menu.")
    import_said(actor, "b", "2020-02-01T00:00:00Z", "We decided to use Redis for the queue.")
    import_said(actor, "c", "2020-03-01T00:00:00Z", "We decided that Maria owns the menu.")
    assert [(text, day) for text, _, day in read_lines(api, "s2")] == [
        ("We decided that Maria owns the menu.", "2020-03-01"),
        ("We decided to use Redis for the queue.", "2020-02-01"),
    ]


def test_the_same_statement_in_almost_the_same_words_comes_once(api, actor):
    import_said(actor, "a", "2020-01-01T00:00:00Z", "We decided to run make fmt before the commit.")
    import_said(actor, "b", "2020-02-01T00:00:00Z", "We decided to run make fmt before a commit")
    import_said(actor, "c", "2020-03-01T00:00:00Z", "We decided not to run make fmt before a release.")
    languages = ["We decided to use C for it.", "We decided to use C++ for it."]
    import_said(actor, "d", "2020-03-02T00:00:00Z", *languages)
    assert {text for text, _, _ in read_lines(api, "s2")} == {
        "We decided to run make fmt before the commit.",  # it was confirmed by the second
        "We decided not to run make fmt before a release.",
        *languages,
    }


def test_who_decided_is_told(api, actor):
    text = "We decided to use Redis for the queue."
    import_said(actor, "a", "2020-01-01T00:00:00Z", text, role="assistant")
    FactEngine().write_fact(fact_text="Deploys run on Mondays.", category="decision", actor=actor)
    assert read_lines(api, "s2") == [
        (text, "agent", "2020-01-01"),
        ("Deploys run on Mondays.", "note", today()),
    ]


def test_an_agents_rewording_is_no_fact_and_its_own_decision_stands_below(api, actor):
    said = {"prompt": "Use tabs in Go files, not spaces.", "prompt_id": "s1-0"}
    send(api, event("UserPromptSubmit", "s1", **said))
    answer = "From now on we use tabs rather than spaces in Go files. We decided that Maria owns the menu."
    send(api, event("Stop", "s1", last_assistant_message=answer, prompt_id="s1-0"))
    send(api, event("SessionEnd", "s1"))
    learn("s1")
    told_lines = [(said["prompt"], ""), ("We decided that Maria owns the menu.", "agent")]
    assert [line[:2] for line in read_lines(api, "s2")] == told_lines
    noted = "Convention: tabs rather than spaces in all Go files"
    where = {"category": "decision", "session_id": "s1", "actor": actor}
    FactEngine().write_fact(fact_text=noted, **where)
    assert [line[:2] for line in read_lines(api, "s3")] == told_lines
    asked = send(api, event("UserPromptSubmit", "s4", prompt="Write the Go files of the parser with tabs"))
    assert noted not in told(asked)
    assert said["prompt"] in told(asked)


def test_a_repair_has_the_day_of_its_success(api):
    failed = {"tool_name": "Bash", "tool_input": {"command": "./run"}, "error": "Exit code 1\nno port"}
    send(api, event("PostToolUseFailure", tool_use_id="t1", **failed))
    send(api, bash("t2", "export PORT=1", "ok"), bash("t3", "./run", "ok"), event("SessionEnd"))
    learn()
    (line,) = read_lines(api, "s2")
    assert line == ("./run failed: no port. It worked after: ran export PORT=1.", "bug_fix", today())


def test_a_long_decision_is_told_to_its_end(api, actor):
    text = f"We decided that exports {'of the weekly tours ' * 11}go to the vault in Leeds."
    assert 200 < len(text) <= 300
    import_said(actor, "a", "2020-01-01T00:00:00Z", text)
    assert [line[0] for line in read_lines(api, "s2")] == [text]
