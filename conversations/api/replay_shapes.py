"""Response serializers for replays."""

from typing import Any

from rest_framework import serializers as s

from conversations.engines.fields import REPLAY
from conversations.models import Replay
from memory.api import shapes
from memory.api.declared_serializers import AnswerShape, declare_fields
from memory.engines.fields.base import Use


@declare_fields(REPLAY.select_fields(Use.ANSWER))
class ReplayShape(AnswerShape):
    """A replay, as it is read."""

    memory = s.DictField(help_text="The state of the memory that the context was told from.")


class ReplayContextShape(s.Serializer):
    """What an agent goes on from, in the format of OpenAI's chat API."""

    replay_id = s.UUIDField()
    model = s.CharField()
    messages = s.ListField(child=s.DictField())
    tools = s.ListField(child=s.DictField())
    tokens = s.IntegerField(help_text="About how many the messages have.")
    temperature = s.FloatField(allow_null=True)
    max_tokens = s.IntegerField(allow_null=True)


_replay = shapes.build_renderer(ReplayShape, "memory")


def replay(row: Replay) -> dict[str, Any]:
    return _replay(row, memory=row.memory_state)
