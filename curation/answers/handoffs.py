"""What is answered of handoffs."""

from typing import Any

from rest_framework import serializers as s

from curation.engines.fields.handoffs import HANDOFF
from curation.engines.handoffs.packet import CHECKLIST, list_missing, measure_completeness
from curation.models import Handoff
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(HANDOFF.select_fields(Use.ANSWER))
class HandoffShape(d.AnswerShape):
    """A handoff without its facts and conversations."""

    completeness = s.FloatField(help_text="The share of the checklist that it meets, between 0 and 1.")
    missing = s.ListField(
        child=s.ChoiceField(choices=[(name, name) for name in CHECKLIST]), help_text="What it lacks of that."
    )


class HandoffFactShape(s.Serializer):
    """A fact as it was when it was handed over."""

    id = s.UUIDField()
    fact_text = s.CharField()
    essence = s.CharField()
    category = s.CharField()
    kind = s.CharField()
    priority = s.CharField()
    confidence = s.FloatField()
    verification_status = s.CharField()
    verification_method = s.CharField(
        help_text="human, judge, heuristic; empty of what nobody judged, and in packets of earlier releases."
    )
    created_at = s.DateTimeField()


class HandoffMessageShape(s.Serializer):
    """A message as it was when it was handed over."""

    id = s.UUIDField()
    role = s.CharField()
    sequence_num = s.IntegerField()
    content = s.CharField()
    truncated = s.BooleanField(help_text="Whether it was longer.")


class HandoffConversationShape(s.Serializer):
    """A conversation with the last of its messages."""

    id = s.UUIDField()
    title = s.CharField()
    messages = HandoffMessageShape(many=True)


class HandoffPacketShape(HandoffShape):
    """A handoff with all that its packet freezes."""

    handoff_id = s.UUIDField(help_text="The same as id.")
    blockers = s.ListField(child=s.CharField())
    facts = HandoffFactShape(many=True)
    conversations = HandoffConversationShape(many=True)


_render_row = build_renderer(HandoffShape, "completeness", "missing")
_render_packet = build_renderer(HandoffPacketShape, "completeness", "missing", "handoff_id")


def render_handoff(row: Handoff) -> dict[str, Any]:
    """Return a handoff as a list has it."""
    return _render_row(row, completeness=measure_completeness(row), missing=list_missing(row))


def render_packet(row: Handoff) -> dict[str, Any]:
    """Return a handoff with its facts and conversations."""
    measured = {"completeness": measure_completeness(row), "missing": list_missing(row)}
    return _render_packet(row, handoff_id=str(row.pk), **measured)
