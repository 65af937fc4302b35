"""What is answered of instructions, of rules, and of messages that are learned from at once."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

from conversations.engines.remembering import ACTIONS, Outcome, Remembered
from conversations.models import ConsolidationRun, Instructions
from memory.answers.derived import derive_shape, render_derived
from memory.answers.rendering import build_renderer
from memory.engines.sessions.lines import show_fact
from memory.engines.sessions.relevant import Entry
from memory.engines.sessions.standing import is_verified


@extend_schema_serializer(many=False)  # the route is named as a list's
class InstructionsShape(s.Serializer):
    """A version of what a project wants remembered."""

    number = s.IntegerField(help_text="0 where none were set: those of the preset coding hold.")
    preset = s.ChoiceField(Instructions.Preset.choices)
    text = s.CharField(help_text="What a language model is told to note.")
    categories = s.ListField(child=s.CharField(), help_text="In which it is noted.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class StatementShape(s.Serializer):
    """A statement that has standing in a repository."""

    id = s.UUIDField(source="fact.uid")
    text = s.CharField(help_text="As one line of at most 300 characters.")
    said_at = s.DateTimeField(source="at")
    verified = s.BooleanField(help_text="Else a person decided it.")


class StandingShape(s.Serializer):
    """What holds in a repository: verified, or decided by a person, and not contested."""

    repository = s.CharField()
    statements = StatementShape(many=True, help_text="In the order in which they were said, at most 100.")


class RuleShape(s.Serializer):
    """A rule by which sessions are learned from."""

    name = s.CharField()
    enabled = s.BooleanField(source="is_on", help_text="Whether sessions that end are learned from by it.")
    facts = s.IntegerField(help_text="Facts that it made on the branch, in any state.")
    searched = s.IntegerField(help_text="How many of them a search finds.")


render_instructions = build_renderer(InstructionsShape)
render_rule = build_renderer(RuleShape)
_statement = build_renderer(StatementShape, "text", "verified")


def render_standing(entries: Sequence[Entry], repository: str) -> dict[str, Any]:
    rows = [_statement(one, text=show_fact(one.fact), verified=is_verified(one.fact)) for one in entries]
    return {"repository": repository, "statements": rows}


RememberedShape = derive_shape(Outcome)


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
        "results": render_derived(found.outcomes),
        "counts": {action: counts[action] for action in ACTIONS},
        "mode": found.run.mode if found.run else ConsolidationRun.Mode.RULES.value,
        "note": found.note,
    }
