"""What is answered of instructions, of rules, and of messages that are learned from at once."""

from collections import Counter
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

from conversations.engines.remembering import ACTIONS, Outcome, Remembered
from conversations.models import ConsolidationRun, Instructions
from memory.answers.rendering import build_renderer


@extend_schema_serializer(many=False)  # the route is named as a list's
class InstructionsShape(s.Serializer):
    """A version of what a project wants remembered."""

    number = s.IntegerField(help_text="0 where none were set: those of the preset coding hold.")
    preset = s.ChoiceField(Instructions.Preset.choices)
    text = s.CharField(help_text="What a language model is told to note.")
    categories = s.ListField(child=s.CharField(), help_text="In which it is noted.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class RuleShape(s.Serializer):
    """A rule by which sessions are learned from."""

    name = s.CharField()
    enabled = s.BooleanField(source="is_on", help_text="Whether sessions that end are learned from by it.")
    facts = s.IntegerField(help_text="Facts that it made on the branch, in any state.")
    searched = s.IntegerField(help_text="How many of them a search finds.")


render_instructions = build_renderer(InstructionsShape)
render_rule = build_renderer(RuleShape)


class RememberedShape(s.Serializer):
    """What became of a statement, or of a message of which nothing was learned."""

    action = s.ChoiceField(ACTIONS)
    text = s.CharField(help_text="Of the fact; of an ignored message, its beginning.")
    reason = s.CharField()
    fact_id = s.UUIDField(allow_null=True, help_text="What was added, updated or superseded.")
    category = s.CharField(help_text="Empty for an ignored message.")
    person = s.CharField(
        help_text="Whom a plain fact of a life is about: a name, a relation, or user for who speaks."
    )
    message_id = s.UUIDField(allow_null=True, help_text="The message that says it.")
    newer_id = s.UUIDField(allow_null=True, help_text="Of a superseded fact: the one in its place.")


class RememberShape(s.Serializer):
    """What became of messages."""

    session_id = s.CharField()
    conversation_id = s.UUIDField()
    results = RememberedShape(many=True)
    counts = s.DictField(child=s.IntegerField(), help_text="How many of each action.")
    mode = s.ChoiceField(ConsolidationRun.Mode.values, help_text="Who read them: rules, or a language model.")
    note = s.CharField(help_text="Why a model did not read all of them.")


def render_remembered(found: Remembered) -> dict[str, Any]:
    counts = Counter(one.action for one in found.outcomes)
    return {
        "session_id": found.session_id,
        "conversation_id": str(found.conversation_id),
        "results": [render_outcome(one) for one in found.outcomes],
        "counts": {action: counts[action] for action in ACTIONS},
        "mode": found.run.mode if found.run else ConsolidationRun.Mode.RULES.value,
        "note": found.note,
    }


def render_outcome(one: Outcome) -> dict[str, Any]:
    return {
        "action": one.action,
        "text": one.text,
        "reason": one.reason,
        "fact_id": str(one.fact.uid) if one.fact else None,
        "category": one.fact.category if one.fact else "",
        "person": one.person,
        "message_id": str(one.message_id) if one.message_id else None,
        "newer_id": str(one.newer_id) if one.newer_id else None,
    }
