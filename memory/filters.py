"""Filters of lists and searches: one FilterSet per model, for requests and OpenAPI."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import django_filters as df
from django.db.models import Model

from memory.engines.facts.filters import FactFilter
from memory.engines.fields import types
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.fields.filters import FilterField
from memory.models import Fact

Filters = TypeVar("Filters", bound=df.FilterSet)


class AnyOf(df.BaseInFilter, df.CharFilter):
    """A filter by one of several values, separated by commas."""


class AnyChoiceOf(df.BaseInFilter, df.ChoiceFilter):
    """A filter by one of several known values, separated by commas."""


def declare_filters(fields: Iterable[FilterField]) -> Callable[[type[Filters]], type[Filters]]:
    """Return a decorator that puts declared filters into a FilterSet."""

    def add_filters(filters: type[Filters]) -> type[Filters]:
        filters.base_filters = {field.name: make_filter(field) for field in fields} | filters.base_filters
        return filters

    return add_filters


def make_filter(field: FilterField) -> df.Filter:
    """Return the filter of a FilterSet for a declared one."""
    traits: dict[str, Any] = {"field_name": field.name, "help_text": field.help}
    match field.type:
        case types.Choice() as known:
            return (AnyChoiceOf if field.many else df.ChoiceFilter)(choices=known.choices, **traits)
        case types.Number():
            return df.NumberFilter(**traits)
        case types.Moment():
            return df.IsoDateTimeFilter(**traits)
        case types.Flag():
            return df.BooleanFilter(**traits)
        case types.Identifier():
            return df.UUIDFilter(**traits)
        case types.Text() as text if not field.many:
            return df.CharFilter(max_length=text.max_length, **traits)
    return (AnyOf if field.many else df.CharFilter)(**traits)


def build_filter_set(of: type[Model], filters: tuple[FilterField, ...]) -> type[df.FilterSet]:
    """Return the FilterSet of declared filters."""
    meta = type("Meta", (), {"model": of, "fields": []})
    name = f"{of.__name__}FilterSet"
    return declare_filters(filters)(type(name, (df.FilterSet,), {"Meta": meta}))


@declare_filters(FACT_FILTERS)
class FactFilterSet(df.FilterSet):
    """The names and types of the filters; the engine's FactFilter defines their meaning."""

    class Meta:
        model = Fact
        fields: list[str] = []

    @classmethod
    def parse_values(cls, values: Mapping[str, Any]) -> FactFilter:
        """Parse the engine's filter from a caller's values. Raises UnknownField, Invalid."""
        return FactFilter.from_values(values)
