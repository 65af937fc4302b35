"""Drawing of a graph: the entity at the left, its neighbours beside it, theirs at the right; no line of text
covers another, and the same graph is always drawn the same. A script lays the same drawing out by forces.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.engines.graph.engine import Graph, GraphNode
from memory.models import Relation
from memory.models.relations import name_key

COLUMN, ROW, BOX, MARGIN = 232, 30, 176, 8  # pixels: of a column, of a row, of a name, around all
MAX_NODES = 60
MAX_WIDTH = 6  # pixels of a line


@dataclass(frozen=True)
class DrawnNode:
    entity: str
    key: str
    x: float
    y: float
    is_start: bool


@dataclass(frozen=True)
class DrawnEdge:
    """Line of a relation; ``is_backwards``: its path begins at the target."""

    relation: Relation
    path: str
    width: float
    is_ended: bool
    is_backwards: bool


@dataclass(frozen=True)
class Drawing:
    """Nodes and edges with their places; ``hidden`` counts the entities that are left out."""

    width: int
    height: int
    nodes: Sequence[DrawnNode]
    edges: Sequence[DrawnEdge]
    hidden: int


def draw_graph(graph: Graph, when: Any) -> Drawing:
    """Place the nearest 60 entities in columns by their distance, each beside what leads to it."""
    shown = graph.nodes[:MAX_NODES]
    columns = order_columns(shown, graph.edges)
    places = {
        name_key(node.entity): (depth, place)
        for depth, column in enumerate(columns)
        for place, node in enumerate(column)
    }
    height = max(len(column) for column in columns) * ROW
    spots = {
        key: (MARGIN + depth * COLUMN, MARGIN + (place + 0.5) * height / len(columns[depth]))
        for key, (depth, place) in places.items()
    }
    keys = [name_key(one.entity) for one in shown]
    nodes = [
        DrawnNode(one.entity, key, *spots[key], not one.distance)
        for one, key in zip(shown, keys, strict=True)
    ]
    edges = [edge for one in graph.edges if (edge := draw_edge(one, spots, when))]
    width = 2 * MARGIN + (len(columns) - 1) * COLUMN + BOX
    return Drawing(width, height + 2 * MARGIN, nodes, edges, len(graph.nodes) - len(shown))


def order_columns(nodes: Sequence[GraphNode], edges: Sequence[Relation]) -> list[list[GraphNode]]:
    """Return the nodes by distance; those of one entity stand together, in the order of their entities."""
    columns: list[list[GraphNode]] = []
    order: dict[str, float] = {}
    neighbours = map_neighbours(edges)
    for distance in range(max(node.distance for node in nodes) + 1):
        column = [node for node in nodes if node.distance == distance]
        column.sort(key=lambda node: find_parent(neighbours.get(name_key(node.entity), ()), order))
        order |= {name_key(node.entity): place for place, node in enumerate(column)}
        columns.append(column)
    return columns


def map_neighbours(edges: Sequence[Relation]) -> dict[str, set[str]]:
    """Return the entities that each one is connected to, by their keys."""
    found: dict[str, set[str]] = {}
    for edge in edges:
        found.setdefault(edge.source_key, set()).add(edge.target_key)
        found.setdefault(edge.target_key, set()).add(edge.source_key)
    return found


def find_parent(neighbours: Iterable[str], order: Mapping[str, float]) -> float:
    """Return the place of the first neighbour that is placed already."""
    return min((order[key] for key in neighbours if key in order), default=0)


def draw_edge(edge: Relation, spots: Mapping[str, tuple[float, float]], when: Any) -> DrawnEdge | None:
    """Return the line of an edge; None where one of its ends is left out."""
    if edge.source_key not in spots or edge.target_key not in spots:
        return None
    (x1, y1), (x2, y2) = sorted((spots[edge.source_key], spots[edge.target_key]))
    start = x1 + BOX
    if x1 == x2:  # in one column the line leaves and comes back at the right
        path = (
            f"M{start:.0f} {y1:.1f}C{start + 60:.0f} {y1:.1f} {start + 60:.0f} {y2:.1f} {start:.0f} {y2:.1f}"
        )
    else:
        middle = (start + x2) / 2
        path = f"M{start:.0f} {y1:.1f}C{middle:.0f} {y1:.1f} {middle:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"
    is_ended = edge.valid_until is not None and edge.valid_until <= when
    is_backwards = spots[edge.source_key] > spots[edge.target_key]
    return DrawnEdge(edge, path, min(1 + edge.strength / 2, MAX_WIDTH), is_ended, is_backwards)
