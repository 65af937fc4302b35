"""Related facts: linked to a fact, from the same source, or about connected entities."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Q

from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.facts.assessment import annotate_facts, parse_expiry_time, searchable_rows
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Whole
from memory.engines.graph.engine import MAX_DEPTH, GraphNode, clean_name, true_edges, walk_edges
from memory.engines.graph.entities import entities_in, is_spaced, mentions
from memory.engines.search.candidates import substring_search
from memory.engines.search.fact_rows import read_facts
from memory.engines.support import validation as c
from memory.engines.support.pagination import check_limit
from memory.engines.versions.lookup import MAIN, open_point
from memory.exceptions import NotFound
from memory.models import Fact, FactLink
from memory.models.end_users import is_of_another
from memory.models.relations import name_key
from memory.words import extract_keywords

BY = ("link", "parent", "source", "entity")
MAX_ENTITIES = 20  # nearest entities to search for
MAX_FACTS_PER_ENTITY = 100  # facts considered per entity
MAX_LINKS = 200
DEPTH_OPTION = Option("relations between, 0 to 6; default 1")
LIMIT_OPTION = Option("at most so many, 1 to 100; default 10")
DEPTH = Field("depth", Whole(0, MAX_DEPTH), "Relations between.", option=DEPTH_OPTION)
LIMIT = Field("limit", Whole(1, 100), "Facts at most.", option=LIMIT_OPTION)


@dataclass(frozen=True)
class Reason:
    """Path from the fact to another: by a link, a common source or an entity.

    ``distance`` counts the steps: a link is one; a source or an entity is two, plus one for each relation
    between two entities. ``name`` is the type of the link, the kind of the source, the entity.
    """

    by: str
    distance: int
    name: str = ""
    uid: UUID | None = None  # of the link or the source


@dataclass(frozen=True)
class Relative:
    """Related fact, with every reason, the shortest path first."""

    fact: Fact
    why: Sequence[Reason]

    @property
    def distance(self) -> int:
        return self.why[0].distance


@dataclass(frozen=True)
class Relatives:
    """Related facts. ``entities`` were searched for: named by the fact (distance 0), or connected to those.
    ``truncated``: there were more than the limit.
    """

    results: Sequence[Relative]
    entities: Sequence[GraphNode]
    truncated: bool


class RelatedEngine:
    def find_related(
        self,
        *,
        fact_id: UUID,
        actor: Actor,
        depth: Annotated[int, DEPTH] = 1,
        limit: Annotated[int, LIMIT] = 10,
        branch_name: str = MAIN,
        at: Any = None,
    ) -> Relatives:
        """Return the searchable facts related to a fact, the nearest first.

        ``depth`` is how many relations may lie between two entities, 0 to 6. Raises NotFound for the fact,
        Invalid, BranchNotFound, scope and branch refusals.
        """
        actor.require_scope("read", branch_name)
        c.integer_check(0, MAX_DEPTH)("depth", depth)
        check_limit(limit)
        branch, seq = open_point(actor, branch_name, at)
        lineage = branch.lineage(seq)
        fact = next(iter(Fact.objects.in_lineage(lineage).filter(uid=fact_id).fetch_all()), None)
        if fact is None:
            raise NotFound()
        if branch.archived_at:  # as in a search: archived facts are left out by default
            return Relatives((), (), False)
        rows = searchable_rows(lineage, parse_expiry_time(at))
        keys, truncated = find_entities(fact, lineage, at, depth)
        reasons = [*find_linked(fact, lineage), *_find_family(fact, rows), *_find_by_entities(keys, rows)]
        found = build_relatives(fact, rows, reasons, limit)
        annotate_facts([one.fact for one in found], lineage, actor.project_id)
        return Relatives(found, list(keys.values()), truncated)

    def find_naming(
        self, *, entity: str, actor: Actor, branch_name: str = MAIN, at: Any = None, limit: int = 10
    ) -> list[Fact]:
        """Return searchable facts that name an entity, the newest first. Raises Invalid, BranchNotFound."""
        actor.require_scope("read", branch_name)
        key = name_key(clean_name("entity", entity))
        branch, seq = open_point(actor, branch_name, at)
        lineage = branch.lineage(seq)
        rows = searchable_rows(lineage, parse_expiry_time(at))
        uids = sorted(_facts_naming(key, rows), reverse=True)[: check_limit(limit)]
        facts = {fact.uid: fact for fact in rows.fetch_by_key("uid", uids)}
        annotate_facts(list(facts.values()), lineage, actor.project_id)
        return [facts[uid] for uid in uids if uid in facts]


def find_entities(fact: Fact, lineage: Lineage, at: Any, depth: int) -> tuple[dict[str, GraphNode], bool]:
    """Return the entities to search for, by key, and whether there were more."""
    edges = true_edges(lineage, at)
    seen, _, truncated = walk_edges(edges, entities_in(fact.fact_text, edges), depth)
    return dict(list(seen.items())[:MAX_ENTITIES]), truncated or len(seen) > MAX_ENTITIES


def build_relatives(
    fact: Fact, rows: VersionedQuerySet[Fact], reasons: Iterable[tuple[UUID, Reason]], limit: int
) -> list[Relative]:
    why: dict[UUID, list[Reason]] = {}
    for uid, reason in reasons:
        if uid != fact.uid and reason not in why.setdefault(uid, []):
            why[uid].append(reason)
    named = rows.filter(uid__in=[uid for uid, batch in why.items() if batch])
    shown = [(uid, rid, sorted(why[uid], key=reason_order)) for uid, rid in named.gather_values("uid", "rid")]
    newest = sorted(shown, key=lambda one: one[0], reverse=True)
    nearest = sorted(newest, key=lambda one: (one[2][0].distance, -len(one[2])))[:limit]
    facts = read_facts([rid for _, rid, _ in nearest])
    own = {rid for rid, row in facts.items() if not is_of_another(fact, row)}
    return [Relative(facts[rid], reasons) for _, rid, reasons in nearest if rid in own]


def reason_order(reason: Reason) -> tuple[int, int]:
    return reason.distance, BY.index(reason.by)


# ---- relations between facts -------------------------------------------------------------------------


def find_linked(fact: Fact, lineage: Lineage) -> list[tuple[UUID, Reason]]:
    """Return facts linked in either direction, and facts from the same sources."""
    links = FactLink.objects.in_lineage(lineage)
    own = links.filter(from_id=fact.uid).newest(MAX_LINKS) + links.filter(to_id=fact.uid).newest(MAX_LINKS)
    sources = {link.to_id: link.to_type for link in own if link.to_type != FactLink.Target.FACT}
    found = [
        (other_end(link, fact), Reason("link", 1, link.link_type, link.uid))
        for link in own
        if link.to_type == FactLink.Target.FACT
    ]
    for link in links.filter(to_id__in=list(sources)).newest(MAX_LINKS) if sources else ():
        found.append((link.from_id, Reason("source", 2, sources[link.to_id], link.to_id)))
    return found


def other_end(link: FactLink, fact: Fact) -> UUID:
    return link.to_id if link.from_id == fact.uid else link.from_id


def _find_family(fact: Fact, rows: VersionedQuerySet[Fact]) -> list[tuple[UUID, Reason]]:
    """Return the fact that it replaces, and those that replace it."""
    family = Q(parent_id=fact.uid) | Q(uid=fact.parent_id) if fact.parent_id else Q(parent_id=fact.uid)
    return [(row.uid, Reason("parent", 1)) for row in rows.filter(family).newest(MAX_LINKS)]


def _find_by_entities(
    keys: Mapping[str, GraphNode], rows: VersionedQuerySet[Fact]
) -> list[tuple[UUID, Reason]]:
    found = []
    for key, node in keys.items():
        reason = Reason("entity", 2 + node.distance, node.entity)
        found += [(uid, reason) for uid in _facts_naming(key, rows)]
    return found


def _facts_naming(key: str, rows: VersionedQuerySet[Fact]) -> list[UUID]:
    words = extract_keywords(key) if is_spaced(key) else []
    if words:  # what the index of words does not find names it nowhere: to read every text takes seconds
        ranked = rows.match_words(words, MAX_FACTS_PER_ENTITY)[0]
    else:  # signs alone, such as "->", and scripts without spaces
        ranked = substring_search(rows, [key], MAX_FACTS_PER_ENTITY)
    facts = rows.select_by_key(("uid", "fact_text"), "rid", [rid for rid, _ in ranked])
    named = mentions(key, [text for _, text in facts])
    return [uid for (uid, _), yes in zip(facts, named, strict=True) if yes]
