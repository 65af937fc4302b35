"""Serializers for events."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

from memory.answers import commits as commit_shapes
from memory.answers.rendering import build_renderer
from memory.answers.wire import Renderer
from memory.engines.activity.events import DESCRIBED, Event
from memory.engines.branches.diff import CHANGES


class ChangeShape(s.Serializer):
    """The change of one memory in a commit."""

    type = s.CharField(help_text="fact, link, verdict (of a fact), observation, relation, conversation …")
    id = s.UUIDField(source="uid")
    change = s.ChoiceField(choices=[(name, name) for name in CHANGES])
    line = s.CharField(help_text="How it begins, at most 200 characters; the verdict of a verdict.")


@extend_schema_serializer(many=False)
class EventShape(s.Serializer):
    """The data of one message."""

    id = s.IntegerField(source="position", help_text="Its number in the project: the id of the message.")
    kind = s.CharField(
        help_text="As in the log of a branch, such as fact.write; or branch.create, merge_request.approve."
    )
    branch = s.CharField()
    at = s.DateTimeField()
    actor_kind = s.CharField()
    actor_id = s.CharField()
    actor_label = s.CharField()
    surface = s.CharField()
    commit = commit_shapes.CommitShape(
        allow_null=True, help_text="null for what happened to the branch itself."
    )
    changes = ChangeShape(many=True, help_text=f"Empty when the commit has more than {DESCRIBED} of them.")


_event = build_renderer(EventShape, "commit", "changes")
_change = build_renderer(ChangeShape)


def event_shape(row: Event) -> dict[str, Any]:
    commit = commit_shapes.commit(row.commit) if row.commit else None
    return _event(row, commit=commit, changes=[_change(one) for one in row.changes])


def stream_message(row: Event) -> bytes:
    """Render an event as a message of a stream."""
    return b"id: %d\ndata: %s\n\n" % (row.position, Renderer().render(event_shape(row)))


def webhook_message(row: Event) -> bytes:
    """Render an event as the body that a webhook gets: its data is that of the stream."""
    message: bytes = Renderer().render({"type": row.kind, "timestamp": row.at, "data": event_shape(row)})
    return message
