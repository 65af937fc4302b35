"""What is answered of keys."""

from rest_framework import serializers as s

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.keys import KEY


@declare_fields(KEY.select_fields(Use.ANSWER))
class KeyShape(AnswerShape):
    """A key; its token is not in it."""


class NewKeyShape(KeyShape):
    """A new key. The token is returned once; it is null in the answer to a repeated request."""

    token = s.CharField(allow_null=True)


key = build_renderer(KeyShape)
