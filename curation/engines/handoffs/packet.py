"""The packet of a handoff: which facts and conversations it freezes, its checksum, how complete it is."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from curation.engines.fields.handoffs import SUMMARY_LENGTH
from curation.models import Handoff
from memory.actors import Actor
from memory.db.fields import dumps
from memory.db.lineage import EVERYBODY
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import attach_belief, exclusion_reasons, searchable_rows
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import NotFound
from memory.models import Branch, Fact, FactAssessment, Session
from memory.models.end_users import get_owner
from memory.ranking import prompt_line

MAX_CANDIDATES = 500  # newest facts from which the best are chosen
MAX_BEST = 50  # facts of a packet that names none
MAX_BYTES = 1024 * 1024  # of the facts' texts
MAX_MESSAGES = 20
MAX_MESSAGE_LENGTH = 2000
MAX_SUMMARY_FACTS = 5
VERIFIED = FactAssessment.Status.VERIFIED.value
PLAUSIBLE, INVALIDATED = FactAssessment.Status.PLAUSIBLE.value, FactAssessment.Status.INVALIDATED.value
Verification = Handoff.Verification
FACT_NAMES = (
    *("fact_text", "essence", "category", "kind", "priority", "confidence"),
    *("verification_status", "verification_method"),
)
HEURISTIC, METHOD = FactAssessment.Method.HEURISTIC, "verification_method"


@dataclass
class Packet:
    """Frozen content; ``left_out`` counts the facts that it does not have, by the reason."""

    facts: list[dict[str, Any]] = field(default_factory=list)
    conversations: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def verification(self) -> Verification:
        """Return whether every fact, not every one, or no fact is verified, since there is none."""
        return find_verification(self.facts)

    @property
    def message_count(self) -> int:
        return sum(len(one["messages"]) for one in self.conversations)


def build_packet(
    actor: Actor, branch: Branch, session: Session | None, ids: Sequence[UUID], include_unverified: bool
) -> Packet:
    """Freeze the named facts, else the best that the session wrote, else that the branch itself wrote.

    Raises NotFound for a named fact that the branch does not show.
    """
    lineage = branch.lineage()
    found = load_named(lineage, ids) if ids else load_written(lineage, branch, session)
    attach_belief(found, lineage)
    packet, left_out, size = Packet(), Counter[str](), 0
    for fact in found if ids else sorted(found, key=rank_candidate, reverse=True):
        reason = find_exclusion(fact, include_unverified)
        own = len(fact.fact_text.encode())
        if not reason and (size + own > MAX_BYTES or (not ids and len(packet.facts) >= MAX_BEST)):
            reason = "over_limit"
        if reason:
            left_out[reason] += 1
        else:
            size += own
            packet.facts.append(freeze_fact(fact))
    packet.left_out = dict(sorted(left_out.items()))
    packet.conversations = freeze_conversations(actor, session) if session else []
    return packet


# ---- facts -----------------------------------------------------------------------------------------


def load_named(lineage: Lineage, ids: Sequence[UUID]) -> list[Fact]:
    """Return facts by their ids, in that order. Raises NotFound."""
    rows = Fact.objects.in_lineage(lineage).filter(uid__in=list(ids)).fetch_all()
    by_id = {fact.uid: fact for fact in rows}
    for uid in ids:
        if uid not in by_id:
            raise NotFound("There is no fact {id} on this branch.", id=uid, field="fact_ids")
    return [by_id[uid] for uid in dict.fromkeys(ids)]


def load_written(lineage: Lineage, branch: Branch, session: Session | None) -> list[Fact]:
    """Return the newest current facts that a session wrote, else those of the branch since its fork."""
    rows = searchable_rows(lineage, timezone.now())
    own = rows.filter_indexed(session_id=session.key) if session else rows.filter(branch=branch)
    return list(own.newest(MAX_CANDIDATES))


def rank_candidate(fact: Fact) -> tuple[Any, ...]:
    """Return the key by which the best facts come last."""
    is_verified = fact.verification_status == VERIFIED
    priority = -int(fact.priority[1:])
    return fact.pinned, is_verified, priority, fact.confidence, fact.confirmation_count, fact.uid


def find_exclusion(fact: Fact, include_unverified: bool) -> str:
    """Return why a fact is no part of a packet, or "" for one that is."""
    if fact.visibility == Fact.Visibility.PRIVATE:
        return "private"
    if get_owner(fact) != EVERYBODY:
        return "personal"
    if reasons := exclusion_reasons(fact, timezone.now()):
        return INVALIDATED if INVALIDATED in reasons else reasons[0]
    return "" if include_unverified or fact.verification_status == VERIFIED else "unverified"


def freeze_fact(fact: Fact) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in FACT_NAMES}
    return {"id": str(fact.uid), **values, "created_at": fact.created_at.isoformat()}


def find_verification(facts: Sequence[Mapping[str, Any]]) -> Verification:
    if not facts:
        return Verification.EMPTY
    is_whole = all(fact["verification_status"] == VERIFIED for fact in facts)
    return Verification.VERIFIED if is_whole else Verification.PARTIAL


# ---- conversations and summary ---------------------------------------------------------------------


def freeze_conversations(actor: Actor, session: Session) -> list[dict[str, Any]]:
    """Return the last messages of a session's conversations, long ones cut."""
    context = SessionManager().get_session_context(
        session_id=session.key, actor=actor, message_limit=MAX_MESSAGES, fact_limit=1
    )
    found = context.parts.get("conversations", [])
    return [
        {"id": one["id"], "title": one["title"], "messages": [freeze_message(row) for row in one["messages"]]}
        for one in found
        if one["messages"]
    ]


def freeze_message(row: Mapping[str, Any]) -> dict[str, Any]:
    content = row["content"]
    is_cut = bool(row["truncated"]) or len(content) > MAX_MESSAGE_LENGTH
    names = ("id", "role", "sequence_num")
    values = {name: row[name] for name in names}
    return {**values, "content": content[:MAX_MESSAGE_LENGTH], "truncated": is_cut}


def compose_summary(session: Session | None, facts: Sequence[Mapping[str, Any]]) -> str:
    """Return the summary of a session and a line for each of the five best facts.

    A line has its fact's id, by which an erasure finds it.
    """
    lines = [session.summary] if session and session.summary else []
    lines += [f"{prompt_line(fact['essence'])} [{fact['id']}]" for fact in facts[:MAX_SUMMARY_FACTS]]
    cut = SUMMARY_LENGTH - sum(len(line) + 1 for line in lines[1:])
    return "\n".join([lines[0][:cut], *lines[1:]]) if lines else ""


# ---- checksum and completeness ---------------------------------------------------------------------


def compute_sha256(handoff: Handoff) -> str:
    """Return the checksum of what a handoff freezes."""
    text = dumps([str(handoff.pk), *(getattr(handoff, name) for name in FROZEN)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


FROZEN = (
    "handoff_type",
    "to_agent",
    "verification_status",
    "context_summary",
    "instructions",
    "blockers",
    "facts",
    "conversations",
)


def list_missing(handoff: Handoff) -> list[str]:
    """Return the points of the checklist for a complete handoff that this one lacks."""
    return [name for name, is_met in CHECKLIST.items() if not is_met(handoff)]


def measure_completeness(handoff: Handoff) -> float:
    """Return the share of the checklist that a handoff meets, between 0 and 1."""
    return (len(CHECKLIST) - len(list_missing(handoff))) / len(CHECKLIST)


CHECKLIST: dict[str, Callable[[Handoff], bool]] = {
    "summary": lambda one: bool(one.context_summary),
    "instructions": lambda one: bool(one.instructions),
    "facts": lambda one: one.fact_count > 0,
    "verified": lambda one: one.verification_status == Verification.VERIFIED,
    "conversations": lambda one: one.message_count > 0,
}


# ---- guesses of earlier packets ----------------------------------------------------------------------

# A packet of before the heuristic could only guess does not say by which method its facts were verified; the
# verdicts of their branches do. What it called verified is read as plausible. The stored packet and its
# checksum stay as they were frozen.


def weaken_packets(handoffs: Sequence[Handoff]) -> Sequence[Handoff]:
    """Set of each packet the facts, and how far they are verified, as they are read now."""
    for handoff in handoffs:
        if all(METHOD in fact for fact in handoff.facts):
            continue
        judged = find_judged(handoff)
        handoff.facts = [read_fact(fact, judged) for fact in handoff.facts]
        handoff.verification_status = find_verification(handoff.facts).value
    return handoffs


def find_judged(handoff: Handoff) -> set[UUID]:
    """Return the facts that a person or a judge had verified when a packet was frozen."""
    uids = [UUID(fact["id"]) for fact in handoff.facts if fact["verification_status"] == VERIFIED]
    verdicts = FactAssessment.objects.all_versions().filter(
        branch__project=handoff.project_id, uid__in=uids, status=VERIFIED, at__lte=handoff.created_at
    )
    return set(verdicts.exclude(method=HEURISTIC).values_list("uid", flat=True)) if uids else set()


def read_fact(fact: dict[str, Any], judged: set[UUID]) -> dict[str, Any]:
    """Return a frozen fact with its method, which is not known of what somebody judged."""
    if fact["verification_status"] != VERIFIED or UUID(fact["id"]) in judged:
        return {METHOD: "", **fact}
    return {**fact, "verification_status": PLAUSIBLE, METHOD: HEURISTIC.value}
