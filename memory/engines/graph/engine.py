"""The knowledge graph: edges between named entities, stated, strengthened, closed, walked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.fact_rules import STATED, check_interval
from memory.engines.pages import Page, page_of_versions, point_in_list
from memory.exceptions import IllegalTransition, Invalid, NotFound
from memory.models import Relation
from memory.models.relations import name_key, uid_of

NAME = 200
DEEPEST = 6
MOST_EDGES = 1000
CHUNK = 500
CHECKS: dict[str, c.Check] = {
    "properties": c.json_object(64 * 1024),
    "confidence": c.number(0, 1),
    "valid_from": c.moment,
    "valid_until": c.moment,
}


@dataclass(frozen=True)
class Related:
    """A relation as stored; ``created`` is False where an open edge was strengthened."""

    relation: Relation
    created: bool


@dataclass(frozen=True)
class GraphNode:
    """An entity and how many edges it is away from the one that was asked for."""

    entity: str
    distance: int


@dataclass
class Graph:
    """What a walk found, nearest first. ``truncated``: there were more edges than the walk may bring."""

    entity: str
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[Relation] = field(default_factory=list)
    truncated: bool = False


@rerunning
class RelationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_relation(
        self, *, source_entity: str, relation_type: str, target_entity: str, actor: Actor,
        branch_name: str = MAIN, **fields: Any,
    ) -> Related:  # fmt: skip
        """State that an entity stands in a relation to another. Stated again while it is open, the edge is
        strengthened: ``strength`` counts it, the higher confidence stays, new properties are added.

        Names match whatever their case and Unicode form; the spelling first seen is kept. Raises Invalid
        and its kin, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require("write", branch_name)
        given = {
            "source_entity": source_entity,
            "relation_type": relation_type,
            "target_entity": target_entity,
        }
        names = {name: _name(name, value) for name, value in given.items()}
        actor = actor.stating(**c.clean({k: fields.pop(k) for k in STATED if k in fields}, STATED))
        wanted = c.clean(fields, CHECKS)
        check_interval(wanted.get("valid_from"), wanted.get("valid_until"))
        with committing(actor, branch_name, "relation.write") as commit:
            return _state(commit, names, wanted)

    def close_relation(
        self, *, relation_id: UUID, actor: Actor, branch_name: str = MAIN, valid_until: Any = None
    ) -> Relation:
        """It was true until now, or until a time. Raises NotFound, IllegalTransition when it is closed."""
        actor.require("write", branch_name)
        until = c.moment("valid_until", valid_until)
        with committing(actor, branch_name, "relation.close") as commit:
            relation = commit.get(Relation, relation_id)
            if relation.valid_until:
                raise IllegalTransition("This relation was closed already.")
            check_interval(relation.valid_from, until or commit.at)
            commit.targets.append(str(relation.uid))
            return commit.change(relation, valid_until=until or commit.at)

    # ---- reading -------------------------------------------------------------------------------

    def get_relation(
        self, *, relation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Relation:
        """Raises NotFound."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        for row in Relation.objects.on(branch, point_of(branch, at)).filter(uid=relation_id).gather():
            return row
        raise NotFound()

    def list_relations(
        self, *, actor: Actor, branch_name: str = MAIN, source: str = "", target: str = "",
        relation_type: str = "", open_only: bool = False, at: Any = None, limit: int = 50, cursor: str = "",
    ) -> Page[Relation]:  # fmt: skip
        """In the order of their ids; ``open_only`` leaves out what was closed."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        rows = Relation.objects.on(branch, seq)
        for column, name in (("source_key", source), ("target_key", target), ("type_key", relation_type)):
            if name:
                rows = rows.filter(**{column: name_key(_name(column, name))})
        if open_only:
            rows = rows.filter(valid_until=None)
        return page_of_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at)

    def graph_query(
        self, *, entity: str, actor: Actor, branch_name: str = MAIN, relation_type: str = "",
        depth: int = 2, at: Any = None,
    ) -> Graph:  # fmt: skip
        """What is connected to an entity, breadth first over edges in both directions, as the branch shows
        them and as far as they are true (now, or at the time ``at``). An unknown entity has no edges.

        ``depth`` is 1 to 6; at most 1,000 edges come, the nearest first. Raises Invalid, BranchNotFound.
        """
        actor.require("read", branch_name)
        name = _name("entity", entity)
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= DEEPEST:
            raise Invalid("depth must be a whole number from 1 to {most}.", most=DEEPEST, field="depth")
        branch = find_branch(actor, branch_name)
        rows = true_edges(branch.lineage(point_of(branch, at)), at)
        if relation_type:
            rows = rows.filter(type_key=name_key(_name("relation_type", relation_type)))
        return _walk(rows, name, depth)


# ---- writing ---------------------------------------------------------------------------------------


def _name(what: str, value: Any) -> str:
    """A name as it is kept: without white space around it or runs of it inside. Raises Invalid."""
    text = " ".join(c.text(NAME, least=1)(what, value).split())
    if len(name_key(text)) > NAME:
        raise Invalid("{field} has at most {most} characters once normalised.", field=what, most=NAME)
    return text


def _state(commit: CommitWriter, names: Mapping[str, str], wanted: dict[str, Any]) -> Related:
    keys = {name: name_key(value) for name, value in names.items()}
    triple = (keys["source_entity"], keys["relation_type"], keys["target_entity"])
    same = _of_triple(commit, triple)
    known = next((row for row in same if row.valid_until is None), None)
    if known is not None and wanted.get("valid_until") is None:
        relation = _strengthen(commit, known, wanted)
        commit.targets.append(str(relation.uid))
        return Related(relation, created=False)
    relation = Relation(
        uid=uid_of(commit.actor.project_id, triple, len(same)), **_spelled(commit, names, keys),
        source_key=triple[0], type_key=triple[1], target_key=triple[2], **wanted, **commit.actor.stated(),
    )  # fmt: skip
    commit.targets.append(str(relation.uid))
    commit.add([relation])
    return Related(relation, created=True)


def _of_triple(commit: CommitWriter, triple: tuple[str, str, str]) -> Sequence[Relation]:
    rows = commit.visible(Relation).filter(source_key=triple[0], target_key=triple[2], type_key=triple[1])
    return rows.gather()


def _strengthen(commit: CommitWriter, known: Relation, wanted: Mapping[str, Any]) -> Relation:
    starts = [when for when in (known.valid_from, wanted.get("valid_from")) if when]
    return commit.change(
        known,
        strength=known.strength + 1,
        confidence=max(known.confidence, wanted.get("confidence", 0.0)),
        properties={**known.properties, **wanted.get("properties", {})},
        valid_from=min(starts) if starts else None,
    )


def _spelled(commit: CommitWriter, names: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
    """The entities in the spelling that the branch saw first."""
    entities = ("source_entity", "target_entity")
    first = {name: _first_spelling(commit, keys[name]) for name in entities}
    return {name: first.get(name) or value for name, value in names.items()}


def _first_spelling(commit: CommitWriter, key: str) -> str:
    """How the branch spells an entity: every edge took over the spelling of those before it."""
    for column, name in (("source_key", "source_entity"), ("target_key", "target_entity")):
        for row in commit.visible(Relation).filter(**{column: key}).newest(1):
            return str(getattr(row, name))
    return ""


# ---- walking ---------------------------------------------------------------------------------------


def true_edges(lineage: Lineage, at: Any = None) -> VersionedQuerySet[Relation]:
    """The edges that a lineage shows, as far as they are true: now, or at the time ``at``."""
    when = at if isinstance(at, datetime) else timezone.now()
    begun = Q(valid_from=None) | Q(valid_from__lte=when)
    return Relation.objects.along(lineage).filter(begun & (Q(valid_until=None) | Q(valid_until__gt=when)))


def _walk(rows: VersionedQuerySet[Relation], name: str, depth: int) -> Graph:
    start = name_key(name)
    seen, edges, truncated = walk(rows, {start: name}, depth)
    entity = _spelling_of(start, edges) or name
    return Graph(entity, [GraphNode(entity, 0), *list(seen.values())[1:]], edges, truncated)


def walk(
    rows: VersionedQuerySet[Relation], starts: Mapping[str, str], depth: int
) -> tuple[dict[str, GraphNode], list[Relation], bool]:
    """The entities within ``depth`` edges of some (by key, with their names), the nearest first; the edges
    on the way; and whether there were more of them than 1,000.
    """
    edges: dict[UUID, Relation] = {}
    seen = {key: GraphNode(name, 0) for key, name in starts.items()}
    frontier, truncated = set(starts), False
    for distance in range(1, depth + 1):
        found = [edge for edge in _edges_at(rows, frontier) if edge.uid not in edges]
        room = MOST_EDGES - len(edges)
        truncated = len(found) > room
        edges |= {edge.uid: edge for edge in found[:room]}
        frontier = _reached(found[:room], seen, distance)
        if truncated or not frontier:
            break
    return seen, list(edges.values()), truncated


def _reached(edges: Iterable[Relation], seen: dict[str, GraphNode], distance: int) -> set[str]:
    """The entities that these edges bring in, which are added to ``seen``."""
    new: set[str] = set()
    for edge in edges:
        for key, entity in _ends(edge):
            if key not in seen:
                seen[key] = GraphNode(entity, distance)
                new.add(key)
    return new


def _ends(edge: Relation) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source_key, edge.source_entity), (edge.target_key, edge.target_entity)


def _spelling_of(wanted: str, edges: Iterable[Relation]) -> str:
    return next((name for edge in edges for key, name in _ends(edge) if key == wanted), "")


def _edges_at(rows: VersionedQuerySet[Relation], keys: Iterable[str]) -> list[Relation]:
    """The edges at any of some entities, the strongest first; ties by age."""
    wanted = sorted(keys)
    found: dict[UUID, Relation] = {}
    for start in range(0, len(wanted), CHUNK):
        some = wanted[start : start + CHUNK]
        for column in ("source_key", "target_key"):
            at_some = rows.filter(**{f"{column}__in": some}).newest(MOST_EDGES + 1)
            found |= {row.uid: row for row in at_some}
    return sorted(found.values(), key=lambda row: (-row.strength, row.created_at, row.uid))
