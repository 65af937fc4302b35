"""The knowledge graph: edges between named entities, and traversal."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.budget import count_fitting, count_row_bytes, take_within
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.facts.rules import check_interval
from memory.engines.fields.base import NO_USE, Field, Option, Use
from memory.engines.fields.capture import NAME_LENGTH, RELATION, RELATION_NAMES, RelationFields
from memory.engines.fields.common import STATED_CHECKS
from memory.engines.fields.types import Reference, Whole
from memory.engines.graph.entities import find_names
from memory.engines.support import validation as c
from memory.engines.support.pagination import PAGE_BYTES, Page, check_limit, paginate_versions
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.lookup import MAIN, open_point
from memory.engines.versions.policies import Write
from memory.exceptions import IllegalTransition, Invalid, NotFound
from memory.models import Relation
from memory.models.relations import build_relation_uid, name_key

MAX_DEPTH = 6
MAX_EDGES = 1000
ENTITY = Field("entity", Reference(NAME_LENGTH), "Where to begin.", NO_USE)
DEPTH = Field(
    "depth", Whole(1, MAX_DEPTH), "Edges away.", option=Option(f"steps away, 1 to {MAX_DEPTH}; default 2")
)
EDGE_TYPE = Field(
    "relation_type",
    Reference(NAME_LENGTH),
    "Only edges of this type; type is understood too.",
    option=Option("only edges of this type", "--type", "TYPE"),
    alias="type",
)
ENDED_AT = RELATION["valid_until"].with_traits(
    help="Now when it is not given.", option=Option("default: now")
)
BATCH_SIZE = 500
CHECKS = {f.name: f.check for f in RELATION.select_fields(Use.CREATE) if f.name not in RELATION_NAMES}


@dataclass(frozen=True)
class RelationResult:
    """Stored relation; ``created`` is False where an open edge was strengthened."""

    relation: Relation
    created: bool


@dataclass(frozen=True)
class GraphNode:
    """Entity and its distance, in edges, from the start."""

    entity: str
    distance: int


@dataclass
class Graph:
    """Result of a traversal, nearest first. ``truncated``: there were more edges than the limit."""

    entity: str
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[Relation] = field(default_factory=list)
    truncated: bool = False


@retry_methods
class RelationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_relation(
        self,
        *,
        source_entity: str,
        relation_type: str,
        target_entity: str,
        actor: Actor,
        branch_name: str = MAIN,
        **fields: Unpack[RelationFields],
    ) -> RelationResult:
        """State a relation between two entities. Stated again while it is open, the edge is strengthened:
        ``strength`` counts it, the higher confidence stays, new properties are added.

        Names match regardless of case and Unicode form; the first spelling is kept. Raises Invalid and its
        subclasses, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require_scope("write", branch_name)
        texts = {
            "source_entity": source_entity,
            "relation_type": relation_type,
            "target_entity": target_entity,
        }
        names = {name: clean_name(name, c.without_secrets(name, value)) for name, value in texts.items()}
        known = {name: value for name, value in fields.items() if name in STATED_CHECKS}
        rest = {name: value for name, value in fields.items() if name not in known}
        actor, requested = actor.with_origin(**c.validate(known, STATED_CHECKS)), c.validate(rest, CHECKS)
        check_interval(requested.get("valid_from"), requested.get("valid_until"))
        with open_commit(actor, branch_name, "relation.write", write=Write.ADD) as commit:
            return state_relation(commit, names, requested)

    def close_relation(
        self,
        *,
        relation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        valid_until: Annotated[Any, ENDED_AT] = None,
    ) -> Relation:
        """Close a relation now, or at a given time. Raises NotFound, IllegalTransition when it is closed."""
        actor.require_scope("write", branch_name, grows=False)
        until = c.parse_time("valid_until", valid_until)
        with open_commit(actor, branch_name, "relation.close") as commit:
            relation = commit.get_version(Relation, relation_id)
            if relation.valid_until:
                raise IllegalTransition("This relation was closed already.")
            check_interval(relation.valid_from, until or commit.at)
            commit.targets.append(str(relation.uid))
            return commit.change_row(relation, valid_until=until or commit.at)

    # ---- reading -------------------------------------------------------------------------------

    def get_relation(
        self, *, relation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Relation:
        """Return a relation of a branch. Raises NotFound."""
        branch, seq = open_point(actor, branch_name, at)
        for row in Relation.objects.on(branch, seq).filter(uid=relation_id).fetch_all():
            return row
        raise NotFound()

    def list_relations(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        source: str = "",
        target: str = "",
        relation_type: str = "",
        open_only: bool = False,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Relation]:
        """List relations in the order of their ids; ``open_only`` leaves out closed ones."""
        branch, seq = open_point(actor, branch_name, at, cursor)
        rows = Relation.objects.on(branch, seq)
        for column, name in (("source_key", source), ("target_key", target), ("type_key", relation_type)):
            if name:
                rows = rows.filter(**{column: name_key(clean_name(column, name))})
        if open_only:
            rows = rows.filter(valid_until=None)
        return paginate_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at, ordering=ordering)

    def list_entities(
        self, *, part: str, actor: Actor, branch_name: str = MAIN, at: Any = None, limit: int = 10
    ) -> list[str]:
        """Return names of entities that begin with a part of a name, else those that hold it, in order.

        Raises Invalid, BranchNotFound.
        """
        actor.require_scope("read", branch_name)
        key = name_key(clean_name("entity", part))
        rows = Relation.objects.on(*open_point(actor, branch_name, at))
        return find_names(rows, key, check_limit(limit))

    def graph_query(
        self,
        *,
        entity: Annotated[str, ENTITY],
        actor: Actor,
        depth: Annotated[int, DEPTH] = 2,
        relation_type: Annotated[str, EDGE_TYPE] = "",
        branch_name: str = MAIN,
        with_ended: bool = False,
        at: Any = None,
    ) -> Graph:
        """Return the graph around an entity, breadth first over edges in both directions, as the branch shows
        them and as far as they are valid (now, or at the time ``at``). An unknown entity has no edges.

        ``depth`` is 1 to 6; ``with_ended`` takes edges along that are not valid any more, or not yet. At most
        1,000 edges are returned, the nearest first. Raises Invalid, BranchNotFound.
        """
        actor.require_scope("read", branch_name)
        name = clean_name("entity", entity)
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MAX_DEPTH:
            raise Invalid("depth must be a whole number from 1 to {most}.", most=MAX_DEPTH, field="depth")
        branch, seq = open_point(actor, branch_name, at)
        lineage = branch.lineage(seq)
        rows = Relation.objects.in_lineage(lineage) if with_ended else true_edges(lineage, at)
        if relation_type:
            rows = rows.filter(type_key=name_key(clean_name("relation_type", relation_type)))
        return build_graph(rows, name, depth)


# ---- writing ---------------------------------------------------------------------------------------


def clean_name(field: str, value: Any) -> str:
    """Return a name with its white space trimmed and collapsed. Raises Invalid."""
    text = " ".join(c.text_check(NAME_LENGTH, min_length=1)(field, value).split())
    if len(name_key(text)) > NAME_LENGTH:
        raise Invalid("{field} has at most {most} characters once normalised.", field=field, most=NAME_LENGTH)
    return text


def state_relation(
    commit: CommitWriter, names: Mapping[str, str], requested: dict[str, Any]
) -> RelationResult:
    keys = {name: name_key(value) for name, value in names.items()}
    triple = (keys["source_entity"], keys["relation_type"], keys["target_entity"])
    same = find_triple(commit, triple)
    known = next((row for row in same if row.valid_until is None), None)
    if known is not None and requested.get("valid_until") is None:
        relation = strengthen_relation(commit, known, requested)
        commit.targets.append(str(relation.uid))
        return RelationResult(relation, created=False)
    relation = Relation(
        uid=_free_uid(commit, triple, {row.uid for row in same}),
        **load_spellings(commit, names, keys),
        source_key=triple[0],
        type_key=triple[1],
        target_key=triple[2],
        **requested,
        **commit.actor.origin_fields(),
    )
    commit.targets.append(str(relation.uid))
    commit.add_rows([relation])
    return RelationResult(relation, created=True)


def find_triple(commit: Any, triple: tuple[str, str, str]) -> Sequence[Relation]:
    """Return the edges of a triple that a commit, or the view of a dry run, shows."""
    rows = commit.visible_rows(Relation).filter(
        source_key=triple[0], target_key=triple[2], type_key=triple[1]
    )
    return rows.fetch_all()


def _free_uid(commit: CommitWriter, triple: tuple[str, str, str], visible: Collection[UUID]) -> UUID:
    """Return the first id of a triple that no visible edge has, and none that was erased: a reverted edge
    leaves its id free.
    """
    project_id = commit.actor.project_id
    uids = (build_relation_uid(project_id, triple, ordinal) for ordinal in count())
    return next(uid for uid in uids if uid not in visible and not erased_uids(project_id, [uid]))


def strengthen_relation(commit: CommitWriter, known: Relation, requested: Mapping[str, Any]) -> Relation:
    """Strengthen an open edge. Raises TooLarge when the merged properties exceed their limit."""
    starts = [when for when in (known.valid_from, requested.get("valid_from")) if when]
    merged = {**known.properties, **requested.get("properties", {})}
    return commit.change_row(
        known,
        strength=known.strength + 1,
        confidence=max(known.confidence, requested.get("confidence", 0.0)),
        properties=CHECKS["properties"]("properties", merged),
        valid_from=min(starts) if starts else None,
    )


def load_spellings(commit: CommitWriter, names: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
    """Return the names in the spelling that the branch saw first."""
    entities = ("source_entity", "target_entity")
    first = {name: _first_spelling(commit, keys[name]) for name in entities}
    return {name: first.get(name) or value for name, value in names.items()}


def _first_spelling(commit: CommitWriter, key: str) -> str:
    """Return the branch's spelling of an entity: every edge took over the spelling of those before it."""
    for column, name in (("source_key", "source_entity"), ("target_key", "target_entity")):
        for row in commit.visible_rows(Relation).filter(**{column: key}).newest(1):
            return str(getattr(row, name))
    return ""


# ---- traversal -------------------------------------------------------------------------------------


def true_edges(lineage: Lineage, at: Any = None) -> VersionedQuerySet[Relation]:
    """Return the edges of a lineage that are valid now, or at the time ``at``."""
    when = at if isinstance(at, datetime) else timezone.now()
    begun = Q(valid_from=None) | Q(valid_from__lte=when)
    return Relation.objects.in_lineage(lineage).filter(
        begun & (Q(valid_until=None) | Q(valid_until__gt=when))
    )


def build_graph(rows: VersionedQuerySet[Relation], name: str, depth: int) -> Graph:
    start = name_key(name)
    seen, edges, truncated = walk_edges(rows, {start: name}, depth)
    entity = _find_spelling(start, edges) or name
    return Graph(entity, [GraphNode(entity, 0), *list(seen.values())[1:]], edges, truncated)


def walk_edges(
    rows: VersionedQuerySet[Relation], starts: Mapping[str, str], depth: int
) -> tuple[dict[str, GraphNode], list[Relation], bool]:
    """Traverse up to ``depth`` edges; return the entities (by key, with their names), nearest first, the
    edges passed, and whether the limits on edges (1,000) or on bytes of a page cut the traversal short.
    """
    edges: dict[UUID, Relation] = {}
    seen = {key: GraphNode(name, 0) for key, name in starts.items()}
    frontier, truncated = set(starts), False
    for distance in range(1, depth + 1):
        found = [edge for edge in _edges_at(rows, frontier) if edge.uid not in edges]
        free_places = _count_fitting([*edges.values(), *found]) - len(edges)
        truncated = len(found) > free_places
        edges |= {edge.uid: edge for edge in found[:free_places]}
        frontier = add_reached(found[:free_places], seen, distance)
        if truncated or not frontier:
            break
    return seen, list(edges.values()), truncated


def _count_fitting(edges: Sequence[Relation]) -> int:
    return min(MAX_EDGES, count_fitting([count_row_bytes(edge) for edge in edges], PAGE_BYTES))


def add_reached(edges: Iterable[Relation], seen: dict[str, GraphNode], distance: int) -> set[str]:
    """Add the new entities of these edges to ``seen``, and return their keys."""
    new: set[str] = set()
    for edge in edges:
        for key, entity in edge_ends(edge):
            if key not in seen:
                seen[key] = GraphNode(entity, distance)
                new.add(key)
    return new


def edge_ends(edge: Relation) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source_key, edge.source_entity), (edge.target_key, edge.target_entity)


def _find_spelling(requested: str, edges: Iterable[Relation]) -> str:
    return next((name for edge in edges for key, name in edge_ends(edge) if key == requested), "")


def _edges_at(rows: VersionedQuerySet[Relation], keys: Iterable[str]) -> list[Relation]:
    """Return the edges at any of the entities, strongest first; ties by age."""
    requested = sorted(keys)
    found: dict[UUID, Relation] = {}
    for start in range(0, len(requested), BATCH_SIZE):
        batch = requested[start : start + BATCH_SIZE]
        for column in ("source_key", "target_key"):
            at_some = rows.filter(**{f"{column}__in": batch}).stream(MAX_EDGES + 1, "uid", down=True)
            found |= {row.uid: row for row in take_within(at_some, MAX_EDGES + 1, PAGE_BYTES)}
    return sorted(found.values(), key=lambda row: (-row.strength, row.created_at, row.uid))
