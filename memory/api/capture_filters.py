"""Filters of sessions, observations and relations; the engines define their meaning."""

import django_filters as df

from memory.api.filters import AnyOf, choice_filter
from memory.models import Observation, Relation, Session


class ObservationFilterSet(df.FilterSet):
    observation_type = choice_filter(Observation.Type, "Observations of one of these types.")
    outcome = choice_filter(Observation.Outcome, "Observations with one of these outcomes.")
    tool_name = AnyOf(help_text="Calls of one of these tools.")
    session_id = AnyOf(help_text="Observations of one of these sessions.")
    agent_id = AnyOf(help_text="Observations of one of these agents.")
    task_id = AnyOf(help_text="Observations made for one of these tasks.")
    after = df.IsoDateTimeFilter(help_text="Observations recorded at this time or later.")
    before = df.IsoDateTimeFilter(help_text="Observations recorded before this time.")

    class Meta:
        model = Observation
        fields: list[str] = []


class RelationFilterSet(df.FilterSet):
    source = df.CharFilter(help_text="Relations from this entity.")
    target = df.CharFilter(help_text="Relations to this entity.")
    relation_type = df.CharFilter(help_text="Relations of this type.")
    open_only = df.BooleanFilter(help_text="true leaves out what was closed.")

    class Meta:
        model = Relation
        fields: list[str] = []


class SessionFilterSet(df.FilterSet):
    status = df.ChoiceFilter(choices=Session.Status.choices, help_text="Sessions in this state.")
    agent_id = df.CharFilter(help_text="Sessions of this agent.")
    task_id = df.CharFilter(help_text="Sessions for this task.")

    class Meta:
        model = Session
        fields: list[str] = []
