"""Filters of sessions, observations and relations; the engines define their meaning."""

import django_filters as df

from memory.api.filters import declare_filters
from memory.engines.fields.capture import OBSERVATION_FILTERS, RELATION_FILTERS, SESSION_FILTERS
from memory.models import Observation, Relation, Session


@declare_filters(OBSERVATION_FILTERS)
class ObservationFilterSet(df.FilterSet):
    class Meta:
        model = Observation
        fields: list[str] = []


@declare_filters(RELATION_FILTERS)
class RelationFilterSet(df.FilterSet):
    class Meta:
        model = Relation
        fields: list[str] = []


@declare_filters(SESSION_FILTERS)
class SessionFilterSet(df.FilterSet):
    class Meta:
        model = Session
        fields: list[str] = []
