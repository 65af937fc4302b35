"""The filters of lists and searches: one FilterSet per model, for requests, web pages and OpenAPI alike."""

from collections.abc import Mapping
from typing import Any

import django_filters as df

from memory.engines.filters import FactFilter
from memory.models import Branch, Fact, FactAssessment, ReviewItem, Snapshot, Workspace


class AnyOf(df.BaseInFilter, df.CharFilter):
    """One of some values, separated by commas."""


class AnyChoiceOf(df.BaseInFilter, df.ChoiceFilter):
    """One of some of the known values, separated by commas."""


def choice(choices: Any, text: str) -> AnyChoiceOf:
    return AnyChoiceOf(choices=choices.choices, help_text=text)


class FactFilterSet(df.FilterSet):
    """The names and types of the filters; what they mean is in the engine's FactFilter."""

    category = AnyOf(help_text="Facts of one of these categories.")
    kind = choice(Fact.Kind, "Facts of one of these kinds.")
    status = choice(Fact.Status, "Facts in one of these states of their life.")
    session_id = AnyOf(help_text="Facts written in one of these sessions.")
    agent_id = AnyOf(help_text="Facts written by one of these agents.")
    task_id = AnyOf(help_text="Facts written for one of these tasks.")
    priority = choice(Fact.Priority, "Facts of one of these priorities.")
    visibility = choice(Fact.Visibility, "Facts of one of these visibilities.")
    source_type = choice(Fact.SourceType, "Facts that came about in one of these ways.")
    origin = choice(Fact.Origin, "Facts of one of these origins.")
    tags = AnyOf(help_text="Facts that have all of these tags.")
    verification_status = df.ChoiceFilter(
        choices=FactAssessment.Status.choices, help_text="Facts with this verdict on what they say now."
    )
    min_confidence = df.NumberFilter(help_text="Facts with at least this confidence, 0 to 1.")
    max_confidence = df.NumberFilter(help_text="Facts with at most this confidence, 0 to 1.")
    created_after = df.IsoDateTimeFilter(help_text="Facts stored at this time or later.")
    created_before = df.IsoDateTimeFilter(help_text="Facts stored before this time.")
    valid_at = df.IsoDateTimeFilter(help_text="Facts that were true at this time.")
    valid_after = df.IsoDateTimeFilter(help_text="Facts that were still true after this time.")
    valid_before = df.IsoDateTimeFilter(help_text="Facts that were true already before this time.")
    pinned = df.BooleanFilter(help_text="Facts that are, or are not, pinned.")
    parent_id = df.UUIDFilter(help_text="The facts that replace the fact with this id.")

    class Meta:
        model = Fact
        fields: list[str] = []

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> FactFilter:
        """The engine's filter from what a caller gave. Raises UnknownField, Invalid."""
        return FactFilter.of(values)


class BranchFilterSet(df.FilterSet):
    archived = df.BooleanFilter(help_text="true lists archived branches too.")

    class Meta:
        model = Branch
        fields: list[str] = []


class ReviewFilterSet(df.FilterSet):
    branch = df.CharFilter(help_text="Questions about this branch; every branch when it is not given.")
    status = df.ChoiceFilter(choices=ReviewItem.Status.choices, help_text="Open or resolved questions.")
    kind = df.ChoiceFilter(choices=ReviewItem.Kind.choices, help_text="Questions of this kind.")
    fact_id = df.UUIDFilter(help_text="Questions about this fact.")

    class Meta:
        model = ReviewItem
        fields: list[str] = []


class SnapshotFilterSet(df.FilterSet):
    kind = df.ChoiceFilter(choices=Snapshot.Kind.choices, help_text="Points of branches, or of the store.")
    branch = df.CharFilter(help_text="Points of this branch.")

    class Meta:
        model = Snapshot
        fields: list[str] = []


class WorkspaceFilterSet(df.FilterSet):
    state = df.ChoiceFilter(choices=Workspace.State.choices, help_text="Open, promoted or dropped ones.")

    class Meta:
        model = Workspace
        fields: list[str] = []
