"""Filters of sessions, observations and relations; the engines define their meaning."""

import django_filters as df

from memory.api.filters import filtering
from memory.engines.fields.capture import OBSERVATION_FILTERS, RELATION_FILTERS, SESSION_FILTERS
from memory.models import Observation, Relation, Session


@filtering(OBSERVATION_FILTERS)
class ObservationFilterSet(df.FilterSet):
    class Meta:
        model = Observation
        fields: list[str] = []


@filtering(RELATION_FILTERS)
class RelationFilterSet(df.FilterSet):
    class Meta:
        model = Relation
        fields: list[str] = []


@filtering(SESSION_FILTERS)
class SessionFilterSet(df.FilterSet):
    class Meta:
        model = Session
        fields: list[str] = []
