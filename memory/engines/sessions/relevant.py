"""What a session may be told of facts: those of its repository and of none, in order, and by their worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID

from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.united import NewestRows, read_together
from memory.engines.facts.assessment import attach_belief, plan_assessments, searchable_rows
from memory.engines.sessions.general import plan_paths
from memory.engines.sessions.lines import Line, fenced_line, mark_fact, mark_older, show_change, show_fact
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.revisions import TOLD_COLUMNS, ReadPoint, Statements, get_time, is_vouched_for
from memory.engines.sessions.utterances import DECIDED, plan_edges
from memory.engines.statements.rewording import Sayings
from memory.engines.versions.repositories import filter_named, find_repositories, is_left_out
from memory.models import Fact, Session
from memory.texts import split_taken_back

# Decisions that were imported are learned after those that are newer: so more are read than have room.
MAX_NEWEST, MAX_DECISIONS, MAX_PINNED = 200, 400, 20
MAX_COMPARED = 400  # characters of a fact whose words are compared with those of others
CORRECTED = timedelta(
    days=30
)  # so long a statement that changed another one stands before those that did not
MAX_LESSONS = 3  # of the work in the repository, the newest, that stand before its older decisions
FILLERS = frozenset({"a", "an", "the", "this", "that", "we", "you", "i", "now", "please", "so", "just", "ok"})


@dataclass(frozen=True)
class Entry:
    """A fact with its utterance, the statement whose place it took, the fact that took its own place, and the
    earlier one of which it is not sure whether it holds beside it.
    """

    fact: Fact
    utterance: Utterance | None = None
    is_own: bool = False  # of the session's repository, not of none
    before: "Entry | None" = None
    newer: UUID | None = None
    doubted: "Entry | None" = None

    @property
    def at(self) -> datetime:
        return get_time(self.fact, self.utterance)

    @property
    def is_decided(self) -> bool:
        return self.fact.category in DECIDED

    @property
    def is_agents(self) -> bool:
        return self.utterance is not None and self.utterance.speaker == Utterance.AGENT

    @property
    def is_persons(self) -> bool:
        return self.utterance is not None and self.utterance.speaker == Utterance.PERSON

    @property
    def is_note(self) -> bool:
        """Return whether it says something that no person said, and that is short enough to be compared."""
        is_seen = self.fact.source_type == Fact.SourceType.OBSERVATION
        return not (self.is_persons or is_seen) and len(self.fact.fact_text) <= MAX_COMPARED

    @property
    def group(self) -> tuple[bool, bool, bool, bool]:
        """Return by what entries are ordered before their time: what an agent said stands below a person's
        words.
        """
        return not self.fact.pinned, not self.is_own, not self.is_decided, self.is_agents

    @cached_property
    def lines(self) -> list[Line]:
        """Return the forms of the entry's line, the shortest first.

        A statement that may hold no more always stands with what was said later.
        """
        marks = mark_fact(self.fact, self.utterance, self.newer)
        line = Line(show_fact(self.fact), self.fact.uid, self.at.date(), marks)
        earlier = self.doubted or self.before
        if earlier is None:
            return [line]
        own = split_taken_back(self.fact.fact_text)
        newer = fenced_line(own[0]) if own[1] else line.text
        text = show_change(show_fact(earlier.fact), newer, self._name_both(earlier))
        longer = replace(line, text=text, marks=[*marks, mark_older(earlier.fact.uid)])
        return [longer] if self.doubted else [line, longer]

    def _name_both(self, earlier: "Entry") -> tuple[str, str]:
        """Return the names of two people who disagree; none where one of them said both."""
        first, second = earlier.utterance, self.utterance
        if first is None or second is None or first.is_same_person(second):
            return "", ""
        return first.name, second.name


def list_relevant(session: Session, lineage: Lineage, now: datetime, newest: NewestRows[Fact]) -> list[Entry]:
    """Return the facts of the session's repository, then of none; those of others take nobody's place.

    Of each, what was decided comes first, then what was said last. What is said twice comes once, as it was
    said last.
    """
    found = newest.fetch()
    known = find_repositories(session.project_id, found)
    where = {fact.rid: repository for fact, repository in zip(found, known, strict=True)}
    facts = [fact for fact in found if where[fact.rid] in ("", session.project_path)]
    facts = [fact for fact in facts if not is_left_out(fact, session.project_path)]
    uids = [fact.uid for fact in facts]
    read_together([*plan_edges(uids, lineage), *plan_assessments(uids, lineage), plan_paths(session)])
    statements = Statements(ReadPoint(session.project_id, lineage, now))
    utterances = statements.hear(facts)
    facts.sort(key=lambda fact: (get_time(fact, utterances.get(fact.uid)), fact.uid), reverse=True)
    revised, doubted = statements.find_revised(facts), statements.find_doubted(facts)
    rest = [fact for fact in doubted.values() if fact.rid not in where]
    utterances |= statements.hear(rest)
    every = [
        Entry(fact, utterances.get(fact.uid), is_own=bool(where.get(fact.rid)))
        for fact in attach_belief([*facts, *rest], lineage)
    ]
    entries = sorted(drop_reworded(every[: len(facts)]), key=lambda entry: entry.group)
    return drop_repeats(fold_doubted(fold_revised(entries, revised), doubted, every))


def plan_relevant(session: Session, lineage: Lineage, now: datetime) -> NewestRows[Fact]:
    """Return the facts that ``list_relevant`` chooses of: those of the session's repository, and of none."""
    shown = searchable_rows(lineage, now)
    own = [filter_named(shown, session.project_path)] if session.project_path else []
    kinds = [kind for rows in [*own, shown.filter(repository="")] for kind in list_kinds(rows)]
    return NewestRows(kinds, TOLD_COLUMNS)


def list_kinds(rows: VersionedQuerySet[Fact]) -> list[tuple[VersionedQuerySet[Fact], int]]:
    """Return the newest rows, decisions and pinned facts, and how many of each may be told."""
    decided = rows.filter(category__in=sorted(DECIDED))
    return [(rows, MAX_NEWEST), (decided, MAX_DECISIONS), (rows.filter(pinned=True), MAX_PINNED)]


def fold_revised(entries: Sequence[Entry], revised: Mapping[UUID, Fact]) -> list[Entry]:
    """Return the entries; one whose place another took stands with that one, as what was said before.

    The newer one stands where the older one stood, if that is higher: a preference may change a decision. One
    that a curator verified or pinned stays where it is, with the id of the newer one.
    """
    if not revised:
        return list(entries)
    places = {entry.fact.uid: at for at, entry in enumerate(entries)}
    before: dict[UUID, Entry] = {}
    kept = []
    for at, entry in enumerate(entries):
        newer = revised.get(entry.fact.uid)
        if newer is None:
            kept.append(entry)
        elif newer.uid not in places or is_vouched_for(entry.fact):
            kept.append(replace(entry, newer=newer.uid))
        else:
            earlier = before.get(newer.uid)
            before[newer.uid] = entry if earlier is None else max(earlier, entry, key=lambda one: one.at)
            places[newer.uid] = min(places[newer.uid], at)
    kept.sort(key=lambda entry: places[entry.fact.uid])
    return [replace(entry, before=before.get(entry.fact.uid)) for entry in kept]


def fold_doubted(
    entries: Sequence[Entry], doubted: Mapping[UUID, Fact], every: Iterable[Entry]
) -> list[Entry]:
    """Return the entries; one that may hold no more stands with the later statement that says so.

    Of several that one statement casts doubt on, each further one has a line of its own with it. ``every``
    has the entries of later statements that are not among these.
    """
    if not doubted:
        return list(entries)
    known = {entry.fact.uid: entry for entry in [*every, *entries]}
    spent: set[UUID] = set()
    kept = []
    for entry in entries:
        later = doubted.get(entry.fact.uid)
        if later is None or is_vouched_for(entry.fact):
            kept.append(entry)
        else:
            kept.append(replace(known[later.uid], doubted=entry, is_own=entry.is_own))
            spent.add(later.uid)
    return [entry for entry in kept if entry.doubted or entry.fact.uid not in spent]


def drop_repeats(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries without those that have the words of an earlier one, in their order."""
    earlier: set[tuple[str, ...]] = set()
    kept = []
    for entry in entries:
        fact = entry.fact
        is_short = len(fact.fact_text) <= MAX_COMPARED
        words = list_compared_words(fact.fact_text) if is_short else (fact.content_hash,)
        if entry.doubted:
            words += list_compared_words(entry.doubted.fact.fact_text)
        if words not in earlier:
            earlier.add(words)
            kept.append(entry)
    return kept


def drop_reworded(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without those in which somebody says a person's decision over again in other words:
    an agent that notes what it was told. What a curator verified or pinned stays.
    """
    noted = [one for one in entries if one.is_note and not is_vouched_for(one.fact)]
    decisions = [one.fact.fact_text for one in entries if one.is_decided and one.is_persons]
    if not noted or not decisions:
        return list(entries)
    persons = Sayings(decisions)
    repeated = {one.fact.uid for one in noted if persons.says(one.fact.fact_text)}
    return [one for one in entries if one.fact.uid not in repeated]


def list_compared_words(text: str) -> tuple[str, ...]:
    """Return the words that a statement is compared by, in their order."""
    words = [word.strip(".,;!") for word in text.lower().split()]
    return tuple([word for word in words if word and word not in FILLERS])


def choose_order(entries: Sequence[Entry], now: datetime) -> list[Entry]:
    """Return the entries with the one of the most worth first; those of one worth keep their order."""
    lessons = [one for one in entries if one.is_own and not one.is_decided and not one.fact.pinned]
    newest = {one.fact.uid for one in lessons[:MAX_LESSONS]}
    return sorted(entries, key=lambda entry: rank_worth(entry, now, entry.fact.uid in newest))


def rank_worth(entry: Entry, now: datetime, is_lesson: bool) -> int:
    """Return how many kinds of facts are worth more: what lasts in this repository is worth the most."""
    if entry.fact.pinned:
        return 0
    if entry.is_own and (is_lesson or (entry.is_decided and is_marked_out(entry, now))):
        return 1
    if entry.is_decided:
        return 2 if entry.is_own else 3
    return 4 if entry.is_own else 5


def is_marked_out(entry: Entry, now: datetime) -> bool:
    """Return whether a decision was verified, said again, or changed another one lately."""
    corrects = bool(entry.before or entry.doubted) and entry.at >= now - CORRECTED
    return corrects or is_vouched_for(entry.fact) or entry.fact.confirmation_count > 0
