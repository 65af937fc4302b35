"""Facts that have to do with a fact: linked to it, from the same source, or about connected things."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines import cleaning as c
from memory.engines.belief import attach, searchable_now
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.candidates import like
from memory.engines.entities import entities_in, naming, spaced
from memory.engines.pages import check_limit
from memory.engines.relations import DEEPEST, GraphNode, true_edges, walk
from memory.exceptions import NotFound
from memory.models import Fact, FactLink
from memory.words import keywords

BY = ("link", "parent", "source", "entity")
LOOKED_FOR = 20  # entities, the nearest ones
OF_ENTITY = 100  # facts that could name one
LINKS = 200


@dataclass(frozen=True)
class Reason:
    """One way from the fact to another: over a link, a source that both come from, or an entity.

    ``distance`` counts the steps: a link is one; to a source or an entity and on is two, and each relation
    between two entities one more. ``name`` is the type of the link, the kind of the source, the entity.
    """

    by: str
    distance: int
    name: str = ""
    uid: UUID | None = None  # of the link or the source


@dataclass(frozen=True)
class Relative:
    """A related fact, with every reason, the shortest way first."""

    fact: Fact
    why: Sequence[Reason]

    @property
    def distance(self) -> int:
        return self.why[0].distance


@dataclass(frozen=True)
class Relatives:
    """``entities`` are those that were looked for: named by the fact (distance 0), or connected to one that
    is. ``truncated``: there were more than were looked for.
    """

    results: Sequence[Relative]
    entities: Sequence[GraphNode]
    truncated: bool


class RelatedEngine:
    def related(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None, depth: int = 1,
        limit: int = 10,
    ) -> Relatives:  # fmt: skip
        """The facts that a search could find there and that have to do with a fact, the nearest first.

        ``depth`` is how many relations may lie between two entities, 0 to 6. Raises NotFound for the fact,
        Invalid, BranchNotFound, scope and branch refusals.
        """
        actor.require("read", branch_name)
        c.integer(0, DEEPEST)("depth", depth)
        check_limit(limit)
        branch = find_branch(actor, branch_name)
        lineage = branch.lineage(point_of(branch, at))
        fact = next(iter(Fact.objects.along(lineage).filter(uid=fact_id).gather()), None)
        if fact is None:
            raise NotFound()
        if branch.archived_at:  # as in a search: what is archived comes only where it is asked for
            return Relatives((), (), False)
        rows = _current(lineage, at)
        keys, truncated = _around(fact, lineage, at, depth)
        reasons = [*_linked(fact, lineage), *_of_family(fact, rows), *_of_entities(keys, rows)]
        found = _together(fact, rows, reasons)
        attach([one.fact for one in found[:limit]], lineage, actor.project_id)
        return Relatives(found[:limit], list(keys.values()), truncated)


def _current(lineage: Lineage, at: Any) -> VersionedQuerySet[Fact]:
    """What a search finds that is asked for nothing more."""
    rows = Fact.objects.along(lineage).searchable()
    now = at if isinstance(at, datetime) else timezone.now()
    return rows.filter(*(condition for condition in searchable_now(now, lineage).values() if condition))


def _around(fact: Fact, lineage: Lineage, at: Any, depth: int) -> tuple[dict[str, GraphNode], bool]:
    """The entities to look for, by key."""
    edges = true_edges(lineage, at)
    seen, _, truncated = walk(edges, entities_in(fact.fact_text, edges), depth)
    return dict(list(seen.items())[:LOOKED_FOR]), truncated or len(seen) > LOOKED_FOR


def _together(
    fact: Fact, rows: VersionedQuerySet[Fact], reasons: Iterable[tuple[UUID, Reason]]
) -> list[Relative]:
    why: dict[UUID, list[Reason]] = {}
    for uid, reason in reasons:
        if uid != fact.uid and reason not in why.setdefault(uid, []):
            why[uid].append(reason)
    shown = rows.filter(uid__in=[uid for uid, some in why.items() if some]).gather()
    found = [Relative(row, sorted(why[row.uid], key=_first)) for row in shown]
    newest = sorted(found, key=lambda one: one.fact.uid, reverse=True)
    return sorted(newest, key=lambda one: (one.distance, -len(one.why)))


def _first(reason: Reason) -> tuple[int, int]:
    return reason.distance, BY.index(reason.by)


# ---- ways --------------------------------------------------------------------------------------------


def _linked(fact: Fact, lineage: Lineage) -> list[tuple[UUID, Reason]]:
    """Over links, in both directions; and over what both facts come from."""
    links = FactLink.objects.along(lineage)
    own = links.filter(from_id=fact.uid).newest(LINKS) + links.filter(to_id=fact.uid).newest(LINKS)
    sources = {link.to_id: link.to_type for link in own if link.to_type != FactLink.Target.FACT}
    found = [
        (_other(link, fact), Reason("link", 1, link.link_type, link.uid))
        for link in own
        if link.to_type == FactLink.Target.FACT
    ]
    for link in links.filter(to_id__in=list(sources)).newest(LINKS) if sources else ():
        found.append((link.from_id, Reason("source", 2, sources[link.to_id], link.to_id)))
    return found


def _other(link: FactLink, fact: Fact) -> UUID:
    return link.to_id if link.from_id == fact.uid else link.from_id


def _of_family(fact: Fact, rows: VersionedQuerySet[Fact]) -> list[tuple[UUID, Reason]]:
    """The fact that it replaces, and those that replace it."""
    family = Q(parent_id=fact.uid) | Q(uid=fact.parent_id) if fact.parent_id else Q(parent_id=fact.uid)
    return [(row.uid, Reason("parent", 1)) for row in rows.filter(family).newest(LINKS)]


def _of_entities(keys: Mapping[str, GraphNode], rows: VersionedQuerySet[Fact]) -> list[tuple[UUID, Reason]]:
    found = []
    for key, node in keys.items():
        reason = Reason("entity", 2 + node.distance, node.entity)
        found += [(uid, reason) for uid in _facts_naming(key, rows)]
    return found


def _facts_naming(key: str, rows: VersionedQuerySet[Fact]) -> list[UUID]:
    ranked = rows.keyword(keywords(key), OF_ENTITY)[0] if spaced(key) else []
    ranked = ranked or like(rows, [key], OF_ENTITY)
    facts = rows.picked(("uid", "fact_text"), "rid", [rid for rid, _ in ranked])
    named = naming(key, [text for _, text in facts])
    return [uid for (uid, _), yes in zip(facts, named, strict=True) if yes]
