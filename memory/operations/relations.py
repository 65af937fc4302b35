"""What may be done with relations, and with the graph that they make."""

from operator import attrgetter
from typing import Any

from memory.answers import capture as shapes
from memory.engines.fields.base import Use
from memory.engines.fields.capture import RELATION, RELATION_FILTERS
from memory.engines.fields.common import STATED
from memory.engines.graph.engine import RelationEngine, RelationResult
from memory.engines.support.ordering import BY_AGE
from memory.models import Relation
from memory.operations.base import Answer, Resource, Row


def render_written(done: RelationResult, branch: str) -> dict[str, Any]:
    """Return a relation as stored, and whether it was made now."""
    return {**shapes.relation(done.relation, branch=branch), "created": done.created}


engine = RelationEngine()
ROW = Answer(shapes.RelationShape, shapes.relation, takes=("branch",))

RELATIONS = Resource(
    "relations", "relation", row=Row("relation_id", "pk", "uuid"), model=Relation, origin=STATED
)
RELATIONS.add(
    "create",
    engine.write_relation,
    "State a relation",
    Answer(shapes.WrittenRelationShape, render_written, attrgetter("created"), takes=("branch",)),
    body="RelationInput",
    about="An edge between two entities.",
    fields=RELATION.select_fields(Use.CREATE),
)
RELATIONS.add("list", engine.list_relations, "List relations", ROW, filters=RELATION_FILTERS, order=BY_AGE)
RELATIONS.add("retrieve", engine.get_relation, "Read a relation", ROW)
RELATIONS.add_read(
    "graph",
    engine.graph_query,
    "What is connected to an entity",
    Answer(shapes.GraphShape, shapes.graph_shape, takes=("branch",)),
    of_row=False,
    without=("with_ended",),
)
RELATIONS.add(
    "close",
    engine.close_relation,
    "Say until when it was true",
    ROW,
    body="CloseInput",
    about="The end of a relation's validity.",
)
