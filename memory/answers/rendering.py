"""Rows as JSON, by a function that is made once of a serializer."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any

from django.db.models import Manager
from rest_framework import serializers as s

from memory.engines.support.pagination import Page

Render = Callable[..., dict[str, Any]]


def format_time(value: datetime | None) -> str | None:
    """Format a time as ISO 8601 in UTC with microseconds and Z."""
    return None if value is None else value.isoformat(timespec="microseconds").replace("+00:00", "Z")


def as_text(value: Any) -> str | None:
    return None if value is None else str(value)


CONVERT: dict[type[s.Field], Callable[[Any], Any]] = {s.DateTimeField: format_time, s.UUIDField: as_text}


def find_conversion(field: s.Field) -> Callable[[Any], Any] | None:
    """Return what makes the JSON of a field's value; None where it is JSON already.

    Parts with a shape of their own are rendered by that, except what is a dictionary already.
    """
    match field:
        case s.ListSerializer(child=s.Serializer() as part):
            return _render_each(build_renderer(type(part)))
        case s.Serializer():
            render = build_renderer(type(field))
            return lambda part: part if part is None or isinstance(part, dict) else render(part)
        case s.ListField(child=s.UUIDField()):
            return lambda ids: [str(uid) for uid in ids]
    return CONVERT.get(type(field))


def _render_each(render: Render) -> Callable[[Any], list[Any]]:
    def render_parts(parts: Any) -> list[Any]:
        rows = parts.all() if isinstance(parts, Manager) else parts
        return [row if isinstance(row, dict) else render(row) for row in rows]

    return render_parts


def build_renderer(shape: type[s.Serializer], *elsewhere: str) -> Render:
    """Return a function that renders a row by a shape; ``elsewhere`` are fields passed by name.

    Serializers would take twenty times as long, and a page has a hundred rows.
    """

    @cache
    def build_plan() -> tuple[dict[str, Any], list[tuple[str, Any, Any]]]:
        fields = shape().get_fields()
        plan = [
            (name, attrgetter(field.source or name), find_conversion(field))
            for name, field in fields.items()
            if name not in elsewhere
        ]
        return dict.fromkeys(fields), plan  # the first keeps the declared order

    def render_row(row: Any, **passed: Any) -> dict[str, Any]:
        start, plan = build_plan()  # with the first row: a start makes 170 renderers, a process uses a few
        found: dict[str, Any] = {**start, **passed}
        for name, read, convert in plan:
            found[name] = convert(read(row)) if convert else read(row)
        return found

    return render_row


def page_shape(batch: Page, render: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    return {"results": [render(row) for row in batch.results], "next": batch.next, "previous": batch.previous}
