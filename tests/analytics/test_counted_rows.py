"""Which rows a figure counts: none that is hidden, elsewhere, later, or settled by a person."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.engines.engine import AnalyticsEngine
from analytics.engines.ranges import TimeRange
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import ConsolidationRun, Conversation
from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.verification.gates import summarize_branch
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.commits import open_commit
from memory.exceptions import Invalid
from memory.models import Branch, FactAssessment, FactLink, Project
from tests.analytics.test_figures import Write, ask, backdate, without_vectors, write

__all__ = ["without_vectors", "write"]
pytestmark = pytest.mark.django_db(transaction=True)
engine, facts, branches = AnalyticsEngine(), FactEngine(), BranchManager()
quarantines = QuarantineEngine()


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def hide(actor: Actor, agent: str) -> None:
    quarantines.create_quarantine(source="agent", target=agent, actor=actor)


class TestQuarantine:
    def test_a_child_counts_what_it_shows(self, write: Write, actor: Actor) -> None:
        bad = write("Bad.", agent="mallory")
        write("Good.")
        facts.set_verification(fact_id=bad.uid, verdict="verified", actor=actor)
        branches.create_branch(name="task/x", actor=actor)
        write("Own.", branch="task/x")
        hide(actor, "mallory")
        stats = branches.load_stats(name="task/x", actor=actor)
        assert (stats.facts["active"], stats.verification["verified"]) == (2, 0)
        summary = summarize_branch(branch_name="task/x", actor=actor)
        found = engine.overview(actor=actor, branch_name="task/x")
        assert summary.verification == stats.verification == found.verification
        assert (summary.facts, sum(summary.methods.values())) == (2, 0)

    def test_a_hidden_session_is_not_counted(self, write: Write, actor: Actor) -> None:
        write("Bad.", agent="eve", session_id="e1")
        write("Good.", session_id="s1")
        quarantines.create_quarantine(source="session", target="e1", actor=actor)
        assert branches.load_stats(name="main", actor=actor).sessions == 1
        assert engine.overview(actor=actor).counts["sessions"] == 1

    def test_a_question_about_what_is_hidden_waits(self, write: Write, actor: Actor, main: Branch) -> None:
        bad, good = write("Bad.", agent="mallory"), write("Good.")
        ask(main, good, bad)
        assert engine.curation_analytics(actor=actor).open_questions["near_duplicate"] == 1
        hide(actor, "mallory")
        assert engine.curation_analytics(actor=actor).open_questions["near_duplicate"] == 0


def test_verified_is_what_the_sources_bear_everywhere(write: Write, actor: Actor) -> None:
    source, derived = write("Source."), write("Derived.")
    link = {"from_id": derived.uid, "to_id": source.uid, "link_type": "CONSOLIDATED_FROM"}
    LinkEngine().write_link(**link, actor=actor)
    facts.set_verification(fact_id=derived.uid, verdict="verified", actor=actor)
    FactAssessment._base_manager.filter(uid=derived.uid).update(method="judge")
    expected = {"verified": 0, "plausible": 0, "invalidated": 0, "unverified": 2}
    assert engine.overview(actor=actor).verification == expected
    assert branches.load_stats(name="main", actor=actor).verification == expected
    assert summarize_branch(branch_name="main", actor=actor).verification == expected
    facts.update_fact(fact_id=derived.uid, updates={"fact_text": "Derived, in other words."}, actor=actor)
    assert branches.load_stats(name="main", actor=actor).verification == expected


def test_junk_is_rejected_while_it_is_in_use(write: Write, actor: Actor) -> None:
    rejected, edited, archived = write("Wrong."), write("Edited."), write("Gone.")
    for one in (rejected, edited, archived):
        facts.set_verification(fact_id=one.uid, verdict="invalidated", actor=actor)
    facts.update_fact(fact_id=edited.uid, updates={"fact_text": "Anew."}, actor=actor)
    facts.archive_fact(fact_id=archived.uid, actor=actor)
    found = engine.list_junk(group="rejected", actor=actor)
    assert ([one.uid for one in found], engine.curation_analytics(actor=actor).junk.rejected) == (
        [rejected.uid],
        1,
    )


class TestQuestioned:
    def test_a_fact_counts_once_and_only_in_use(self, write: Write, actor: Actor, main: Branch) -> None:
        one, two, gone, new = write("One."), write("Two."), write("Gone."), write("New.")
        for other in (one, two, gone):
            ask(main, new, other)
        ask(main, gone, one)
        facts.archive_fact(fact_id=gone.uid, actor=actor)
        found = engine.list_junk(group="near_duplicate", actor=actor)
        assert [fact.uid for fact in found] == [new.uid]
        junk = engine.curation_analytics(actor=actor).junk
        assert (junk.near_duplicate, junk.contradicted) == (1, 0)


def test_rejected_facts_are_of_their_present_text(write: Write, actor: Actor) -> None:
    kept, edited = write("Kept.", agent="ada"), write("Edited.", agent="ada")
    branches.create_branch(name="task/x", actor=actor)
    for one, name in ((kept, "task/x"), (edited, "main")):
        facts.set_verification(fact_id=one.uid, verdict="invalidated", actor=actor, branch_name=name)
    facts.update_fact(fact_id=edited.uid, updates={"fact_text": "Anew."}, actor=actor)
    write("Own.", branch="task/x", agent="bob")
    for name, at, expected in (("main", None, 0), ("main", 3, 1), ("task/x", None, 1)):
        figures = engine.agent_analytics(agent_id="ada", actor=actor, branch_name=name, at=at)
        assert figures.rejected == expected, (name, at)


@pytest.mark.parametrize("level", ["agent", "task", "dreaming"])
def test_yield_is_of_sessions(actor: Actor, project: Project, main: Branch, level: str) -> None:
    fixed = {"project": project, "branch": main, "state": "done", "started_at": timezone.now()}
    ConsolidationRun.objects.create(**fixed, level="session", target="s", observations=100, created=10)
    ConsolidationRun.objects.create(
        **fixed, level=level, target="main", observations=5000, created=3, input_tokens=7
    )
    found = engine.overview(actor=actor)
    yields = found.consolidation
    assert (yields.runs, yields.processed, yields.created, yields.healthy) == (1, 100, 10, True)
    assert found.model_tokens["consolidation_input"] == 7


class TestDays:
    def test_what_a_merge_brought_is_of_its_own_day(
        self, actor: Actor, project: Project, main: Branch, without_gates: None
    ) -> None:
        branches.create_branch(name="task/x", actor=actor)
        long_ago = timezone.now() - timedelta(days=365)
        Branch.objects.filter(name="task/x").update(head_at=long_ago, created_at=long_ago)
        ada = backdate(project, 40).with_origin(agent_id="ada")
        facts.write_fact(fact_text="Old.", actor=ada, branch_name="task/x")
        facts.write_fact(
            fact_text="New.",
            actor=actor.with_origin(agent_id="ada"),
            branch_name="task/x",
            category="decision",
        )
        MergeEngine().merge_branch(source="task/x", actor=actor)
        (day,) = engine.list_agent_days(actor=actor, day=today())
        assert (day.agent_id, day.facts, day.categories) == ("ada", 1, ["decision"])
        (before,) = engine.list_agent_days(actor=actor, day=today() - timedelta(days=40))
        assert (before.facts, before.categories) == (1, ["general"])

    def test_a_decision_is_no_call_of_a_tool(self, actor: Actor, main: Branch, did: Any) -> None:
        who = actor.with_origin(agent_id="ada", session_id="s1")
        ObservationEngine().write_observation(observation_type="decision", summary="We chose.", actor=who)
        did("Bash", "make", outcome="error", agent_id="ada")
        (day,) = engine.list_agent_days(actor=actor, day=today())
        assert (day.agent_id, day.calls, day.failed) == ("ada", 1, 1)

    def test_queries_do_not_grow_with_branches(self, write: Write, actor: Actor) -> None:
        def count_queries() -> int:
            with CaptureQueriesContext(connection) as queries:
                engine.list_agent_days(actor=actor, day=today())
            return len(queries)

        write("One.")
        before = count_queries()
        for name in ("task/a", "task/b", "task/c"):
            branches.create_branch(name=name, actor=actor)
            write(f"On {name}.", branch=name)
        assert count_queries() == before
        (day,) = engine.list_agent_days(actor=actor, day=today())
        assert day.facts == 4


class TestRanges:
    NOW = datetime(2026, 11, 26, 15, 51, tzinfo=UTC)

    @pytest.mark.parametrize("hour", [1, 9, 15, 17, 23])
    def test_days_before_a_time_are_whole_days(self, hour: int) -> None:
        until = datetime(2026, 11, 20, hour, tzinfo=UTC)
        days = TimeRange.from_end(2, until, self.NOW)
        assert (days.since.isoformat(), days.length) == ("2026-11-19T00:00:00+00:00", 2)
        hours = TimeRange.from_end(1, until, self.NOW, "hour")
        assert (hours.since.isoformat(), hours.length) == ("2026-11-20T00:00:00+00:00", hour)

    def test_midnight_is_the_end_of_a_day(self) -> None:
        hours = TimeRange.from_end(1, datetime(2026, 11, 20, tzinfo=UTC), self.NOW, "hour")
        assert (hours.since.isoformat(), hours.length) == ("2026-11-19T00:00:00+00:00", 24)

    @pytest.mark.parametrize("year", [1, 1900])
    def test_a_time_long_ago_is_refused(self, actor: Actor, main: Branch, year: int) -> None:
        with pytest.raises(Invalid, match="until is at most 36525 days ago"):
            engine.trends(actor=actor, until=datetime(year, 1, 2, tzinfo=UTC))


class TestPoints:
    def test_a_past_point_counts_nothing_later(
        self, write: Write, actor: Actor, project: Project, main: Branch
    ) -> None:
        one, two = write("One."), write("Two.")
        main.refresh_from_db()
        past = main.head
        SearchEngine().search(query="One", actor=actor)
        buffer.flush()
        ask(main, one, two, kind="contested")
        ask(main, two, one, status="resolved", resolution="dismiss", resolved_at=timezone.now())
        write("Three.")
        then, now = (engine.overview(actor=actor, at=at).activity["recalls"] for at in (past, None))
        assert (then, now) == (0, 1)
        before, after = (engine.curation_analytics(actor=actor, at=at) for at in (past, None))
        assert (before.open_questions["contested"], before.answers) == (0, {})
        assert (after.open_questions["contested"], after.answers) == (1, {"dismiss": 1})

    def test_commits_before_the_fork_are_the_parents(self, write: Write, actor: Actor) -> None:
        for number in range(5):
            write(f"Main {number}.")
        branches.create_branch(name="task/x", actor=actor)
        write("Child.", branch="task/x", agent="zed")
        found = engine.overview(actor=actor, branch_name="task/x", at=-2)
        assert (found.counts["facts"], found.activity["commits"], found.activity["agents"]) == (3, 3, 1)


def test_recalls_of_a_session_are_those_on_its_branch(write: Write, actor: Actor) -> None:
    write("One.", session_id="s1")
    branches.create_branch(name="secret/x", actor=actor)
    for name in ("main", "secret/x"):
        SearchEngine().search(query="One", actor=replace(actor, session_id="s1"), branch_name=name)
    buffer.flush()
    bound = replace(actor, branch_patterns=("main",))
    assert engine.session_analytics(session_id="s1", actor=bound).recalls == 1


def test_facts_of_a_conversation_are_those_that_came_of_it_and_are_shown(
    write: Write, say: Any, actor: Actor
) -> None:
    def link(fact_id: UUID, link_type: str) -> FactLink:
        return FactLink(from_id=fact_id, to_id=message.uid, to_type="message", link_type=link_type)

    message = say("Hello there.", role="user")
    derived, disputed = write("Derived."), write("Disputed.")
    with open_commit(actor, "main", "link") as commit:
        commit.add_rows([link(derived.uid, "DERIVED_FROM"), link(disputed.uid, "CONTESTED_BY")])
    talk = {"conversation_id": Conversation._base_manager.get().uid, "actor": actor}
    assert engine.conversation_analytics(**talk).facts == 1
    facts.delete_fact(fact_id=derived.uid, actor=actor)
    assert engine.conversation_analytics(**talk).facts == 0


def test_a_fork_counts_what_it_shares_too(actor: Actor, main: Branch) -> None:
    talks, messages = ConversationEngine(), MessageEngine()
    talk = talks.create_conversation(actor=actor, session_id="s1")
    said = messages.write_message(conversation_id=talk.uid, role="user", content="Hello there.", actor=actor)
    fork = talks.fork_conversation(
        conversation_id=talk.uid, message_id=said.uid, actor=actor, session_id="s2"
    )
    messages.write_message(conversation_id=fork.uid, role="user", content="On the fork.", actor=actor)
    found = [engine.conversation_analytics(conversation_id=one.uid, actor=actor) for one in (talk, fork)]
    assert [(one.messages, one.shared_messages, one.forks) for one in found] == [(1, 0, 1), (2, 1, 0)]
    assert found[1].messages_by_role["user"] == 2


def test_a_search_over_several_branches_is_in_no_figures(write: Write, actor: Actor) -> None:
    write("One.")
    branches.create_branch(name="task/x", actor=actor)
    SearchEngine().search_cross_branch(query="One", branch_names=["main", "task/x"], actor=actor)
    buffer.flush()
    found = [engine.overview(actor=actor, branch_name=name) for name in ("main", "task/x")]
    assert [one.activity["recalls"] for one in found] == [0, 0]
