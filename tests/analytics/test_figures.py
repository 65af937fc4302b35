"""The figures of the engine, compared with what was written."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.engines.engine import AnalyticsEngine
from analytics.engines.ranges import TimeRange
from conversations.models import ConsolidationRun
from curation.engines.quarantine.engine import QuarantineEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.exceptions import BranchForbidden, BranchNotFound, Invalid, NotFound, ScopeMissing
from memory.models import Branch, Commit, FactUse, Project, RecallLog
from memory.models.base import Blank

pytestmark = pytest.mark.django_db(transaction=True)
engine, facts = AnalyticsEngine(), FactEngine()
Write = Callable[..., Any]


@pytest.fixture(autouse=True)
def without_vectors(settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off"}


@pytest.fixture
def write(actor: Actor, main: Branch) -> Write:
    def write(text: str, agent: str = "ada", branch: str = "main", **fields: Any) -> Any:
        who = actor.with_origin(agent_id=agent)
        return facts.write_fact(fact_text=text, actor=who, branch_name=branch, **fields).fact

    return write


def backdate(project: Project, days: int) -> Actor:
    """Return an actor whose commits are dated so many days ago, on a branch without a later one."""
    long_ago = timezone.now() - timedelta(days=365)
    Branch.objects.filter(project=project, head=0).update(head_at=long_ago, created_at=long_ago)
    who = Actor(project.pk, "local", label="old", scopes=frozenset({"admin"}))
    return who.acting_at(timezone.now() - timedelta(days=days))


class TestOverview:
    def test_counts_what_the_branch_shows_and_what_happened(
        self, write: Write, say: Any, did: Any, actor: Actor, project: Project
    ) -> None:
        facts.write_fact(fact_text="Old.", actor=backdate(project, 40))
        first, second = write("One.", category="decision"), write("Two.")
        facts.set_verification(fact_id=first.uid, verdict="verified", actor=actor)
        facts.archive_fact(fact_id=second.uid, actor=actor)
        say("Hello there.", role="user")
        did("Bash", "make")
        found = engine.overview(actor=actor)
        assert found.counts == {
            "facts": 3,
            "conversations": 1,
            "messages": 1,
            "observations": 1,
            "relations": 0,
            "sessions": 1,
        }
        assert (found.facts_by_status["active"], found.facts_by_status["archived"]) == (2, 1)
        assert found.facts_by_category == {"general": 2, "decision": 1}
        assert found.verification == {"verified": 1, "plausible": 0, "invalidated": 0, "unverified": 2}
        assert found.verified_share == 0.3333
        assert (found.tokens["user"], found.tokens["total"]) == (found.tokens["total"],) * 2
        assert found.tokens["total"] > 0
        written = {name: found.activity[name] for name in ("facts", "messages", "observations", "sessions")}
        assert written == {"facts": 2, "messages": 1, "observations": 1, "sessions": 1}
        assert (found.activity["commits"], found.activity["agents"]) == (7, 1)
        assert engine.overview(actor=actor, days=60).activity["facts"] == 3

    def test_a_child_counts_as_a_whole_branch_would(self, write: Write, actor: Actor) -> None:
        kept, gone, changed = (write(text, category="decision") for text in ("One.", "Two.", "Three."))
        facts.set_verification(fact_id=changed.uid, verdict="verified", actor=actor)
        BranchManager().create_branch(name="task/x", actor=actor)
        where = {"actor": actor, "branch_name": "task/x"}
        facts.delete_fact(fact_id=gone.uid, **where)
        facts.update_fact(fact_id=changed.uid, updates={"essence": "Three and a half."}, **where)
        facts.set_verification(fact_id=kept.uid, verdict="invalidated", **where)
        write("Four.", branch="task/x")
        write("Five, which only main has.")
        found = engine.overview(**where)
        assert found.counts["facts"] == 3
        assert found.facts_by_category == {"decision": 2, "general": 1}
        assert found.verification == {"verified": 0, "plausible": 0, "invalidated": 1, "unverified": 2}
        assert found.activity["facts"] == 3
        there = engine.overview(actor=actor)
        assert there.counts["facts"] == 4
        assert there.verification == {"verified": 1, "plausible": 0, "invalidated": 0, "unverified": 3}

    def test_a_past_point_is_read_as_it_was(self, write: Write, actor: Actor, main: Branch) -> None:
        write("One.")
        main.refresh_from_db()
        point = main.head
        write("Two.")
        found = engine.overview(actor=actor, at=point)
        assert (found.counts["facts"], found.activity["facts"], found.activity["commits"]) == (1, 1, 1)

    def test_yield_is_of_runs_that_stand(self, actor: Actor, project: Project, main: Branch) -> None:
        def add_run(days: int = 0, **values: Any) -> None:
            fixed = {"project": project, "branch": main, "level": "session", "target": "s1", "state": "done"}
            begun = timezone.now() - timedelta(days=days)
            ConsolidationRun.objects.create(**{**fixed, "started_at": begun, **values})

        assert engine.overview(actor=actor).consolidation.healthy is None
        add_run(messages=40, observations=60, created=10, input_tokens=7)
        add_run(messages=50, created=50, state="undone")
        add_run(messages=50, created=50, days=31)
        found = engine.overview(actor=actor)
        assert (found.consolidation.runs, found.consolidation.processed) == (1, 100)
        assert (found.consolidation.rate, found.consolidation.healthy) == (0.1, True)
        assert found.model_tokens["consolidation_input"] == 7
        add_run(observations=100, created=100)
        low = engine.overview(actor=actor).consolidation
        assert (low.rate, low.healthy) == (0.55, False)

    def test_quarantine_and_erasure_leave_their_mark(self, write: Write, actor: Actor) -> None:
        write("One.", agent="eve", category="decision")
        fact = write("Two.", category="decision")
        BranchManager().create_branch(name="task/x", actor=actor)
        QuarantineEngine().create_quarantine(source="agent", target="eve", actor=actor)
        for branch in ("main", "task/x"):
            found = engine.overview(actor=actor, branch_name=branch)
            assert (found.counts["facts"], found.facts_by_category) == (1, {"decision": 1})
        ErasureEngine().erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)
        found = engine.overview(actor=actor)
        assert (found.facts_by_status["active"], found.facts_by_category) == (0, {"general": 1})
        assert Blank.DIGEST.value not in str(found)

    def test_merges_and_reverts_are_counted(self, write: Write, actor: Actor, without_gates: None) -> None:
        BranchManager().create_branch(name="task/x", actor=actor)
        write("One.", branch="task/x")
        MergeEngine().merge_branch(source="task/x", actor=actor)
        assert engine.overview(actor=actor).counts["facts"] == 1
        merge = Commit.objects.filter(branch__name="main").order_by("-seq")[0]
        RevertEngine().revert_commit(commit_id=merge.pk, actor=actor)
        assert engine.overview(actor=actor).counts["facts"] == 0


class TestSessionsAndAgents:
    def test_a_session_with_its_tools(self, say: Any, did: Any, actor: Actor, write: Write) -> None:
        write("One.", session_id="s1", category="decision")
        say("Why?", role="user")
        say("Because.")
        did("Bash", "make")
        did("Bash", "make all", outcome="error")
        did("Read", "x", session="s2")
        found = engine.session_analytics(session_id="s1", actor=actor)
        assert (found.agent_id, found.branch, found.conversations, found.messages) == ("ada", "main", 2, 2)
        assert (found.messages_by_role["user"], found.messages_by_role["assistant"]) == (1, 1)
        assert (found.facts, found.facts_by_category, found.observations) == (1, {"decision": 1}, 2)
        assert found.tokens["total"] == found.tokens["user"] + found.tokens["assistant"] > 0
        assert [(one.tool, one.calls, one.failed) for one in found.tools] == [("Bash", 2, 1)]
        with pytest.raises(NotFound):
            engine.session_analytics(session_id="nobody", actor=actor)

    def test_an_agent_with_its_rejected_facts(self, write: Write, actor: Actor, did: Any) -> None:
        right, wrong = write("One.", session_id="s1"), write("Two.", category="decision")
        write("Three.", agent="bob")
        facts.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
        facts.set_verification(fact_id=right.uid, verdict="verified", actor=actor)
        did("Bash", "make", agent_id="ada")
        found = engine.agent_analytics(agent_id="ada", actor=actor)
        assert (found.sessions, found.facts, found.rejected, found.rejected_share) == (1, 2, 1, 0.5)
        assert found.facts_by_category == {"decision": 1, "general": 1}
        assert [(one.tool, one.calls) for one in found.tools] == [("Bash", 1)]
        with pytest.raises(NotFound):
            engine.agent_analytics(agent_id="nobody", actor=actor)

    def test_a_conversation_with_its_roles(self, say: Any, actor: Actor) -> None:
        message = say("Why is that so?", role="user")
        found = engine.conversation_analytics(conversation_id=message.conversation_id, actor=actor)
        assert (found.messages, found.messages_by_role["user"], found.forks, found.facts) == (1, 1, 0, 0)
        assert found.tokens == found.tokens_by_role["user"] == message.token_count
        with pytest.raises(NotFound):
            engine.conversation_analytics(conversation_id=message.uid, actor=actor)


class TestTrends:
    def test_points_of_days_and_hours(self, write: Write, actor: Actor, project: Project) -> None:
        facts.write_fact(fact_text="Old.", actor=backdate(project, 2))
        write("One.")
        days = engine.trends(actor=actor, days=3)
        assert (days.periods, [point.facts for point in days.points]) == (1, [1, 0, 1])
        hours = engine.trends(actor=actor, days=3, granularity="hour")
        assert (hours.periods, sum(point.facts for point in hours.points)) == (1, 2)
        assert len(hours.points) == 49 + timezone.now().hour

    def test_recalls_and_those_that_found_nothing(self, actor: Actor, project: Project, main: Branch) -> None:
        for ids in (["0"], []):
            log = {"project": project, "at": timezone.now(), "branch": "main", "query": "secret words"}
            RecallLog.objects.create(**log, fact_ids=ids, surface="api")
        (point,) = engine.trends(actor=actor, days=1).points
        assert (point.recalls, point.misses) == (2, 1)

    def test_ten_years_are_a_bounded_number_of_points(self, write: Write, actor: Actor) -> None:
        write("One.")
        for granularity in ("day", "hour"):
            found = engine.trends(actor=actor, days=3652, granularity=granularity)
            assert 365 < len(found.points) <= 400
            assert sum(point.facts for point in found.points) == 1

    def test_a_range_of_times(self, write: Write, actor: Actor, project: Project) -> None:
        now = timezone.now()
        facts.write_fact(fact_text="Old.", actor=backdate(project, 5))
        write("One.")
        since, until = now - timedelta(days=6), now - timedelta(days=4)
        found = engine.trends(actor=actor, since=since, until=until)
        assert [point.facts for point in found.points] == [0, 1, 0]
        assert (found.since, found.until) == (floor(since), floor(until) + timedelta(days=1))

    @pytest.mark.parametrize(
        "asked",
        [
            {"days": 0},
            {"days": 40_000},
            {"granularity": "week"},
            {"since": datetime(2999, 1, 1, tzinfo=UTC)},
            {"since": datetime(1801, 1, 1, tzinfo=UTC)},
            {"since": datetime(2020, 1, 2, tzinfo=UTC), "until": datetime(2020, 1, 1, tzinfo=UTC)},
        ],
    )
    def test_other_ranges_are_refused(self, actor: Actor, main: Branch, asked: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            engine.trends(actor=actor, **asked)

    def test_a_point_covers_whole_periods(self) -> None:
        now = datetime(2026, 11, 26, 10, 30, tzinfo=UTC)
        span = TimeRange.from_days(500, now)
        assert (span.length, span.periods, len(span.starts)) == (500, 2, 250)
        assert span.spread({"2026-11-26": 3, "2026-11-25": 1, "1999-01-01": 9})[-1] == 4


def floor(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


class TestCuration:
    def test_verdicts_answers_and_rejected_facts(self, write: Write, actor: Actor, main: Branch) -> None:
        one, two = write("One."), write("Two.", agent="bob")
        facts.set_verification(fact_id=one.uid, verdict="verified", actor=actor)
        facts.set_verification(fact_id=two.uid, verdict="invalidated", actor=actor)
        ask(main, one, two, status="resolved", resolution="keep_both", resolved_at=timezone.now())
        found = engine.curation_analytics(actor=actor)
        assert found.verdicts == {"verified": 1, "plausible": 0, "invalidated": 1, "unverified": 0}
        assert found.recent_verdicts == {"verified": 1, "invalidated": 1}
        assert found.verdicts_by_method == {"human": 2, "judge": 0, "heuristic": 0}
        assert (found.answers, found.open_questions["near_duplicate"]) == ({"keep_both": 1}, 0)
        assert found.median_answer_hours == 0.0
        assert [(a.agent_id, a.facts, a.rejected, a.rejected_share) for a in found.agents] == [
            ("bob", 1, 1, 1.0),
            ("ada", 1, 0, 0.0),
        ]

    def test_junk(self, write: Write, actor: Actor, project: Project, main: Branch) -> None:
        old = backdate(project, 31)
        idle, used = (facts.write_fact(fact_text=text, actor=old).fact for text in ("Idle.", "Used."))
        FactUse.objects.create(uid=used.uid, project=project, access_count=1, last_accessed_at=timezone.now())
        write("Over.", valid_until=timezone.now() - timedelta(days=1))
        new = write("New.")
        ask(main, new, idle)
        ask(main, new, used, kind="contested")
        junk = engine.curation_analytics(actor=actor).junk
        assert (junk.in_use, junk.rejected, junk.stale) == (4, 0, 1)
        assert (junk.contradicted, junk.near_duplicate, junk.shares["stale"]) == (1, 1, 0.25)
        facts.archive_fact(fact_id=idle.uid, actor=actor)
        junk = engine.curation_analytics(actor=actor).junk
        assert (junk.in_use, junk.near_duplicate) == (3, 0)


def ask(branch: Branch, fact: Any, other: Any, **values: Any) -> None:
    fixed = {"kind": "near_duplicate", "score": 0.9, "pair": f"{branch.pk}:{fact.uid}:{other.uid}"}
    ids = {"fact_id": fact.uid, "other_id": other.uid}
    ReviewItem.objects.create(project=branch.project, branch=branch, **ids, **{**fixed, **values})


class TestRights:
    def test_what_a_key_may_not_read_is_refused(self, write: Write, project: Project) -> None:
        write("One.", session_id="s1")
        bound = Actor(project.pk, "key", scopes=frozenset({"read"}), branch_patterns=("task/*",))
        with pytest.raises(BranchForbidden):
            engine.overview(actor=bound)
        with pytest.raises(BranchForbidden):
            engine.session_analytics(session_id="s1", actor=bound)
        with pytest.raises(BranchNotFound):
            engine.trends(actor=bound, branch_name="task/none")
        reader = Actor(project.pk, "key", scopes=frozenset({"read"}))
        with pytest.raises(ScopeMissing):
            engine.curation_analytics(actor=reader)
        with pytest.raises(ScopeMissing):
            engine.overview(actor=Actor(project.pk, "key"))
