"""Drawing of a graph: the entity at the left, its neighbours beside it, theirs at the right; no line of text
covers another, and the same graph is always drawn the same.
"""

from collections.abc import Mapping, Sequence
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
    x: float
    y: float
    is_start: bool


@dataclass(frozen=True)
class DrawnEdge:
    relation: Relation
    path: str
    width: float
    is_ended: bool


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
    nodes = [DrawnNode(one.entity, *spots[name_key(one.entity)], not one.distance) for one in shown]
    edges = [edge for one in graph.edges if (edge := draw_edge(one, spots, when))]
    width = 2 * MARGIN + (len(columns) - 1) * COLUMN + BOX
    return Drawing(width, height + 2 * MARGIN, nodes, edges, len(graph.nodes) - len(shown))


def order_columns(nodes: Sequence[GraphNode], edges: Sequence[Relation]) -> list[list[GraphNode]]:
    """Return the nodes by distance; those of one entity stand together, in the order of their entities."""
    columns: list[list[GraphNode]] = []
    order: dict[str, float] = {}
    for distance in range(max(node.distance for node in nodes) + 1):
        column = [node for node in nodes if node.distance == distance]
        column.sort(key=lambda node: find_parent(node, edges, order))
        order |= {name_key(node.entity): place for place, node in enumerate(column)}
        columns.append(column)
    return columns


def find_parent(node: GraphNode, edges: Sequence[Relation], order: Mapping[str, float]) -> float:
    """Return the place of the first entity, already placed, that a node is connected to."""
    key = name_key(node.entity)
    ends = [
        edge.target_key if edge.source_key == key else edge.source_key
        for edge in edges
        if key in (edge.source_key, edge.target_key)
    ]
    return min((order[end] for end in ends if end in order), default=0)


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
    return DrawnEdge(edge, path, min(1 + edge.strength / 2, MAX_WIDTH), is_ended)
