"""What is answered of terms."""

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.terms import TERM


@d.declare_fields(TERM.select_fields(Use.ANSWER))
class TermShape(d.AnswerShape):
    """A term, as it is read."""


render = build_renderer(TermShape)
