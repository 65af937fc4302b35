"""Who said what a fact states, and when last: read from the messages that it was learned from."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memory.db.querysets import Lineage
from memory.db.raw_select import Statement, Values, fetch_each, select_equal
from memory.engines.sessions.manager import Utterance, session_parts
from memory.engines.statements.personal_facts import PERSONAL
from memory.engines.support.batches import batched
from memory.models import Commit, Fact, FactLink, Observation

LEARNED = frozenset({Fact.SourceType.CONSOLIDATION.value, Fact.SourceType.OBSERVATION.value})
DECIDED = frozenset({"decision", "preference"})
REVISABLE = DECIDED | PERSONAL  # categories of what a newer statement may replace
LEARNING_KIND = "consolidate."  # begins the kind of a commit in which something was learned
BATCH_SIZE = 500


class FactEdge(NamedTuple):
    """A link from a fact: to what it was learned from, or to a fact that contests it."""

    from_id: UUID
    to_id: UUID
    to_type: str
    link_type: str
    weight: float
    valid_from: datetime | None
    valid_until: datetime | None
    branch_id: int
    seq_from: int

    @property
    def is_revision(self) -> bool:
        """Return whether it says since when another statement holds."""
        return self.link_type == FactLink.Type.CONTESTED_BY and self.valid_from is not None

    def holds_at(self, now: datetime) -> bool:
        return self.valid_until is None or self.valid_until > now


def find_utterances(facts: Iterable[Fact], lineage: Lineage) -> dict[UUID, Utterance]:
    """Return the utterance of each fact that a session taught, where its messages are visible on the lineage.

    A fact that was learned again is as new as the last time, and a person's where a person said it once.
    """
    batch = list(facts)
    return hear_sources(batch, load_edges(batch, lineage), lineage)


def load_edges(facts: Iterable[Fact], lineage: Lineage) -> list[FactEdge]:
    """Return the links that lead from facts."""
    return [FactEdge(*row) for row in fetch_each(plan_edges([fact.uid for fact in facts], lineage))]


def plan_edges(uids: Values, lineage: Lineage) -> list[Statement]:
    """Return the statements of ``load_edges`` by the ids of facts, for ``read_together``."""
    return FactLink.objects.in_lineage(lineage).plan_by_key(FactEdge._fields, "from_id", uids)


def hear_sources(facts: Iterable[Fact], edges: Iterable[FactEdge], lineage: Lineage) -> dict[UUID, Utterance]:
    """Return the utterance of each fact that was learned, by its links to messages and observations.

    Who writes a fact by hand may link it to any message: that makes nobody the one who said it. A fact that
    an agent wrote and a session taught too, in the same words, is of who said it there.
    """
    learned = {fact.uid for fact in facts if fact.source_type in LEARNED}
    heard_edges = [edge for edge in edges if edge.to_type != FactLink.Target.FACT]
    taught = _find_taught([edge for edge in heard_edges if edge.from_id not in learned])
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    for edge in heard_edges:
        if edge.from_id in learned or (edge.branch_id, edge.seq_from) in taught:
            sources[edge.from_id].add(edge.to_id)
    heard = _find_heard({uid for found in sources.values() for uid in found}, lineage)
    per_fact = {fact: [heard[uid] for uid in found if uid in heard] for fact, found in sources.items()}
    return {fact: _join_utterances(several) for fact, several in per_fact.items() if several}


def _find_taught(edges: Iterable[FactEdge]) -> set[tuple[int, int]]:
    """Return those of the commits of links in which a session was learned from, as branch and seq."""
    seqs = defaultdict[int, set[int]](set)
    for edge in edges:
        seqs[edge.branch_id].add(edge.seq_from)
    rows = (
        (branch, seq, kind)
        for branch, written in seqs.items()
        for seq, kind in select_equal(Commit, ("seq", "kind"), branch=[branch], seq=sorted(written))
    )
    return {(branch, seq) for branch, seq, kind in rows if kind.startswith(LEARNING_KIND)}


def _join_utterances(several: Sequence[Utterance]) -> Utterance:
    speakers = {one.speaker for one in several}
    speaker = Utterance.PERSON if Utterance.PERSON in speakers else max(speakers)
    last = max((one for one in several if one.speaker == speaker), key=lambda one: one.at)
    is_one = len({one.author for one in several if one.speaker == speaker}) == 1
    own = (last.author, last.name) if is_one else ("", "")
    return Utterance(max(one.at for one in several), speaker, *own)


def _find_heard(sources: Iterable[UUID], lineage: Lineage) -> dict[UUID, Utterance]:
    """Return the utterances of messages, and of observations the times of theirs: those nobody said."""
    known = sorted(sources)
    rows = Observation.objects.in_lineage(lineage).select_by_key(("uid", "message_id"), "uid", known)
    observed = {uid: message for uid, message in rows if message}
    heard: dict[UUID, Utterance] = {}
    for batch in batched([*known, *observed.values()], BATCH_SIZE):
        for part in session_parts():
            heard |= part.find_utterances(lineage, batch)
    return heard | {uid: Utterance(heard[of].at) for uid, of in observed.items() if of in heard}
