"""Statements whose place a newer one of a person has taken, by links made when sessions were learned from.

Such a link leads from the older fact to the newer one, is of the type CONTESTED_BY and says since when. It
changes neither fact. Links of that type without a time only say that two facts disagree. What a link means
is judged anew from both texts when it is read: the older one is replaced, or doubted, and both are told. Of a
link with the weight of a model's, its verdict on these texts counts as well; one that rests on nearness
doubts, unless a model says that both hold.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.raw_select import Selected, Statement, Values, plan_equal, select_by_key
from memory.db.united import note_as, read_together
from memory.engines.facts.assessment import attach_belief, plan_assessments, searchable_rows
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.utterances import (
    DECIDED,
    LEARNED,
    FactEdge,
    hear_sources,
    load_edges,
    plan_edges,
)
from memory.engines.statements.claims import says_same, shares_root
from memory.engines.statements.rewording import rewords
from memory.engines.statements.standing import Standing, changes, judge_standing
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.pair_answers import get_pair_answers
from memory.engines.versions.repositories import find_repositories
from memory.models import Fact, FactAssessment, FactLink, PairVerdict
from memory.models.links import JUDGED_WEIGHT, NEAR_WEIGHT

# Of a fact that may be told: what it says, where and when it was learned, and whether everybody may read it.
TOLD_COLUMNS = tuple(
    "rid uid fact_text essence category kind status created_at source_type repository session_id pinned tags"
    " metadata visibility user_id content_hash judged_hash".split()
)
MAX_NOTES = 20  # newest ones that are compared with what persons decided
MAX_STEPS = 8  # links that are followed from an older statement to the one that holds
Verdict = PairVerdict.Verdict
STANDINGS: Mapping[str, Standing] = {
    Verdict.REPLACES: Standing.REPLACED,
    Verdict.NARROWS: Standing.DOUBTED,
    Verdict.UNSURE: Standing.DOUBTED,
}


@dataclass(frozen=True)
class Revision:
    """An older fact, the newer one that takes its place, and since when."""

    older: Fact
    newer: Fact
    since: datetime
    weight: float = 1.0

    @property
    def key(self) -> tuple[UUID, UUID]:
        return self.older.uid, self.newer.uid

    def link(self) -> FactLink:
        origin = {name: getattr(self.newer, name) for name in ("session_id", "task_id", "agent_id")}
        edge = {"from_id": self.older.uid, "to_id": self.newer.uid, "valid_from": self.since}
        return FactLink(link_type=FactLink.Type.CONTESTED_BY, weight=self.weight, **edge, **origin)


class ReadPoint(NamedTuple):
    """The project and lineage on which facts are read, and when."""

    project_id: UUID
    lineage: Lineage
    now: datetime


class Statements:
    """Facts as statements: who said them, and which newer ones they lead to. Each row is read once."""

    def __init__(self, point: ReadPoint) -> None:
        self.point = point
        # Facts that were looked at, by their row ids: ids of memories take long to look up.
        self._linked, self._listened = set[int](), set[int]()
        self._edges = defaultdict[UUID, list[FactEdge]](list)
        self._heard: dict[UUID, Utterance] = {}
        self._places: dict[UUID, str] = {}
        self._facts: dict[UUID, Fact] = {}

    def add(self, facts: Iterable[Fact]) -> None:
        """Take facts that a search finds now, so that they are not read again."""
        self._facts |= {fact.uid: fact for fact in facts}

    def read(self, rows: VersionedQuerySet[Fact], rids: Collection[int]) -> list[Fact]:
        """Return the facts with these row ids, as far as they are told, with what is believed of them; their
        links are read with them.
        """
        lineage, companions = self.point.lineage, list[Statement]()
        for _, sql, params in plan_equal(Fact, ("uid",), rid=rids):
            companions = plan_companions(Selected(sql, params), lineage)
            read_together([*rows.plan_by_key(TOLD_COLUMNS, "rid", rids), *companions])
        found = rows.fetch_by_key("rid", rids, columns=TOLD_COLUMNS)
        own = plan_companions([fact.uid for fact in found], lineage)
        for statement, read in zip(own, companions, strict=bool(found)):
            note_as(statement, read)
        self.list_edges(found)
        return list(attach_belief(found, lineage))

    def load(self, uids: Iterable[UUID]) -> dict[UUID, Fact]:
        """Return those of the facts that a search finds now."""
        requested = set(uids)
        self._facts |= load_facts(requested - self._facts.keys(), self.point)
        return {uid: self._facts[uid] for uid in requested if uid in self._facts}

    def hear(self, facts: Iterable[Fact]) -> dict[UUID, Utterance]:
        """Return the utterances of facts, where they are known."""
        requested = list(facts)
        fresh = [fact for fact in requested if fact.rid not in self._listened]
        self._listened.update(fact.rid for fact in fresh)
        self._heard |= hear_sources(fresh, self.list_edges(fresh), self.point.lineage)
        if not self._heard:
            return {}
        return {fact.uid: one for fact in requested if (one := self._heard.get(fact.uid))}

    def list_edges(self, facts: Sequence[Fact]) -> list[FactEdge]:
        """Return the links that lead from facts."""
        fresh = {fact.rid: fact for fact in facts if fact.rid not in self._linked}
        self._linked |= fresh.keys()
        for edge in load_edges(fresh.values(), self.point.lineage) if fresh else ():
            self._edges[edge.from_id].append(edge)
        return [edge for fact in facts for edge in self._edges.get(fact.uid, ())] if self._edges else []

    def find_revised(self, facts: Iterable[Fact]) -> dict[UUID, Fact]:
        """Return the fact that holds in the place of each of the facts that holds no more, by the older id.

        Links are followed to the last statement. Where they lead back to a fact it is not among the older
        ones: no statement hides itself.
        """
        requested = {fact.uid: fact for fact in facts}
        known, newer, fresh = dict(requested), dict[UUID, Fact](), requested
        for _ in range(MAX_STEPS):
            found = self._find_newer(fresh, Standing.REPLACED)
            newer |= found
            fresh = {fact.uid: fact for fact in found.values() if fact.uid not in known}
            known |= fresh
        if not newer:
            return {}
        steps = {uid: fact.uid for uid, fact in newer.items()}
        steps = {uid: to for uid, to in steps.items() if not leads_back(uid, steps)}
        return {uid: known[follow(uid, steps)] for uid in requested if uid in steps}

    def find_doubted(self, facts: Iterable[Fact]) -> dict[UUID, Fact]:
        """Return the later statement of each of the facts that may hold no more, by the older one's id.

        It is told beside the older one, as "was …; later …", unless that one is replaced by still another.
        """
        requested = list(facts)
        found = self._find_noted(requested)
        found |= self._find_newer({fact.uid: fact for fact in requested}, Standing.DOUBTED)
        last = self.find_revised(found.values())
        return {uid: last.get(fact.uid, fact) for uid, fact in found.items()}

    def _find_noted(self, facts: Sequence[Fact]) -> dict[UUID, Fact]:
        """Return the note that says otherwise than each of a person's decisions among the facts, by its id.

        An agent takes nobody's place, so nothing is linked; where it contradicts a person, both are told.
        """
        if not (heard := self.hear(facts)):
            return {}
        notes = [fact for fact in facts if fact.uid not in heard and fact.source_type not in LEARNED]
        notes = sorted(notes, key=lambda fact: (fact.created_at, fact.uid))[-MAX_NOTES:]
        spoken = [fact for fact in facts if notes and fact.uid in heard and fact.category in DECIDED]
        persons = [fact for fact in spoken if heard[fact.uid].speaker == Utterance.PERSON]
        pairs = [
            (new, old)
            for new in notes
            for old in persons
            if new.created_at > heard[old.uid].at
            and changes(new.fact_text, old.fact_text)
            and not says_same(new.fact_text, old.fact_text)
            and not rewords(new.fact_text, old.fact_text)
        ]
        places = self._name_places([fact for pair in pairs for fact in pair])
        pairs = [(new, old) for new, old in pairs if places[new.uid] == places[old.uid]]
        kept = find_kept([(old.uid, new.uid) for new, old in pairs], self.point.lineage)
        return {old.uid: new for new, old in pairs if (old.uid, new.uid) not in kept}

    def _find_newer(self, known: Mapping[UUID, Fact], standing: Standing) -> dict[UUID, Fact]:
        """Return the last statement that an edge of each fact leads to, and that leaves it so.

        It must be searched on the lineage.
        """
        edges = self.list_edges(list(known.values()))
        contests = [edge for edge in edges if edge.is_revision and edge.holds_at(self.point.now)]
        if not contests:
            return {}
        targets = self.load(edge.to_id for edge in contests)
        contests = [edge for edge in contests if edge.to_id in targets]
        pairs = [(known[edge.from_id], targets[edge.to_id]) for edge in contests]
        both = [fact for pair in pairs for fact in pair]
        heard, places = self.hear(both), self._name_places(both)
        least = self._find_least(pairs, [edge.weight for edge in contests])
        valid = [
            (old, new)
            for old, new in pairs
            if places[old.uid] == places[new.uid]
            and find_standing(old, new, heard, least.get((old.uid, new.uid), Standing.HOLDS)) is standing
        ]
        valid.sort(key=lambda pair: (get_time(pair[1], heard.get(pair[1].uid)), pair[1].uid))
        return {old.uid: new for old, new in valid}

    def _find_least(
        self, pairs: Sequence[tuple[Fact, Fact]], weights: Sequence[float]
    ) -> dict[tuple[UUID, UUID], Standing]:
        """Return what a model or nearness says of pairs of an older and a newer fact, by their ids."""
        weighed = list(zip(pairs, weights, strict=True))
        near = [pair for pair, weight in weighed if weight == NEAR_WEIGHT]
        judged = [pair for pair, weight in weighed if weight == JUDGED_WEIGHT]
        doubted = [pair for pair in near if shares_root(pair[1].fact_text, pair[0].fact_text)]
        verdicts = find_verdicts(self.point.project_id, [*judged, *near])
        return {(old.uid, new.uid): Standing.DOUBTED for old, new in doubted} | {
            key: STANDINGS.get(verdict, Standing.HOLDS) for key, verdict in verdicts.items()
        }

    def _name_places(self, facts: Iterable[Fact]) -> Mapping[UUID, str]:
        """Return the repositories of facts, by their ids."""
        fresh = [fact for fact in facts if fact.uid not in self._places]
        found = find_repositories(self.point.project_id, fresh)
        self._places |= {fact.uid: place for fact, place in zip(fresh, found, strict=True)}
        return self._places


def plan_companions(uids: Values, lineage: Lineage) -> list[Statement]:
    """Return the statements that read the links of facts, and what is believed of them."""
    return [*plan_edges(uids, lineage), *plan_assessments(uids, lineage)]


def find_verdicts(project_id: UUID, pairs: Iterable[tuple[Fact, Fact]]) -> dict[tuple[UUID, UUID], str]:
    """Return what a model says of pairs of an older and a newer fact, as their texts are, by their ids."""
    slots = {PairVerdict.build_slot(old, new): (old.uid, new.uid) for old, new in pairs}
    rows = select_by_key(PairVerdict.objects.filter(project=project_id), ("slot", "verdict"), "slot", slots)
    return {slots[slot]: verdict for slot, verdict in rows}


def find_standing(old: Fact, new: Fact, heard: Mapping[UUID, Utterance], least: Standing) -> Standing:
    """Return whether a fact stands beside a statement that a link leads to, whoever wrote the link. What a
    model or nearness says of both, ``beside``, makes no rule milder.

    That must be a person's, not have been followed by a repetition of the fact, and be about it still. Of two
    people who disagree neither takes the other's place: both are told.
    """
    later = heard.get(new.uid)
    earlier = heard.get(old.uid)
    if later is None or later.speaker != Utterance.PERSON or get_time(old, earlier) > later.at:
        return Standing.HOLDS
    found = max(judge_standing(new.fact_text, old.fact_text), least)
    is_others = earlier is not None and not earlier.is_same_person(later)
    return min(found, Standing.DOUBTED) if is_others else found


def find_kept(pairs: Collection[tuple[UUID, UUID]], lineage: Lineage) -> set[tuple[UUID, UUID]]:
    """Return the pairs of which a curator decided that both hold."""
    return get_pair_answers().find_kept(pairs, dict(lineage)) if pairs else set()


def leads_back(uid: UUID, steps: Mapping[UUID, UUID]) -> bool:
    """Return whether the steps from an id lead to it again."""
    seen: set[UUID] = set()
    at = steps.get(uid)
    while at is not None and at != uid and at not in seen:
        seen.add(at)
        at = steps.get(at)
    return at == uid


def follow(uid: UUID, steps: Mapping[UUID, UUID]) -> UUID:
    """Return where the steps from an id end; none of them lead back."""
    while uid in steps:
        uid = steps[uid]
    return uid


def load_facts(uids: Iterable[UUID], point: ReadPoint) -> dict[UUID, Fact]:
    """Return those of the facts that a search finds now."""
    requested = sorted(uids)
    if not requested:
        return {}
    found = searchable_rows(point.lineage, point.now).fetch_by_key("uid", requested)
    return {fact.uid: fact for fact in found}


def is_vouched_for(fact: Fact) -> bool:
    """Return whether a curator verified or pinned a fact: it is never left out for a newer one."""
    return fact.pinned or fact.verification_status == FactAssessment.Status.VERIFIED


def get_time(fact: Fact, utterance: Utterance | None) -> datetime:
    """Return when a fact was said, which was long before it was learned where it was imported."""
    return utterance.at if utterance else fact.created_at


# ---- links -------------------------------------------------------------------------------------------


def store_revisions(commit: CommitWriter, revisions: Sequence[Revision]) -> None:
    """Link each older fact to the newer one, and ask a curator once about the two, in the commit.

    A pair that is linked already keeps its link; one that was said again has a new time. A pair of which a
    curator decided that both hold is left alone.
    """
    kept = get_pair_answers().find_kept([one.key for one in revisions], dict(commit.lineage))
    revisions = [one for one in revisions if one.key not in kept]
    if not revisions:
        return
    known = load_contests(commit, revisions)
    commit.add_rows([one.link() for one in revisions if one.key not in known])
    for one in revisions:
        link = known.get(one.key)
        if link is not None and (changed := update_link(link, one)):
            commit.change_row(link, **changed)
        opposite = known.get(one.key[::-1])
        if opposite is not None and opposite.valid_from == one.since:
            commit.remove_row(opposite)  # both were said at once: what came last holds
    # A pair with a review item, open or answered, is not asked about again.
    get_pair_answers().ask_about(commit.branch, [(one.newer, one.older) for one in revisions])


def update_link(link: FactLink, revision: Revision) -> dict[str, Any]:
    """Return what a revision changes of the link that its pair has: its time, and that a model judged it."""
    if link.valid_from is None:  # both were kept in a merge
        return {}
    weight = JUDGED_WEIGHT if revision.weight == JUDGED_WEIGHT else link.weight
    changed = {"valid_from": max(link.valid_from, revision.since), "weight": weight}
    return {name: value for name, value in changed.items() if value != getattr(link, name)}


def load_contests(commit: CommitWriter, revisions: Iterable[Revision]) -> dict[tuple, FactLink]:
    """Return the links of the pairs that the branch shows, in either direction."""
    uids = sorted({uid for one in revisions for uid in one.key})
    rows = commit.visible_rows(FactLink).fetch_by_key("from_id", uids)
    contests = (link for link in rows if link.link_type == FactLink.Type.CONTESTED_BY)
    return {(link.from_id, link.to_id): link for link in contests}


def remove_revisions(commit: CommitWriter, pair: tuple[UUID, UUID]) -> None:
    """Remove the links of a pair of which a curator decides that both hold."""
    rows = commit.visible_rows(FactLink).filter(
        from_id__in=pair, to_id__in=pair, link_type=FactLink.Type.CONTESTED_BY
    )
    for link in rows.fetch_all():
        if link.valid_from is not None:
            commit.remove_row(link)
