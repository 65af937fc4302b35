"""What requests about sessions, observations and relations hold, for OpenAPI. The engines check it."""

from rest_framework import serializers as s

from memory.api.requests import OnBranch, Stated, short
from memory.models import Observation, Session


class ObservationInput(OnBranch, Stated):
    """A summary, or a tool call that one is made of. Texts are cut at 2,000 characters, never refused."""

    summary = s.CharField(required=False, allow_blank=True, help_text="Made from the call when not given.")
    tool_name = s.CharField(required=False, allow_blank=True)
    raw_input = s.JSONField(required=False, help_text="A text or JSON.")
    raw_output = s.JSONField(required=False, help_text="A text or JSON.")
    observation_type = s.ChoiceField(choices=Observation.Type.choices, required=False)
    outcome = s.ChoiceField(choices=Observation.Outcome.choices, required=False)
    parent_id = s.UUIDField(required=False, allow_null=True)
    message_id = s.UUIDField(required=False, allow_null=True)
    metadata = s.DictField(required=False)
    embed = s.BooleanField(required=False, help_text="Not for plain tool calls, by default.")


class RelationInput(OnBranch, Stated):
    """An edge between two entities."""

    source_entity = s.CharField(max_length=200)
    relation_type = s.CharField(max_length=200)
    target_entity = s.CharField(max_length=200)
    properties = s.DictField(required=False)
    confidence = s.FloatField(min_value=0, max_value=1, required=False, help_text="1.0 by default.")
    valid_from = s.DateTimeField(required=False, allow_null=True)
    valid_until = s.DateTimeField(required=False, allow_null=True, help_text="Later than valid_from.")


class CloseInput(OnBranch, Stated):
    """Until when it was true."""

    valid_until = s.DateTimeField(required=False, allow_null=True, help_text="Now when it is not given.")


class SessionInput(OnBranch):
    """A session; the id is the client's own."""

    session_id = s.CharField(max_length=200)
    project_path = s.CharField(max_length=1000, required=False, allow_blank=True)
    parent_session = short()
    task_id = short()
    agent_id = short(help_text="403 when the key is bound to another agent.")


class EndInput(s.Serializer):
    """How it ended."""

    status = s.ChoiceField(
        choices=[Session.Status.COMPLETED.value, Session.Status.ABANDONED.value], required=False
    )
    summary = s.CharField(max_length=65536, required=False, allow_blank=True)
