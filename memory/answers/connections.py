"""What is answered of connected programs."""

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.connections import CONNECTION


@declare_fields(CONNECTION.select_fields(Use.ANSWER))
class ConnectionShape(AnswerShape):
    """A program that a person connected by OAuth; its tokens are not in it."""


render_connection = build_renderer(ConnectionShape)
