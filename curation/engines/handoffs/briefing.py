"""The handoff in the briefing of a session: the accepted one whole, of a waiting one that it waits."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from curation.engines.handoffs.packet import weaken_packets
from curation.models import Handoff
from memory.actors import Actor
from memory.db.raw_select import Statement, fetch_each, plan_equal
from memory.engines.facts.assessment import attach_belief
from memory.engines.sessions.briefing import PartLines
from memory.engines.sessions.lines import NOTED, VERIFIED, fenced_line, format_line, name_source
from memory.engines.sessions.utterances import find_utterances
from memory.models import Fact, FactAssessment, Session

CARRIED = timedelta(days=7)  # after its acceptance
MAX_TEXT_LENGTH = 600  # characters of the summary, and of the instructions
MAX_FACTS = 20
State, INVALIDATED = Handoff.State, FactAssessment.Status.INVALIDATED


class HandoffBriefing:
    """The part of a briefing that carries handoffs to the branch of the session."""

    def plan(self, session: Session) -> list[Statement]:
        """Return the statement that reads which handoffs to the branch were accepted or wait."""
        states = [State.ACCEPTED.value, State.PENDING.value]
        return plan_equal(
            Handoff, ("id",), target=[session.branch_id], hidden=[False], deleted_by=[""], state=states
        )

    def describe(self, session: Session, actor: Actor, now: datetime) -> PartLines:
        """Return the lines on the newest accepted handoff, else on the newest that waits."""
        is_usable = actor.may_use(session.branch.name)  # whoever continues it elsewhere
        if not is_usable or not fetch_each(self.plan(session)):
            return PartLines([], [])
        rows = Handoff.objects.filter(target=session.branch_id, hidden=False)
        rows = rows.select_related("source", "target")
        rows = rows.filter(Q(to_agent="") | Q(to_agent=session.agent_id))
        rows = rows.exclude(session_id=session.key).exclude(session_id__in=list_elsewhere(session))
        accepted = rows.filter(state=State.ACCEPTED, decided_at__gte=now - CARRIED)
        if found := accepted.order_by("-decided_at", "-id").first():
            weaken_packets([found])
            facts = list_standing_facts(found)
            return PartLines(
                list(describe_packet(found, facts)), [UUID(fact["id"]) for fact in facts[:MAX_FACTS]]
            )
        waiting = rows.filter(state=State.PENDING).order_by("-id").first()
        return PartLines([describe_waiting(waiting)] if waiting else [], [])


def list_elsewhere(session: Session) -> QuerySet[Session, str]:
    """Return the keys of the project's sessions in other repositories: what they hand over is theirs."""
    rows = (
        Session.objects.filter(project=session.project_id) if session.project_path else Session.objects.none()
    )
    return rows.exclude(project_path__in=("", session.project_path)).values_list("key", flat=True)


def list_standing_facts(handoff: Handoff) -> list[dict[str, str]]:
    """Return the facts of a packet but for those that were found to be wrong since it was made, with whose
    words they are.

    The packet stays as it was frozen; only nobody is told what its branch, or the receiver's, knows better.
    """
    ids, wrong, sources = [UUID(fact["id"]) for fact in handoff.facts], set[str](), dict[str, str]()
    for branch in (handoff.target, handoff.source):  # the words may stand on the source alone
        rows, lineage = Fact.objects.on(branch).filter(uid__in=ids).fetch_all(), branch.lineage()
        attach_belief(rows, lineage)
        wrong |= {str(row.uid) for row in rows if row.verification_status == INVALIDATED}
        heard = find_utterances(rows, lineage)
        sources |= {str(row.uid): name_source(row, heard.get(row.uid)) for row in rows}
    return [
        {**fact, "source": sources.get(fact["id"], NOTED)}
        for fact in handoff.facts
        if fact["id"] not in wrong
    ]


def describe_packet(handoff: Handoff, facts: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of an accepted handoff with these of its facts, the most important first."""
    day, who = handoff.created_at.date(), fenced_line(handoff.agent_id or handoff.created_by)
    head = f"Handed over by {who} ({day}, {handoff.handoff_type}, {handoff.pk})"
    ids = [fact["id"] for fact in handoff.facts]
    # The lines of facts follow by themselves.
    summary = [line for line in handoff.context_summary.splitlines() if not any(uid in line for uid in ids)]
    text = fenced_line(" ".join(summary), MAX_TEXT_LENGTH)
    yield f"{head}: {text}" if text else f"{head}."
    if handoff.instructions:
        yield f"It asks for: {fenced_line(handoff.instructions, MAX_TEXT_LENGTH)}"
    yield from (f"It is blocked by: {fenced_line(text)}" for text in handoff.blockers)
    if wrong := len(handoff.facts) - len(facts):
        yield f"Left out, found to be wrong since: facts: {wrong}."
    yield from map(describe_frozen_fact, facts[:MAX_FACTS])
    left = len(facts) - MAX_FACTS
    if left > 0:
        yield f"{left} more facts: handoff_get {handoff.pk}"


def describe_frozen_fact(fact: dict[str, str]) -> str:
    is_verified = fact["verification_status"] == FactAssessment.Status.VERIFIED
    marks = [fact.get("source", ""), VERIFIED if is_verified else ""]  # a bundle says nothing of its source
    return format_line(fenced_line(fact["essence"]), fact["id"], [mark for mark in marks if mark])


def describe_waiting(handoff: Handoff) -> str:
    """Return the line on a handoff that nobody has answered."""
    who = fenced_line(handoff.agent_id or handoff.created_by)
    where = fenced_line(handoff.source.name)
    return f"A handoff from {who} on {where} waits: handoff_get {handoff.pk} reads and accepts it."
