"""Answers of analytics as CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.http import StreamingHttpResponse

from analytics.engines.answers import Point
from memory.csv_text import write_line

CSV = "csv"


def write_csv(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines: the points of trends as a table, everything else a figure a line."""
    for row in list_points(values["points"]) if "points" in values else list_figures(values):
        yield write_line(row)


def list_points(points: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Any]]:
    yield [one.name for one in fields(Point)]
    yield from (list(point.values()) for point in points)


def list_figures(values: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    yield ["figure", "of", "value"]
    yield from flatten(values, [])


def flatten(value: Any, path: list[str]) -> Iterator[Sequence[Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flatten(inner, [*path, str(name)])
    elif isinstance(value, list):
        for one in value:
            name, *columns = one
            for column in columns:
                yield from flatten(one[column], [*path, str(one[name]), column])
    else:
        yield [path[0], ".".join(path[1:]), value]


def stream_csv(values: dict[str, Any], name: str) -> StreamingHttpResponse:
    """Return figures as a file of CSV, line by line."""
    response = StreamingHttpResponse(write_csv(values), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="analytics-{name}.csv"'
    return response
