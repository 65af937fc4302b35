"""Request serializers for sessions, observations and relations, for OpenAPI. The engines validate."""

from memory.answers.declared_serializers import declare_fields, request_field
from memory.answers.requests import OnBranch, Stated
from memory.engines.fields.base import Use
from memory.engines.fields.capture import OBSERVATION, RELATION


@declare_fields(OBSERVATION.select_fields(Use.CREATE))
class ObservationInput(OnBranch, Stated):
    """A summary, or a tool call to summarise. Texts are cut at 2,000 characters, never refused."""


@declare_fields(RELATION.select_fields(Use.CREATE))
class RelationInput(OnBranch, Stated):
    """An edge between two entities."""

    relation_type = request_field(RELATION["relation_type"], help_text="type is understood too.")


class CloseInput(OnBranch, Stated):
    """The end of a relation's validity."""

    valid_until = request_field(RELATION["valid_until"], help_text="Now when it is not given.")
