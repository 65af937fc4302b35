"""Request serializers, for OpenAPI. The engines validate; tests compare these with their rules."""

from typing import Any

from rest_framework import serializers as s

from memory import ranking
from memory.answers.declared_serializers import PointField, RequestShape, declare_fields, request_field
from memory.engines.fields import common
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.search.ranked import INCLUDE, TYPES
from memory.engines.support.pagination import MAX_CURSOR_LENGTH

WHOLE: dict[str, Any] = {"min_value": 0, "max_value": 2**53}


@declare_fields((common.BRANCH,))
class OnBranch(RequestShape):
    """The branch of a request."""


@declare_fields(common.STATED)
class Stated(RequestShape):
    """The caller's session, task and agent."""


class TimeRange(s.Serializer):
    """A time range from ``start`` on, and before ``end``."""

    start = s.DateTimeField(required=False)
    end = s.DateTimeField(required=False)
    field = s.ChoiceField(choices=["created", "valid"], required=False, help_text="created by default.")


class Searching(s.Serializer):
    """The options of a search; the same in a query and in a body."""

    search_type = s.ChoiceField(choices=TYPES, required=False, help_text="hybrid by default.")
    include = s.ListField(
        child=s.ChoiceField(choices=INCLUDE), required=False, help_text="What a search leaves out otherwise."
    )
    recipe = s.ChoiceField(choices=sorted(ranking.RECIPES), required=False, help_text="How scores are mixed.")
    limit = s.IntegerField(min_value=1, max_value=100, required=False, help_text="10 by default.")
    max_tokens = s.IntegerField(
        min_value=1, max_value=2**53, required=False, help_text="The budget of ``context``."
    )
    cursor = s.CharField(
        max_length=MAX_CURSOR_LENGTH,
        required=False,
        help_text="``next`` of another page of this search, whose limit and point hold; not with max_tokens.",
    )
    at = PointField(required=False)
    current_cycle = s.IntegerField(required=False, **WHOLE, help_text="Count ages in cycles up to this one.")


class SearchInput(OnBranch, Searching):
    """The query, branches, filters and options of a search."""

    query = s.CharField(max_length=8000, allow_blank=True)
    branches = s.ListField(
        child=s.CharField(max_length=200),
        required=False,
        help_text="Names or patterns such as task/*; branch_names is understood too.",
    )
    time_range = TimeRange(required=False)

    def get_fields(self) -> dict[str, s.Field]:
        filters = {one.name: request_field(one) for one in FACT_FILTERS}
        whose = {one.name: request_field(one) for one in common.END_USER}  # one, not several
        return {**super().get_fields(), **filters, **whose}
