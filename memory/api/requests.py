"""What requests hold, for OpenAPI. The engines check it; tests compare these with their rules."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from memory import ranking
from memory.actors import SCOPES
from memory.api.filters import FactFilterSet
from memory.engines.actions import ACTIONS, MOST, REASON
from memory.engines.facts import BULK
from memory.engines.keys import HIGHEST_RATE, LONGEST_GRACE
from memory.engines.review import DECISIONS
from memory.engines.search import INCLUDE, TYPES
from memory.models import Fact, FactAssessment, FactLink

POINT: dict[str, Any] = {
    "oneOf": [{"type": "integer", "minimum": 0}, {"type": "string"}],
    "description": "A point in the branch's past: a seq, a commit's id or a time in ISO 8601.",
}
WHOLE: dict[str, Any] = {"min_value": 0, "max_value": 2**53}
VERSIONS = s.DictField(
    child=s.IntegerField(**WHOLE), required=False, help_text="Ids, and the versions that were read."
)
KINDS = [choice for choice in Fact.Kind.choices if choice[0] != Fact.Kind.REFLECTION]
ORIGINS = [choice for choice in Fact.Origin.choices if choice[0] != Fact.Origin.DREAMING]


def short(least: int = 0, **options: Any) -> s.CharField:
    """A text of at most 200 characters."""
    bounds: dict[str, Any] = {"min_length": least} if least else {"allow_blank": True}
    return s.CharField(max_length=200, required=False, **bounds, **options)


@extend_schema_field(POINT)
class PointField(s.Field):
    """See POINT."""


class OnBranch(s.Serializer):
    """Where."""

    branch = short(help_text="main when it is not given; branch_name is understood too.")


class Stated(s.Serializer):
    """What the caller says of itself."""

    session_id = short(help_text="An unknown session begins here.")
    task_id = short()
    agent_id = short(help_text="403 when the key is bound to another agent.")


class Expecting(s.Serializer):
    """What the caller has read."""

    expected_version = s.IntegerField(required=False, **WHOLE, help_text="412 when the fact is at another.")


class FactContent(s.Serializer):
    """What a writer may say of a fact, and change later."""

    fact_text = s.CharField(max_length=65536, help_text="At most 64 KiB in UTF-8.")
    essence = short(1, help_text="The line for a prompt; made from the text when it is not given.")
    category = s.CharField(max_length=100, required=False, help_text="general when it is not given.")
    kind = s.ChoiceField(choices=KINDS, required=False)
    priority = s.ChoiceField(choices=Fact.Priority.choices, required=False)
    confidence = s.FloatField(min_value=0, max_value=1, required=False, help_text="0.7 by default.")
    source_id = short()
    source = short(help_text="The key's label when it is not given.")  # type: ignore[assignment]
    visibility = s.ChoiceField(choices=Fact.Visibility.choices, required=False)
    updated_cycle = s.IntegerField(required=False, **WHOLE)
    valid_from = s.DateTimeField(required=False, allow_null=True)
    valid_until = s.DateTimeField(required=False, allow_null=True, help_text="Later than valid_from.")
    expires_at = s.DateTimeField(required=False, allow_null=True)
    pinned = s.BooleanField(required=False)
    tags = s.ListField(child=s.CharField(max_length=100), max_length=50, required=False)
    metadata = s.DictField(required=False, help_text="At most 64 KiB of JSON, at most 64 levels deep.")


class FactItemInput(FactContent, Stated):
    """One fact of many."""

    parent_id = s.UUIDField(required=False, allow_null=True)
    source_type = s.ChoiceField(choices=Fact.SourceType.choices, required=False)
    origin = s.ChoiceField(choices=ORIGINS, required=False)
    created_cycle = s.IntegerField(required=False, **WHOLE)


class Writing(OnBranch, Stated):
    """Where and how facts are stored."""

    propose = s.BooleanField(required=False, help_text="Keep it as created: not searched until activated.")
    deduplicate = s.BooleanField(
        required=False, help_text="True by default: the same text is returned, not doubled."
    )


class FactInput(FactItemInput, Writing):
    """One fact to store."""


class FactsInput(Writing):
    """Up to 1,000 facts: one commit, all or none."""

    facts = s.ListField(child=FactItemInput(), min_length=1, max_length=BULK)


class FactUpdateInput(FactContent, OnBranch, Stated, Expecting):
    """What is to change; the rest stays."""

    status = s.ChoiceField(choices=Fact.Status.choices, required=False)

    def get_fields(self) -> dict[str, s.Field]:
        fields = super().get_fields()
        fields["fact_text"] = s.CharField(max_length=65536, required=False)
        return fields


class SupersedeInput(FactItemInput, OnBranch, Expecting):
    """The new fact. What is not given is taken over from the old one."""

    new_fact_text = s.CharField(max_length=65536, help_text="At most 64 KiB in UTF-8.")

    def get_fields(self) -> dict[str, s.Field]:
        unwanted = ("fact_text", "parent_id")
        return {name: field for name, field in super().get_fields().items() if name not in unwanted}


class MoveInput(OnBranch, Stated, Expecting):
    """Which branch, and who asks."""


class StatedInput(Stated):
    """Who asks."""


class VerdictInput(OnBranch, Stated, Expecting):
    """A person's verdict on what the fact says now."""

    verdict = s.ChoiceField(choices=FactAssessment.Status.choices)
    reason = s.CharField(max_length=2000, required=False, allow_blank=True)


class ActionInput(OnBranch, Stated):
    """What to do, and to which facts."""

    action = s.ChoiceField(choices=list(ACTIONS))
    fact_ids = s.ListField(child=s.UUIDField(), min_length=1, max_length=MOST)
    expected_versions = VERSIONS
    reason = s.CharField(max_length=REASON, required=False, allow_blank=True)
    category = s.CharField(max_length=100, required=False, help_text="The new one, with set_category.")
    replaced_by = s.UUIDField(
        required=False, allow_null=True, help_text="A fact that is there, with supersede."
    )
    new_fact_text = s.CharField(
        max_length=65536, required=False, help_text="A new fact instead of replaced_by, with supersede."
    )


class ResolveInput(Stated):
    """The answer to a question."""

    decision = s.ChoiceField(choices=list(DECISIONS))
    keep = s.UUIDField(
        required=False, allow_null=True, help_text="The fact that stays: supersede, same, archive."
    )
    new_fact_text = s.CharField(
        max_length=65536, required=False, help_text="What takes the place of both, with combine."
    )
    reason = s.CharField(max_length=REASON, required=False, allow_blank=True)
    expected_versions = VERSIONS


class LinkInput(OnBranch, Stated):
    """The other end of a link, and its type."""

    to_id = s.UUIDField()
    to_type = s.ChoiceField(choices=FactLink.Target.choices, required=False)
    link_type = s.ChoiceField(choices=FactLink.Type.choices)
    weight = s.FloatField(min_value=0, max_value=1, required=False, help_text="1.0 by default.")
    valid_from = s.DateTimeField(required=False, allow_null=True)
    valid_until = s.DateTimeField(required=False, allow_null=True)


class TimeRange(s.Serializer):
    """From ``start`` on, and before ``end``."""

    start = s.DateTimeField(required=False)
    end = s.DateTimeField(required=False)
    field = s.ChoiceField(choices=["created", "valid"], required=False, help_text="created by default.")


class Searching(s.Serializer):
    """How to search; the same in a query and in a body."""

    search_type = s.ChoiceField(choices=TYPES, required=False, help_text="hybrid by default.")
    include = s.ListField(
        child=s.ChoiceField(choices=INCLUDE), required=False, help_text="What a search leaves out otherwise."
    )
    recipe = s.ChoiceField(choices=sorted(ranking.RECIPES), required=False, help_text="How scores are mixed.")
    limit = s.IntegerField(min_value=1, max_value=100, required=False, help_text="10 by default.")
    max_tokens = s.IntegerField(
        min_value=1, max_value=2**53, required=False, help_text="The budget of ``context``."
    )
    at = PointField(required=False)
    current_cycle = s.IntegerField(required=False, **WHOLE, help_text="Count ages in cycles up to this one.")


class SearchInput(OnBranch, Searching):
    """What to look for, where and how."""

    query = s.CharField(max_length=8000, allow_blank=True)
    branches = s.ListField(
        child=s.CharField(max_length=200), required=False, help_text="Names or patterns such as task/*."
    )
    time_range = TimeRange(required=False)

    def get_fields(self) -> dict[str, s.Field]:
        return {**super().get_fields(), **filter_fields()}


class BranchInput(Stated):
    """A branch to be made."""

    name = s.CharField(
        max_length=200, help_text="Segments of a–z, 0–9, '.', '_' and '-', with '/' between them."
    )
    parent = short(1, help_text="main when it is not given.")  # type: ignore[assignment]
    at = PointField(required=False)
    purpose = s.CharField(max_length=500, required=False, allow_blank=True)


class KeyInput(s.Serializer):
    """What the key may do, where, how often and until when."""

    label = s.CharField(max_length=200)  # type: ignore[assignment]
    scopes = s.ListField(child=s.ChoiceField(choices=SCOPES), min_length=1)
    branch_patterns = s.ListField(
        child=s.CharField(max_length=200), required=False, help_text="Every branch when it is empty."
    )
    agent_id = short(help_text="Bind the key to this agent.")
    default_branch = short(help_text="Where MCP works when a call names no branch; main when it is empty.")
    rate_per_minute = s.IntegerField(min_value=1, max_value=HIGHEST_RATE, required=False)
    expires_at = s.DateTimeField(required=False, allow_null=True)


class RotateInput(s.Serializer):
    """How the old key ends."""

    grace_seconds = s.IntegerField(
        min_value=0, max_value=LONGEST_GRACE, required=False, help_text="How long the old key still opens."
    )


def filter_fields() -> dict[str, s.Field]:
    """The filters as fields of a body: lists where a query has commas."""
    return {name: _field(name, one) for name, one in FactFilterSet.base_filters.items()}


def _field(name: str, one: Any) -> s.Field:
    kind, extra = type(one).__name__, one.extra
    most = 200 if name.endswith("_id") else 100
    told: dict[str, Any] = {"required": False, "help_text": extra["help_text"]}
    match kind:
        case "AnyOf":
            return s.ListField(child=s.CharField(max_length=most), min_length=1, max_length=50, **told)
        case "AnyChoiceOf":
            return s.ListField(child=s.ChoiceField(extra["choices"]), min_length=1, max_length=50, **told)
        case "ChoiceFilter":
            return s.ChoiceField(extra["choices"], **told)
        case "NumberFilter":
            return s.FloatField(min_value=0, max_value=1, **told)
        case "BooleanFilter":
            return s.BooleanField(**told)
        case "UUIDFilter":
            return s.UUIDField(**told)
    return s.DateTimeField(**told)
