"""What may be done with terms: write, list."""

from memory.answers.declared_serializers import declare_answer
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.terms import TERM
from memory.engines.graph.terms import TermEngine
from memory.models.terms import Term
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine, shape = TermEngine(), declare_answer(TERM, "A term, as it is read.")
ROW = Answer(shape, build_renderer(shape))

TERMS = Resource("terms", "term", row=Row("term_id", "pk", "uuid"), model=Term)
TERMS.add(
    "create",
    engine.write_term,
    "Write a term",
    ROW,
    body="TermInput",
    about="A new term.",
    fields=TERM.select_fields(Use.CREATE),
)
TERMS.add("list", engine.list_terms, "List terms, newest first", ROW)
TERMS.show("list", Column("name", "Name", "name"), Column("meaning", "Meaning", "meaning"))
