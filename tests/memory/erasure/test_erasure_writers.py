"""Erasure of a session or agent whose events go on: what comes in between goes too, or is not stored."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from conversations.capture.engine import IngestEngine
from conversations.models import Message
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.recall_log import log_recall
from memory.engines.sessions.manager import SessionManager
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.erased import closed_sessions
from memory.exceptions import Conflict
from memory.models import Erasure, Fact, RecallLog, Session
from memory.models.base import ERASED_MARK
from tests.memory.erasure.helpers import ERASURES, FACTS, SESSION, WORD, tables_with, write_everything
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
LATE = f"Late {WORD}, after the list was made."


CONSOLIDATOR = "conversations.engines.consolidation.session.SessionConsolidation"


@pytest.fixture
def learns(settings) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}


class RunOnce:
    """Runs an action in another thread, on a connection of its own, before a statement or after it."""

    def __init__(self, statement: str, action: Callable[[], Any], after: bool = False) -> None:
        self.statement, self.action, self.after = statement, action, after
        self.done = False

    def __call__(self, execute: Any, sql: str, *args: Any) -> Any:
        first = not self.done and self.statement in sql.replace("`", '"') and not connection.in_atomic_block
        self.done = self.done or first
        if first and not self.after:
            self._run()
        answer = execute(sql, *args)
        if first and self.after:
            self._run()
        return answer

    def _run(self) -> None:
        thread = threading.Thread(target=self._act)
        thread.start()
        thread.join(TIMEOUT_SECONDS)
        assert not thread.is_alive()

    def _act(self) -> None:
        try:
            self.action()
        finally:
            connection.close()


def make_event(prompt: str, session: str = SESSION) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}


def send(actor: Actor, *events: dict[str, Any]) -> None:
    IngestEngine().ingest(events=list(events), actor=actor, client="claude-code")


def erase_while(actor: Actor, scope: str, target: str, action: Callable[[], Any]) -> Erasure:
    """Erase, while another thread acts once the targets were found: the copies are listed then."""
    between = RunOnce('FROM "memory_snapshot"', action)
    with connection.execute_wrapper(between):
        done = ERASURES.erase(actor=actor, scope=scope, target=target, confirm=target)
    assert between.done
    return done


class TestBetween:
    """A write after the targets were found and before the erasure was recorded."""

    def test_an_event_of_the_session(self, actor, project, main) -> None:
        write_everything(actor)
        done = erase_while(actor, "session", SESSION, lambda: send(actor, make_event(LATE)))
        assert tables_with(WORD) == set()
        # The late prompt began a conversation, since the first one had ended with the session.
        assert done.counts == {
            "conversation": 2,
            "fact": 1,
            "message": 2,
            "observation": 1,
            "relation": 1,
            "session": 1,
        }
        assert ERASURES.verify_erasure(erasure_id=done.pk, actor=actor).holds

    def test_a_fact_of_an_agent_in_its_session(self, actor, project, main) -> None:
        write_everything(actor)
        agent = actor.with_origin(session_id=SESSION, agent_id="ada")
        done = erase_while(actor, "agent", "ada", lambda: FACTS.write_fact(actor=agent, fact_text=LATE))
        assert (tables_with(WORD), done.counts["fact"]) == (set(), 2)

    def test_a_new_session_of_an_agent(self, actor, project, main) -> None:
        write_everything(actor)
        agent = actor.with_origin(session_id="second", agent_id="ada")
        done = erase_while(actor, "agent", "ada", lambda: FACTS.write_fact(actor=agent, fact_text=LATE))
        assert (tables_with(WORD), done.counts["session"]) == (set(), 2)
        assert closed_sessions(project.pk, ["second"]) == {"second"}

    def test_others_are_left_alone(self, actor, main) -> None:
        write_everything(actor)
        done = erase_while(
            actor, "session", SESSION, lambda: send(actor, make_event("Of another session.", "another"))
        )
        assert done.counts["message"] == 1
        assert Message._base_manager.get(session_id="another").content == "Of another session."

    def test_what_comes_later_is_not_covered(self, actor, main) -> None:
        """An agent goes on in a new session while its erasure waits for somebody."""
        write_everything(actor)
        agent = actor.with_origin(session_id="second", agent_id="ada")
        done = ERASURES.erase(actor=actor, scope="agent", target="ada", confirm="ada")
        FACTS.write_fact(actor=agent, fact_text="Written afterwards")
        Erasure.objects.filter(pk=done.pk).update(state="pending", blanked_at=None)
        assert ERASURES.finish_pending() == 1
        assert Fact._base_manager.get(session_id="second").fact_text == "Written afterwards"


class TestAfterwards:
    """A writer that began before the erasure, and would store after it."""

    def erase_session(self, actor: Actor) -> None:
        ErasureEngine().erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)

    def test_events_that_were_read_before(self, actor, main, monkeypatch) -> None:
        # The statement in between keeps the log that an erasure empties, so there is nothing to wait for.
        monkeypatch.setattr("memory.db.sqlite.overwriting.TIMEOUT_SECONDS", 0.1)
        write_everything(actor)
        between = RunOnce('t."key", t."erased_at"', lambda: self.erase_session(actor), after=True)
        with connection.execute_wrapper(between):
            send(actor, make_event(LATE), make_event("Of another session.", "another"))
        assert (between.done, tables_with(WORD)) == (True, set())
        left = Message._base_manager.exclude(content=ERASED_MARK)
        assert list(left.values_list("content", flat=True)) == ["Of another session."]

    def test_a_prompt_that_is_being_answered(self, actor, main) -> None:
        """Its event was stored; the erasure comes before the search for its answer is logged."""
        FACTS.write_fact(actor=actor, fact_text="The deploy server of the shop is called badger.")
        send(actor, make_event("first prompt"))
        # After the snapshot in which it was searched: an erasure waits for readers.
        between = RunOnce('UPDATE "memory_session" SET "recalled"', lambda: self.erase_session(actor))
        prompt = f"deploy server of the shop called badger {WORD}?"
        with connection.execute_wrapper(between):
            IngestEngine().ingest(
                events=[make_event(prompt)], actor=actor, client="claude-code", answered=True
            )
        buffer.flush()
        assert between.done
        assert list(RecallLog.objects.values_list("session_id", "query")) == [(SESSION, ERASED_MARK)]
        assert tables_with(WORD) == set()

    def test_searches_that_wait_in_another_process(self, actor, main) -> None:
        """They are written a second later: those of the session, and those that found what was erased."""
        write_everything(actor)
        fact = Fact._base_manager.get()
        log_recall(actor.with_origin(session_id=SESSION), ["main"], f"in the session: {WORD}", [])
        log_recall(actor, ["main"], f"found it: {WORD}", [fact.uid])
        log_recall(actor, ["main"], "Of somebody else", [])
        waiting = dict(buffer.pending_values("recalls"))
        buffer.clear()  # what waits elsewhere is not written by this process's erasure
        self.erase_session(actor)
        for key, log in waiting.items():
            buffer.add_value("recalls", key, log)
        buffer.flush()
        queries = RecallLog.objects.order_by("id").values_list("query", flat=True)
        assert list(queries) == [ERASED_MARK, ERASED_MARK, "Of somebody else"]

    def test_the_session_itself(self, actor, main) -> None:
        write_everything(actor)
        self.erase_session(actor)
        sessions = SessionManager()
        for write in (
            lambda: sessions.end_session(session_id=SESSION, actor=actor, summary=LATE),
            lambda: sessions.create_session(session_id=SESSION, actor=actor, project_path=f"/srv/{WORD}"),
        ):
            with pytest.raises(Conflict, match="was erased"):
                write()
        sessions.replace_summary(session_id=SESSION, actor=actor, summary=LATE)
        assert tables_with(WORD) == set()

    def test_an_active_session_still_ends(self, actor, main, learns) -> None:
        """Its conversation is closed with it; nothing of it is learned."""
        send(actor, make_event(f"From now on we always use {WORD}."))
        self.erase_session(actor)
        session = Session.objects.get(key=SESSION)
        assert session.status == "active"
        ended = SessionManager().end_session(session_id=SESSION, actor=actor)
        assert (ended.status, ended.summary) == ("completed", "")
        assert SessionManager().consolidate_session(session.pk) == 0
        assert tables_with(WORD) == set()

    def test_a_silent_session_is_ended_with_the_others(self, actor, main) -> None:
        send(actor, make_event(f"I use {WORD}."), make_event("Something else.", "another"))
        self.erase_session(actor)
        assert SessionManager().abandon_orphans(timezone.now() + timedelta(days=2)) == 2
        assert set(Session.objects.values_list("key", "status")) == {
            (SESSION, "abandoned"),
            ("another", "abandoned"),
        }

    def test_what_is_being_learned_from_an_erased_message(self, actor, main, learns) -> None:
        """The consolidation has read the message; the erasure of its text comes before its commit."""
        send(actor, make_event(f"From now on we always deploy with the {WORD} token, that is decided."))
        what = {"actor": actor, "scope": "match", "target": WORD, "confirm": "test"}
        between = RunOnce('FROM "memory_factlink"', lambda: ErasureEngine().erase(**what))
        session = Session.objects.get(key=SESSION)
        with connection.execute_wrapper(between):
            assert SessionManager().consolidate_session(session.pk) == 0
        assert (between.done, tables_with(WORD)) == (True, set())

    def test_what_was_learned_between(self, actor, main, learns) -> None:
        send(actor, make_event(f"From now on we always deploy with the {WORD} token, that is decided."))
        session = Session.objects.get(key=SESSION)
        between = RunOnce('FROM "memory_snapshot"', lambda: SessionManager().consolidate_session(session.pk))
        with connection.execute_wrapper(between):
            done = ERASURES.erase(actor=actor, scope="match", target=WORD, confirm="test")
        assert (done.counts, tables_with(WORD)) == ({"fact": 1, "message": 1}, set())
