"""What is answered of items."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import as_text, build_renderer
from memory.engines.facts.batch import WriteResult
from memory.engines.fields.base import Use
from memory.engines.fields.items import ITEM
from memory.engines.items.batch import CallResult


@declare_fields(ITEM.select_fields(Use.ANSWER))
class ItemShape(AnswerShape):
    """An item, as visible on the requested branch."""


class WrittenItemShape(ItemShape):
    """An item as stored; ``created`` is false where one stood under the key already."""

    created = s.BooleanField()


class FoundItemShape(ItemShape):
    """An item among the results of a search; ``score`` and ``evidence`` are null without a query."""

    score = s.FloatField(allow_null=True, help_text="Its place among the results of this search.")
    evidence = s.FloatField(
        allow_null=True, help_text="How likely it answers the query, whatever the query: 0 to 1."
    )


class ItemResultShape(s.Serializer):
    """What came of one call: of each kind the fields that it has."""

    op = s.CharField()
    id = s.UUIDField(
        required=False, allow_null=True, help_text="Of a put; null where a later call deleted it."
    )
    version = s.IntegerField(required=False, allow_null=True, help_text="Of a put.")
    created = s.BooleanField(required=False, help_text="Of a put: whether nothing stood there.")
    item = ItemShape(required=False, allow_null=True, help_text="Of a get; null where nothing stands there.")
    deleted = s.BooleanField(required=False, help_text="Of a delete: whether something stood there.")
    items = FoundItemShape(many=True, required=False, help_text="Of a search.")
    more = s.BooleanField(required=False, help_text="Of a search: whether there are more.")
    namespaces = s.ListField(child=s.CharField(), required=False)


class ItemResultsShape(s.Serializer):
    results = ItemResultShape(many=True, help_text="In the order of the calls.")


class NamespacesShape(s.Serializer):
    namespaces = s.ListField(child=s.CharField())


item = build_renderer(ItemShape, "branch")
_found = build_renderer(FoundItemShape, "branch", "score", "evidence")


def written_item(written: WriteResult, branch: str) -> dict[str, Any]:
    return {**item(written.fact, branch=branch), "created": written.created}


def results_shape(results: list[CallResult], branch: str) -> dict[str, Any]:
    return {"results": [RENDER[one.op](one, branch) | {"op": one.op} for one in results]}


def namespaces_shape(found: list[str]) -> dict[str, Any]:
    return {"namespaces": found}


def _put_result(one: CallResult, _: str) -> dict[str, Any]:
    row = one.item
    return {"id": as_text(row and row.uid), "version": row and row.version, "created": one.created}


def _search_result(one: CallResult, branch: str) -> dict[str, Any]:
    rows = [_found(row, branch=branch, score=score, evidence=evidence) for row, score, evidence in one.items]
    return {"items": rows, "more": one.more}


RENDER: dict[str, Any] = {
    "put": _put_result,
    "get": lambda one, branch: {"item": item(one.item, branch=branch) if one.item else None},
    "delete": lambda one, _: {"deleted": one.deleted},
    "search": _search_result,
    "namespaces": lambda one, _: {"namespaces": one.namespaces},
}
