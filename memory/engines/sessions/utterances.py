"""Who said what a fact states, and when last: read from the messages that it was learned from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.sessions.manager import Utterance, session_parts
from memory.engines.support.batches import batched
from memory.models import Fact, FactLink, Observation

LEARNED = frozenset({Fact.SourceType.CONSOLIDATION.value, Fact.SourceType.OBSERVATION.value})
BATCH_SIZE = 500


def find_utterances(facts: Iterable[Fact], lineage: Lineage) -> dict[UUID, Utterance]:
    """Return the utterance of each fact that a session taught, where its messages are visible on the lineage.

    A fact that was learned again is as new as the last time, and a person's where a person said it once.
    """
    learned = [fact.uid for fact in facts if fact.source_type in LEARNED]
    sources = _find_sources(learned, lineage)
    heard = _find_heard({uid for found in sources.values() for uid in found}, lineage)
    per_fact = {fact: [heard[uid] for uid in found if uid in heard] for fact, found in sources.items()}
    return {fact: _join_utterances(several) for fact, several in per_fact.items() if several}


def _join_utterances(several: Sequence[Utterance]) -> Utterance:
    speakers = {one.speaker for one in several}
    speaker = Utterance.PERSON if Utterance.PERSON in speakers else max(speakers)
    return Utterance(max(one.at for one in several), speaker)


def _find_sources(facts: Sequence[UUID], lineage: Lineage) -> Mapping[UUID, set[UUID]]:
    """Return the messages and observations that facts were learned from."""
    found: dict[UUID, set[UUID]] = defaultdict(set)
    columns = ("from_id", "to_id", "to_type")
    for fact, source, kind in _select(FactLink.objects.in_lineage(lineage), columns, "from_id", facts):
        if kind != FactLink.Target.FACT:
            found[fact].add(source)
    return found


def _find_heard(sources: Iterable[UUID], lineage: Lineage) -> dict[UUID, Utterance]:
    """Return the utterances of messages, and of observations the times of theirs: those nobody said."""
    known = sorted(sources)
    rows = _select(Observation.objects.in_lineage(lineage), ("uid", "message_id"), "uid", known)
    observed = {uid: message for uid, message in rows if message}
    heard: dict[UUID, Utterance] = {}
    for batch in batched([*known, *observed.values()], BATCH_SIZE):
        for part in session_parts():
            heard |= part.find_utterances(lineage, batch)
    return heard | {uid: Utterance(heard[of].at) for uid, of in observed.items() if of in heard}


def _select(
    rows: VersionedQuerySet, columns: Sequence[str], by: str, values: Sequence[Any]
) -> Iterator[tuple]:
    for batch in batched(values, BATCH_SIZE):
        yield from rows.select_by_key(columns, by, batch)
