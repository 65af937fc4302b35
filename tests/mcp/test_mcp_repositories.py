"""The repository of a caller over MCP: what is shown of it, named, preferred, and what of others is not."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from conversations.capture.engine import IngestEngine
from day1site.mcp.call_context import Caller
from day1site.mcp.http import authenticate_caller
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.sessions.briefing import start_context
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.models import Branch, Fact, RecallLog, Session
from tests.mcp.conftest import URL, Agent, agent_for
from tests.memory.api.client import nothing_left
from tests.queries import list_queries
from tests.site.hook_events import CONSOLIDATOR, learn

SHOP, TILL = "github.com/acme/shop", "github.com/acme/till"
REMOTE = "git@github.com:acme/shop.git"


@pytest.fixture
def sessions(agent: Agent, actor: Any) -> None:
    """Let one session of each of two repositories write and end; that of the till is the newer one."""
    manager = SessionManager()
    for key, repository, text in (("s1", SHOP, "The shop's clock was wrong."), ("t1", TILL, "Tills beep.")):
        manager.create_session(session_id=key, actor=actor, project_path=repository)
        agent.call("memory_write", fact_text=text, session_id=key)
        ObservationEngine().write_observation(actor=actor, session_id=key, summary=f"Looked at {repository}.")
        manager.end_session(session_id=key, actor=actor, summary=f"Worked on {repository}.")


def lines(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["line"], row.get("repository", "")) for row in rows]


# ---- catching up -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["argument", "address", "header"])
def test_what_happened_before_is_of_the_callers_repository(how: str, agent: Agent, sessions: None) -> None:
    by = {
        "argument": (agent, {"repository": "https://me:secret@GitHub.com/acme/shop.git"}),
        "address": (agent.at(f"{URL}?repository=git@github.com:acme/shop.git"), {}),
        "header": (agent.at(Day1_Repository=SHOP), {}),
    }
    client, arguments = by[how]
    told = client.call("memory_context", **arguments)
    assert (told["session"]["id"], told["session"]["project_path"]) == ("s1", SHOP)
    assert told["summary"] == f"Worked on {SHOP}."
    assert lines(told["facts"]) == [("The shop's clock was wrong.", SHOP)]
    assert lines(told["newest_facts"]) == [("The shop's clock was wrong.", SHOP)]
    (row,) = client.call("memory_timeline", **arguments)["results"]
    assert (row["summary"], row["repository"]) == (f"Looked at {SHOP}.", SHOP)


def test_nothing_of_another_repository_is_earlier_in_this_one(agent: Agent, sessions: None) -> None:
    new = agent.at(Day1_Repository="github.com/acme/new")
    told = new.call("memory_context")
    assert (told["session"], told["summary"], told["facts"], told["newest_facts"]) == (None, "", [], [])
    assert new.call("memory_timeline")["results"] == []
    assert new.call("memory_timeline", session_id=["t1"])["results"] == []
    agent.call("memory_write", fact_text="Written without a session.")
    assert lines(new.call("memory_context")["newest_facts"]) == [("Written without a session.", "")]


def test_prompts_and_pickers_keep_to_the_repository_of_the_connection(agent: Agent, sessions: None) -> None:
    async def shown(client: Any) -> tuple[list[str], str]:
        names = [one.name for one in (await client.list_resources()).resources]
        return names, (await client.get_prompt("catch_up")).messages[0].content.text

    names, text = agent.at(Day1_Repository=SHOP).run(shown)
    assert names == ["The shop's clock was wrong.", "session s1"]
    assert (SHOP in text, TILL in text) == (True, False)


def test_pages_of_a_repository_go_on_while_sessions_begin(agent: Agent, sessions: None, actor: Any) -> None:
    ObservationEngine().write_observation(actor=actor, session_id="s1", summary="Looked again.")
    shop = agent.at(Day1_Repository=SHOP)
    first = shop.call("memory_timeline", limit=1)
    SessionManager().create_session(session_id="s2", actor=actor, project_path=SHOP)
    second = shop.call("memory_timeline", limit=1, cursor=first["next_cursor"])
    told = [row["summary"] for page in (first, second) for row in page["results"]]
    assert (told, second["next_cursor"]) == (["Looked again.", f"Looked at {SHOP}."], None)


def test_a_session_in_which_nothing_happened_is_not_the_last(
    agent: Agent, actor: Any, sessions: None
) -> None:
    for key in ("s2", "s3"):
        SessionManager().create_session(session_id=key, actor=actor, project_path=SHOP)
    SessionManager().end_session(session_id="s2", actor=actor)
    shop = agent.at(Day1_Repository=SHOP)
    told = shop.call("memory_context")
    assert (told["session"]["id"], told["summary"]) == ("s1", f"Worked on {SHOP}.")
    shop.call("memory_write", fact_text="Clocks are set at night.", session_id="s2")
    assert shop.call("memory_context")["session"]["id"] == "s2"


def test_any_repository_is_shown_when_asked_or_unknown(agent: Agent, sessions: None) -> None:
    for client, arguments in ((agent, {}), (agent.at(Day1_Repository=SHOP), {"repository": "*"})):
        told = client.call("memory_context", **arguments)
        assert told["session"]["id"] == "t1"
        assert [name for _, name in lines(told["newest_facts"])] == [TILL, SHOP]
        assert len(client.call("memory_timeline", **arguments)["results"]) == 2
    told = agent.at(Day1_Repository=SHOP).call("memory_context", session_id="t1")  # named, so shown as it is
    assert (told["session"]["id"], told["session"]["project_path"]) == ("t1", TILL)


def test_a_session_does_not_go_on_from_that_of_another_repository(agent: Agent, actor: Any) -> None:
    manager = SessionManager()
    for key, repository, parent in (("a", TILL, ""), ("b", SHOP, "a"), ("c", SHOP, "b"), ("d", "", "a")):
        manager.create_session(session_id=key, actor=actor, project_path=repository, parent_session=parent)
        manager.end_session(session_id=key, actor=actor, summary=f"Summary of {key}.")

    def briefing(key: str) -> str:
        session = Session.objects.get(key=key)
        branch = Branch.objects.get(pk=session.branch_id)
        return start_context(session, actor, branch.lineage(), session.started_at).text

    told = {key: agent.call("memory_context", session_id=key)["parent_summary"] for key in "bcd"}
    assert told == {"b": "", "c": "Summary of b.", "d": "Summary of a."}
    assert briefing("b") == ""
    assert "Summary of b." in briefing("c")


# ---- writing and searching -------------------------------------------------------------------------------


def test_a_search_is_made_in_the_name_of_the_connections_session(agent: Agent, viewer: Agent) -> None:
    agent.call("memory_write", fact_text="The clock is wrong.", session_id="before")
    for caller in (agent.at(Day1_Session="s"), agent.at(f"{URL}?session=s")):
        assert caller.call("memory_search", query="clock")["count"] == 1
    with nothing_left():
        viewer.at(Day1_Session="s").refused("memory_search", "scope_missing", query="clock")
    buffer.flush()
    assert list(RecallLog.objects.values_list("session_id", flat=True)) == ["s", "s"]


def test_a_start_context_leaves_out_what_was_written_without_a_session_elsewhere(
    agent: Agent, actor: Any
) -> None:
    for repository in (SHOP, TILL):
        agent.call("memory_write", fact_text=f"Learned in {repository}.", repository=repository)
    SessionManager().create_session(session_id="s", actor=actor, project_path=SHOP)
    session = Session.objects.get()
    branch = Branch.objects.get(pk=session.branch_id)
    text = start_context(session, actor, branch.lineage(), session.started_at).text
    assert (f"Learned in {SHOP}." in text, TILL in text) == (True, False)


def test_a_work_handle_stands_for_the_repository(agent: Agent) -> None:
    agent.call("branch_create", name="task/a")
    work = agent.call("branch_switch", name="task/a", repository=REMOTE)["handle"]
    uid = agent.call("memory_write", fact_text="The clock was wrong.", work=work)["fact"]["id"]
    other = agent.call("memory_write", fact_text="The till beeps.", work=work, repository=TILL)["fact"]["id"]
    found = agent.call("memory_get", fact_ids=[uid, other], branch="task/a")["facts"]
    assert [row["repository"] for row in found] == [SHOP, TILL]
    told = agent.call("memory_context", work=work)
    assert (told["branch"], lines(told["newest_facts"])) == ("task/a", [("The clock was wrong.", SHOP)])
    here = agent.at(Day1_Repository=TILL).call("memory_context", work=work)  # the connection counts before it
    assert lines(here["newest_facts"]) == [("The till beeps.", TILL)]
    plain = agent.call("branch_switch", name="task/a")["handle"]
    assert len(agent.call("memory_context", work=plain)["newest_facts"]) == 2
    agent.refused("branch_switch", "invalid", name="task/a", repository=["x"])


def test_a_key_sees_the_sessions_of_its_branches_alone(agent: Agent, sessions: None, project: Any) -> None:
    agent.call("branch_create", name="task/a")
    bound = agent_for(project, branch_patterns=["task/*"], default_branch="task/a")
    assert bound.at(Day1_Repository=SHOP).call("memory_context")["session"] is None


# ---- the session whose events hooks bring with the same key ---------------------------------------------


def send_event(agent: Agent, name: str, session: str, repository: str, **fields: Any) -> None:
    """Bring an event as the hooks of the agent's program do, with its key."""
    actor = get_actor(KeyEngine().verify_token(agent.token), "hook")
    own = {"client": "claude-code", "root": repository}
    event = {"hook_event_name": name, "session_id": session, "cwd": "/srv", "day1": own, **fields}
    IngestEngine().ingest(events=[event], actor=actor, client="claude-code")


def write_somewhere(agent: Agent, text: str, **arguments: Any) -> tuple[str, str]:
    """Write a fact; return the repository and the session that it has."""
    uid = agent.call("memory_write", fact_text=text, **arguments)["fact"]["id"]
    fact = Fact.objects.all_versions().get(uid=uid)
    return fact.repository, fact.session_id


def test_a_call_belongs_to_the_open_session_of_the_same_key(agent: Agent, project: Any) -> None:
    other = agent_for(project, label="other")
    assert write_somewhere(agent, "Before any session.") == ("", "")
    send_event(agent, "SessionStart", "h1", SHOP, source="startup")
    assert write_somewhere(agent, "In the shop.") == (SHOP, "h1")
    assert write_somewhere(other, "With another key.") == ("", "")
    assert write_somewhere(agent, "Named.", session_id="mine") == (SHOP, "mine")
    assert write_somewhere(agent, "In the till.", repository=TILL) == (TILL, "")
    assert write_somewhere(agent.at(Day1_Repository=TILL), "By header.") == (TILL, "")
    assert write_somewhere(agent.at(Day1_Session="s"), "By its session.") == ("", "s")
    send_event(agent, "SessionEnd", "h1", SHOP, reason="exit")
    assert write_somewhere(agent, "After it.") == ("", "")


def ask(agent: Agent, session: str, repository: str) -> None:
    """Bring a person's prompt, and have it counted that the session was heard of."""
    send_event(agent, "UserPromptSubmit", session, repository, prompt="Go on.", prompt_id=str(uuid4()))
    buffer.flush()


def test_a_killed_session_gives_way_to_the_next_one(agent: Agent) -> None:
    send_event(agent, "SessionStart", "h1", SHOP, source="startup")
    ask(agent, "h1", SHOP)
    send_event(agent, "SessionStart", "h2", SHOP, source="startup")
    assert write_somewhere(agent, "The program was started anew.") == (SHOP, "h2")
    send_event(agent, "SessionStart", "h3", TILL, source="startup")
    assert write_somewhere(agent, "Started in another folder.") == (TILL, "h3")
    ask(agent, "h1", SHOP)
    assert write_somewhere(agent, "The first one runs still.") == ("", "")
    assert write_somewhere(agent.at(Day1_Repository=SHOP), "Either of two in the shop.") == (SHOP, "")


def test_of_several_open_sessions_only_what_they_share_is_known(agent: Agent) -> None:
    send_event(agent, "SessionStart", "h1", SHOP, source="startup")
    send_event(agent, "SessionStart", "h2", SHOP, source="startup")
    ask(agent, "h1", SHOP)
    assert write_somewhere(agent, "One of two in the shop.") == (SHOP, "")
    send_event(agent, "SessionStart", "h3", TILL, source="startup")
    ask(agent, "h1", SHOP)
    assert write_somewhere(agent, "Somewhere.") == ("", "")
    assert write_somewhere(agent.at(Day1_Repository=TILL), "In the till.") == (TILL, "h3")
    buffer.flush()
    Session.objects.exclude(key="h1").update(active_at=timezone.now() - timedelta(hours=1))
    assert write_somewhere(agent, "The others are quiet.") == (SHOP, "h1")
    buffer.flush()
    Session.objects.update(active_at=timezone.now() - timedelta(hours=13))
    assert write_somewhere(agent, "All were killed.") == ("", "")


def test_what_a_person_says_stays_a_persons_when_the_agent_wrote_it_first(
    agent: Agent, settings: Any
) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
    text = "We decided to use Argon2 for the passwords."
    send_event(agent, "SessionStart", "h1", SHOP, source="startup")
    agent.call("memory_write", fact_text=text, category="decision")
    send_event(agent, "UserPromptSubmit", "h1", SHOP, prompt=text, prompt_id="p1")
    send_event(agent, "SessionEnd", "h1", SHOP, reason="exit")
    learn("h1")
    session = Session.objects.select_related("branch").get(key="h1")
    (fact,) = Fact.objects.on(session.branch).fetch_all()
    actor = get_actor(KeyEngine().verify_token(agent.token), "hook")
    new = Session(project_id=actor.project_id, key="h2", branch=session.branch, project_path=SHOP)
    told = start_context(new, actor, session.branch.lineage(), timezone.now()).text
    assert f"\n- {text} [{fact.uid.hex[-6:]}]\n" in told


def test_a_request_that_calls_no_tool_asks_for_no_session(agent: Agent, actor: Any) -> None:
    headers = {b"authorization": f"Bearer {agent.token}".encode()}
    callers: list[Caller] = []

    def authenticate() -> None:
        callers.append(authenticate_caller({"type": "http", "path": "/mcp", "headers": []}, headers))

    authenticate()  # the key is known now
    assert [sql for sql in list_queries(authenticate) if "memory_session" in sql] == []
    assert len([sql for sql in list_queries(callers[0].locate) if "memory_session" in sql]) == 1


# ---- short ids -------------------------------------------------------------------------------------------


def test_a_fact_is_found_by_the_end_of_its_id(agent: Agent) -> None:
    uid = agent.call("memory_write", fact_text="The clock is wrong.")["fact"]["id"]
    (row,) = agent.call("memory_get", fact_ids=[uid[-6:].upper()])["facts"]
    assert row["id"] == uid
    agent.call("memory_update", fact_id=uid[-6:], fact_text="The clock is right.")
    (row,) = agent.call("memory_get", fact_ids=[uid[-8:]])["facts"]
    assert row["fact_text"] == "The clock is right."
    agent.refused("memory_get", "not_found", fact_ids=["0" * 6 if uid[-6:] != "0" * 6 else "1" * 6])
    agent.refused("memory_get", "invalid", fact_ids=["12345"])
    (row,) = agent.call("memory_get", fact_ids=uid[-6:])["facts"]
    assert row["id"] == uid


def test_an_end_that_several_ids_have_names_them(agent: Agent) -> None:
    uids = [agent.call("memory_write", fact_text=f"Clock {n}.")["fact"]["id"] for n in range(2)]
    other = UUID(f"{uids[0][:-6]}{uids[1][-6:]}")
    Fact.objects.all_versions().filter(uid=uids[0]).update(uid=other)
    text = agent.refused("memory_get", "invalid", fact_ids=[uids[1][-6:]])
    assert all(uid in text for uid in sorted((str(other), uids[1])))
