"""Sessions: created once, summarised, ended with their parts."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions import manager
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchArchived, BranchForbidden, Invalid, NotFound, ScopeMissing
from memory.models import AuditEntry, Session

MANAGER = SessionManager()


@pytest.fixture
def begin(actor):
    def create(session_id="s1", **fields):
        return MANAGER.create_session(**{"session_id": session_id, "actor": actor, **fields})

    return create


class TestBeginning:
    def test_again_finds_the_same_and_adds_what_was_not_said(self, begin):
        first = begin(project_path="/repo")
        again = begin(project_path="/other", agent_id="claude")
        assert (first.created, again.created) == (True, False)
        assert again.session.pk == first.session.pk
        assert (again.session.project_path, again.session.agent_id) == ("/repo", "claude")
        assert AuditEntry.objects.filter(action="session.create").count() == 1

    def test_one_that_a_write_began_is_found(self, begin, actor):
        FactEngine().write_fact(fact_text="x", actor=actor, session_id="s1")
        assert not begin().created

    @pytest.mark.django_db(transaction=True)
    def test_refusals_leave_nothing(self, begin, actor):
        BranchManager().create_branch(name="old", actor=actor)
        BranchManager().archive_branch(name="old", actor=actor)
        for fields, error in (
            ({"session_id": " "}, Invalid),
            ({"session_id": "x" * 201}, Invalid),
            ({"branch_name": "old"}, BranchArchived),
            ({"actor": replace(actor, scopes=frozenset({"read"}))}, ScopeMissing),
        ):
            with pytest.raises(error):
                begin(**fields)
        assert not Session.objects.exists()


class TestSeeing:
    def test_recent_ones_by_filter(self, begin, actor):
        BranchManager().create_branch(name="task/a", actor=actor)
        begin("s1"), begin("s2", agent_id="claude"), begin("s3", branch_name="task/a")
        found = lambda **how: [s.key for s in MANAGER.get_recent_sessions(actor=actor, **how).results]  # noqa: E731
        assert found() == ["s3", "s2", "s1"]
        assert found(agent_id="claude") == ["s2"]
        assert found(branch_name="task/a") == ["s3"]
        assert found(status="completed") == []
        with pytest.raises(Invalid):
            found(status="sleeping")

    def test_all_of_them_page_by_page(self, begin, actor):
        begin("s1"), begin("s2"), begin("s3")
        pages = [MANAGER.get_recent_sessions(actor=actor, limit=2)]
        pages += [MANAGER.get_recent_sessions(actor=actor, limit=2, cursor=pages[0].next)]
        assert [[s.key for s in page.results] for page in pages] == [["s3", "s2"], ["s1"]]
        back = MANAGER.get_recent_sessions(actor=actor, limit=2, cursor=pages[1].previous)
        assert [s.key for s in back.results] == ["s3", "s2"]
        with pytest.raises(Invalid):
            MANAGER.get_recent_sessions(actor=actor, status="active", cursor=pages[0].next)

    def test_projects_and_branches_are_apart(self, begin, actor, other_project):
        BranchManager().create_branch(name="task/a", actor=actor)
        begin("s1", branch_name="task/a")
        with pytest.raises(NotFound):
            MANAGER.get_session(session_id="s1", actor=local_actor(other_project.pk))
        narrow = replace(actor, branch_patterns=("main",))
        with pytest.raises(BranchForbidden):
            MANAGER.get_session(session_id="s1", actor=narrow)
        assert MANAGER.get_recent_sessions(actor=narrow).results == []

    def test_the_context_holds_what_was_said_learned_and_done(self, begin, actor):
        begin("s0")
        MANAGER.end_session(session_id="s0", actor=actor, summary="Set up CI")
        begin("s1", parent_session="s0")
        talk = ConversationEngine().create_conversation(actor=actor, session_id="s1", title="T")
        for text in ("one", "two", "three"):
            MessageEngine().write_message(conversation_id=talk.uid, actor=actor, role="user", content=text)
        FactEngine().write_fact(fact_text="Redis holds sessions", actor=actor, session_id="s1")
        FactEngine().write_fact(fact_text="of another", actor=actor, session_id="s0")
        ObservationEngine().write_observation(
            actor=actor, session_id="s1", tool_name="Bash", raw_input="x", raw_output="Exit code 1"
        )
        context = MANAGER.get_session_context(session_id="s1", actor=actor, message_limit=2)
        assert context.parent_summary == "Set up CI"
        assert [fact.fact_text for fact in context.facts] == ["Redis holds sessions"]
        assert context.observations == {"total": 1, "by_type": {"error": 1}, "tools_used": {"Bash": 1}}
        (part,) = context.parts["conversations"]
        assert part["title"] == "T"
        assert [m["content"] for m in part["messages"]] == ["two", "three"]


class TestEnding:
    def test_its_conversations_close_and_it_ends_once(self, begin, actor):
        begin()
        talk = ConversationEngine().create_conversation(actor=actor, session_id="s1")
        ended = MANAGER.end_session(session_id="s1", actor=actor, summary="done")
        again = MANAGER.end_session(session_id="s1", actor=actor)
        assert (ended.status, ended.summary, again.ended_at) == ("completed", "done", ended.ended_at)
        seen = ConversationEngine().get_conversation(conversation_id=talk.uid, actor=actor)
        assert seen.status == "completed"
        assert AuditEntry.objects.filter(action="session.end").count() == 1

    def test_of_an_archived_branch_it_still_ends(self, begin, actor):
        BranchManager().create_branch(name="task/a", actor=actor)
        begin("s1", branch_name="task/a")
        BranchManager().archive_branch(name="task/a", actor=actor)
        assert MANAGER.end_session(session_id="s1", actor=actor).status == "completed"

    @pytest.mark.django_db(transaction=True)  # activity is heard of when it is committed
    def test_orphans_are_abandoned_after_a_day_without_a_word(self, begin, actor):
        begin("quiet"), begin("busy")
        day = timezone.now() - timedelta(hours=25)
        Session.objects.update(started_at=day)
        FactEngine().write_fact(fact_text="x", actor=actor, session_id="busy")
        buffer.flush()
        assert MANAGER.abandon_orphans() == 1
        status = {s.key: s.status for s in Session.objects.all()}
        assert status == {"quiet": "abandoned", "busy": "active"}
        assert MANAGER.abandon_orphans() == 0

    def test_one_that_is_heard_of_while_orphans_are_abandoned_goes_on(self, begin, monkeypatch):
        begin("first"), begin("second")
        Session.objects.update(started_at=timezone.now() - timedelta(hours=25))
        end = manager.end_session

        def hear_of_second(session, *rest):
            end(session, *rest)
            Session.objects.filter(key="second").update(active_at=timezone.now())

        monkeypatch.setattr(manager, "end_session", hear_of_second)
        assert MANAGER.abandon_orphans() == 1
        status = {s.key: s.status for s in Session.objects.all()}
        assert status == {"first": "abandoned", "second": "active"}

    def test_an_unknown_one(self, actor):
        with pytest.raises(NotFound):
            MANAGER.end_session(session_id="nope", actor=actor)
