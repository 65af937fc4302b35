"""Figures of a project: what its agents do, what its memory holds, how well it is kept. Counts only.

See docs/decisions/0046. What the caller may not read is not counted: each figure is of one branch that it may
use, read as everything else on it is.
"""

from collections import Counter
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, cast
from uuid import UUID

from analytics.engines import events
from analytics.engines import tallies as t
from analytics.engines.answers import (
    AgentFigures,
    AgentRecord,
    ConversationFigures,
    CurationFigures,
    Dashboard,
    EndUsers,
    Overview,
    Point,
    SessionFigures,
    Trends,
)
from analytics.engines.days import AgentDay, list_agent_days
from analytics.engines.details import build_agent, build_conversation, fill, list_tools
from analytics.engines.end_users import list_end_users
from analytics.engines.junk import count_answers, count_junk, count_open, count_rejected, list_junk
from analytics.engines.ranges import DAY, MAX_DAYS, STEPS, TimeRange
from analytics.engines.scopes import Scope, find_agent, find_conversation, list_branches, order_counts, share
from analytics.engines.tellings import count_tellings
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.branches.stats import count_verification
from memory.engines.fields.base import Field, Option
from memory.engines.fields.common import BRANCH, END_USER
from memory.engines.fields.types import Choice, Moment, Whole
from memory.engines.sessions.manager import SessionManager
from memory.engines.support import validation as c
from memory.engines.support.pagination import check_limit
from memory.engines.versions.lookup import MAIN
from memory.exceptions import NotFound
from memory.models import Fact, FactAssessment, Observation, RecallLog

DAYS = 30
LAST_DAYS = Field(
    "days",
    Whole(1, MAX_DAYS),
    "The last days, today included.",
    option=Option("the last days, today included (30)", metavar="N"),
)
GRANULARITY = Field(
    "granularity",
    Choice([(step, step) for step in STEPS]),
    "Of the points, in UTC.",
    option=Option("day or hour (day)", checked=True),
)
SINCE = Field("since", Moment(), "Instead of days.", option=Option("instead of days: from this time on"))
UNTIL = Field("until", Moment(), "The end of the range.", option=Option("up to this time"))
ANY_BRANCH = BRANCH.with_traits(
    help="When it is not given: main, else where it is found.",
    option=Option("default: main, else where it is found", metavar="NAME"),
)
USER, APP = END_USER
MAX_AGENTS = 100
Outcome = Observation.Outcome
Verdict = FactAssessment.Status


@retry_methods
class AnalyticsEngine:
    def overview(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        days: Annotated[int, LAST_DAYS] = DAYS,
        at: Any = None,
    ) -> Overview:
        """Return what a branch holds, and what happened there in the last days.

        Raises Invalid, BranchNotFound, scope and branch refusals.
        """
        return build_overview(Scope.open(actor, branch_name, at), days)

    def session_analytics(self, *, session_id: str, actor: Actor) -> SessionFigures:
        """Return what a session did, on its branch. Raises NotFound, BranchForbidden."""
        session = SessionManager().get_session(session_id=session_id, actor=actor)
        scope = Scope.open(actor, session.branch.name)
        own = {"session_id": session.key}
        talks = Conversation.objects.in_lineage(scope.lineage).filter(**own).rows().values("uid")
        facts, seen = scope.count(t.FACTS, **own), scope.count(t.OBSERVATIONS, **own)
        roles = t.regroup(scope.count(t.MESSAGES, conversation_id__in=talks), t.MESSAGES, "role")
        return SessionFigures(
            session_id=session.key,
            branch=scope.branch.name,
            agent_id=session.agent_id,
            status=session.status,
            started_at=session.started_at,
            ended_at=session.ended_at,
            conversations=sum(scope.count(t.CONVERSATIONS, **own).values()),
            messages=sum(roles.values()),
            messages_by_role=fill(Message.Role.values, roles),
            tokens=sum_tokens(scope.count(t.MESSAGE_TOKENS, conversation_id__in=talks)),
            facts=sum(facts.values()),
            facts_by_status=fill(Fact.Status.values, t.regroup(facts, t.FACTS, "status")),
            facts_by_category=order_counts(t.regroup(facts, t.FACTS, "category")),
            observations=sum(seen.values()),
            observations_by_type=t.regroup(seen, t.OBSERVATIONS, "observation_type"),
            observations_by_outcome=fill(Outcome.values, t.regroup(seen, t.OBSERVATIONS, "outcome")),
            tools=list_tools(seen),
            recalls=RecallLog.objects.filter(
                project=actor.project_id, branch=scope.branch.name, **own
            ).count(),
        )

    def agent_analytics(
        self, *, agent_id: str, actor: Actor, branch_name: Annotated[str, ANY_BRANCH] = "", at: Any = None
    ) -> AgentFigures:
        """Return what an agent did on a branch, and what became of its facts.

        Without a branch it is main, or where the agent did something last. Raises NotFound, Invalid, branch
        refusals.
        """
        actor.require_scope("read")
        c.text_check(200, min_length=1)("agent_id", agent_id)
        for name in list_branches(actor, branch_name, partial(find_agent, agent_id=agent_id)):
            if found := build_agent(Scope.open(actor, name, at), agent_id):
                return found
        raise NotFound("No agent with this name did anything here.")

    def end_users(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        user_id: Annotated[str, USER] = "",
        app_id: Annotated[str, APP] = "",
        at: Any = None,
    ) -> EndUsers:
        """Return what a branch holds of each end user, those with most facts first.

        Raises Invalid, BranchNotFound, scope and branch refusals.
        """
        return list_end_users(actor, branch_name, at, user_id=user_id, app_id=app_id)

    def trends(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        granularity: Annotated[str, GRANULARITY] = DAY,
        days: Annotated[int, LAST_DAYS] = DAYS,
        since: Annotated[datetime | None, SINCE] = None,
        until: Annotated[datetime | None, UNTIL] = None,
        at: Any = None,
    ) -> Trends:
        """Return what was written in each day or hour of a range, in at most 400 points. Raises Invalid."""
        scope = Scope.open(actor, branch_name, at)
        if since:
            span = TimeRange.from_times(since, until, scope.now, granularity)
        else:
            span = TimeRange.from_end(days, until or scope.now, scope.now, granularity)
        return build_trends(scope, span)

    def conversation_analytics(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: Annotated[str, ANY_BRANCH] = "",
        at: Any = None,
    ) -> ConversationFigures:
        """Return who said how much in a conversation, its forks and its facts.

        Without a branch it is main, or one that has the conversation. Raises NotFound, branch refusals.
        """
        actor.require_scope("read")
        others = partial(find_conversation, conversation_id=conversation_id)
        for name in list_branches(actor, branch_name, others):
            if found := build_conversation(Scope.open(actor, name, at), conversation_id):
                return found
        raise NotFound("No conversation with this id is visible here.")

    def curation_analytics(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        days: Annotated[int, LAST_DAYS] = DAYS,
        at: Any = None,
    ) -> CurationFigures:
        """Return verdicts, answers, what waits, and what is junk; for curators, who may see the questions."""
        actor.require_scope("curate", branch_name)
        return build_curation(Scope.open(actor, branch_name, at), days)

    def load_dashboard(
        self, *, actor: Actor, branch_name: str = MAIN, days: int = DAYS, at: Any = None
    ) -> Dashboard:
        """Return overview, trends by day, and for a curator those of curation: each tally is made once.

        Raises Invalid, BranchNotFound, scope and branch refusals.
        """
        scope = Scope.open(actor, branch_name, at)
        span = TimeRange.from_end(days, scope.now, scope.now)
        curation = build_curation(scope, days) if actor.has_scope("curate") else None
        return Dashboard(
            build_overview(scope, days), build_trends(scope, span), curation, count_tellings(scope, span)
        )

    def list_junk(
        self, *, group: str, actor: Actor, branch_name: str = MAIN, limit: int = 50, at: Any = None
    ) -> list[Fact]:
        """Return the first facts of a group of junk; for curators. Raises Invalid."""
        actor.require_scope("curate", branch_name)
        return list_junk(Scope.open(actor, branch_name, at), group, check_limit(limit))

    def count_added(
        self, *, actor: Actor, days: int, branch_name: str = MAIN, at: Any = None
    ) -> tuple[TimeRange, list[int]]:
        """Return the last days, and how many of the facts that the branch shows each of them brought."""
        scope = Scope.open(actor, branch_name, at)
        span = TimeRange.from_days(days, scope.now)
        return span, span.spread(t.regroup(scope.tally(t.FACT_DAYS), t.FACT_DAYS, "day"))

    def list_agent_days(self, *, actor: Actor, day: date) -> list[AgentDay]:
        """Return what each agent did on a day in UTC, on all branches that the actor may use."""
        actor.require_scope("read")
        return list_agent_days(actor, day)


# ---- pieces ----------------------------------------------------------------------------------------------


def build_overview(scope: Scope, days: int) -> Overview:
    span, facts = TimeRange.from_days(days, scope.now), scope.tally(t.FACTS)
    counts, verdicts = count_memories(scope), count_verdicts(scope)
    return Overview(
        branch=scope.branch.name,
        since=span.since,
        until=span.until,
        counts=counts,
        facts_by_status=fill(Fact.Status.values, t.regroup(facts, t.FACTS, "status")),
        facts_by_category=order_counts(t.regroup(facts, t.FACTS, "category")),
        verification=verdicts,
        tokens=sum_tokens(scope.tally(t.MESSAGE_TOKENS)),
        model_tokens=events.count_model_tokens(scope, span),
        activity=count_activity(scope, span),
        consolidation=events.measure_yield(scope, span),
        verified_share=share(verdicts["verified"], counts["facts"]),
    )


def build_trends(scope: Scope, span: TimeRange) -> Trends:
    return Trends(
        branch=scope.branch.name,
        granularity=cast(Any, span.granularity),
        periods=span.periods,
        since=span.since,
        until=span.until,
        points=list_points(scope, span),
    )


def build_curation(scope: Scope, days: int) -> CurationFigures:
    span, methods = TimeRange.from_days(days, scope.now), FactAssessment.Method.values
    answers, hours = count_answers(scope, span)
    return CurationFigures(
        branch=scope.branch.name,
        since=span.since,
        until=span.until,
        verdicts=count_verdicts(scope),
        verdicts_by_method=fill(methods, t.regroup(scope.tally(t.VERDICTS), t.VERDICTS, "method")),
        recent_verdicts=count_recent_verdicts(scope, span),
        answers=answers,
        open_questions=count_open(scope),
        median_answer_hours=hours,
        junk=count_junk(scope),
        agents=list_records(scope),
    )


def count_memories(scope: Scope) -> dict[str, int]:
    measures = {
        "facts": t.FACTS,
        "conversations": t.CONVERSATIONS,
        "messages": t.MESSAGES,
        "observations": t.OBSERVATIONS,
        "relations": t.RELATIONS,
    }
    found = {name: sum(scope.tally(measure).values()) for name, measure in measures.items()}
    return found | {"sessions": events.filter_sessions(scope).count()}


def count_verdicts(scope: Scope) -> dict[str, int]:
    """Return the facts by their verdict: one on what they say now, that their sources bear."""
    verdicts = t.regroup(tally_verdicts(scope), t.VERDICTS, "status")
    return count_verification(scope.lineage, sum(scope.tally(t.FACTS).values()), verdicts)


def tally_verdicts(scope: Scope) -> t.Tally:
    """Return the tally of verdicts as they are read: it is kept as they are stored."""
    found: t.Tally = Counter()
    for (status, method, *rest), count in scope.tally(t.VERDICTS).items():
        found[FactAssessment.read_status(status, method), method, *rest] += count
    return found


def count_recent_verdicts(scope: Scope, span: TimeRange) -> dict[str, int]:
    """Return the verdicts of people and judges in force that were given in the range."""
    tally = tally_verdicts(scope)
    days = {
        v: t.regroup(tally, t.VERDICTS, "judged", where={"status": [v]})
        for v in (Verdict.VERIFIED, Verdict.INVALIDATED)
    }
    return {str(verdict): span.sum_up(counts) for verdict, counts in days.items()}


def sum_tokens(tally: t.Tally) -> dict[str, int]:
    """Return the tokens of each role, and of all together."""
    roles = fill(Message.Role.values, t.regroup(tally, t.MESSAGE_TOKENS, "role"))
    return {"total": sum(roles.values()), **roles}


def count_activity(scope: Scope, span: TimeRange) -> dict[str, int]:
    """Return what was written in the range, and how often memory was asked."""
    found = {
        name: span.sum_up(t.regroup(scope.tally(m), m, "day")) for name, m in MEASURES_BY_STEP["day"].items()
    }
    recalls, misses = events.count_recalls(scope, span)
    started = events.filter_sessions(scope).filter(started_at__gte=span.since).count()
    return {
        **found,
        "sessions": started,
        "recalls": sum(recalls.values()),
        "misses": sum(misses.values()),
        **events.count_commits(scope, span),
    }


MEASURES_BY_STEP = {
    "day": {
        "facts": t.FACT_DAYS,
        "messages": t.MESSAGES,
        "conversations": t.CONVERSATION_DAYS,
        "observations": t.OBSERVATION_DAYS,
    },
    "hour": {
        "facts": t.FACT_HOURS,
        "messages": t.MESSAGE_HOURS,
        "conversations": t.CONVERSATION_HOURS,
        "observations": t.OBSERVATION_HOURS,
    },
}


def list_points(scope: Scope, span: TimeRange) -> list[Point]:
    written = MEASURES_BY_STEP[span.granularity]
    found = {name: span.spread(t.regroup(scope.tally(m), m, span.granularity)) for name, m in written.items()}
    recalls, misses = events.count_recalls(scope, span)
    found |= {"recalls": span.spread(recalls), "misses": span.spread(misses)}
    return [
        Point(start=start, **{name: counts[index] for name, counts in found.items()})
        for index, start in enumerate(span.starts)
    ]


def list_records(scope: Scope) -> list[AgentRecord]:
    """Return the agents by their rejected facts, the most first; at most 100."""
    facts = t.regroup(scope.tally(t.FACTS), t.FACTS, "agent_id")
    rejected = count_rejected(scope)
    records = [AgentRecord(a, facts[a], rejected[a], share(rejected[a], facts[a])) for a in facts if a]
    return sorted(records, key=lambda one: (-one.rejected, -one.facts, one.agent_id))[:MAX_AGENTS]
