"""A store of LangGraph, over items of Day1. Needs ``langgraph-checkpoint``, which LangGraph brings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote, unquote

from day1_client import Day1
from day1_client import types as t
from day1_client.codes import ScopeMissing
from day1_client.extras import needs

with needs("langgraph"):
    from langgraph.store import base

MAX_CALLS = 1_000  # of a request, at most MAX_SEARCHES of them searches
MAX_SEARCHES = 50


class Day1Store(base.BaseStore):
    """A store whose values are items: with history, on branches, found by words and by meaning.

    ``memory`` says which server, branch and end user, the environment where it is left out. ``fields`` are
    what a search looks at unless a put says it, the whole value by default; ``search_type`` is Day1's.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Day1 | None = None,
        *,
        fields: Sequence[str] = (),
        ttl: base.TTLConfig | None = None,
        search_type: t.SearchType = "hybrid",
    ) -> None:
        self.memory, self.fields = memory or Day1(), fields
        self.ttl_config, self.search_type = ttl, search_type
        self._renews = True  # until a key that may only read is met

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Answer operations in their order; the writes of up to 1,000 are one commit."""
        return [result for part in split(ops) for result in self._run(part)]

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Answer operations in their order, beside the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, ops: Sequence[base.Op]) -> list[base.Result]:
        calls = cast("list[t.ItemCallInput]", [self._write(op) for op in ops])
        writes = any(isinstance(op, base.PutOp) for op in ops)
        try:
            answer = self.memory.items.batch(calls, wait="indexed" if writes else None)
        except ScopeMissing:
            if writes or not self._renews:
                raise
            self._renews = False
            return self._run(ops)
        return [read_result(op, one) for op, one in zip(ops, answer["results"], strict=True)]

    def _write(self, op: base.Op) -> dict[str, Any]:
        base.validate_op_namespace(op)
        if isinstance(op, base.ListNamespacesOp):
            return write_namespaces(op)
        if isinstance(op, base.GetOp):
            return place(op, "get", renew=op.refresh_ttl and self._renews)
        if isinstance(op, base.SearchOp):
            return self._write_search(op)
        return place(op, "delete") if op.value is None else self._write_put(op, op.value)

    def _write_search(self, op: base.SearchOp) -> dict[str, Any]:
        where = {f"value.{name}": write_condition(value) for name, value in (op.filter or {}).items()}
        query = {"query": op.query, "search_type": self.search_type} if (op.query or "").strip() else {}
        renew = op.refresh_ttl and self._renews
        page = {"limit": op.limit, "offset": op.offset, "renew": renew}
        return {"op": "search", "prefix": join(op.namespace_prefix), "where": where, **page, **query}

    def _write_put(self, op: base.PutOp, value: Mapping[str, Any]) -> dict[str, Any]:
        call = place(op, "put", value=dict(value), embed=op.index is not False)
        if op.index is False:
            call["text"] = op.key.strip() or "-"  # what it says is not looked at
        elif texts := list(list_texts(value, op.index or self.fields)):
            call["text"] = "\n".join(texts)
        return call if op.ttl is None else {**call, "ttl": max(1, round(op.ttl * 60))}


def split(ops: Iterable[base.Op]) -> Iterator[list[base.Op]]:
    """Yield operations in parts that one request takes."""
    part, searches = list[base.Op](), 0
    for op in ops:
        looks = isinstance(op, (base.SearchOp, base.ListNamespacesOp))
        if len(part) == MAX_CALLS or searches + looks > MAX_SEARCHES:
            yield part
            part, searches = [], 0
        part.append(op)
        searches += looks
    if part:
        yield part


def join(labels: Iterable[str], keeps: str = "") -> str:
    """Return a namespace as Day1 writes it: what means something there is quoted, but what is kept."""
    return "/".join(label if label == keeps else quote(label, safe=" ") for label in labels)


def place(op: base.GetOp | base.PutOp, name: str, **fields: Any) -> dict[str, Any]:
    key = quote(op.key, safe=" .") if op.key.strip(".") else op.key.replace(".", "%2E")
    return {"op": name, "namespace": join(op.namespace), "key": key, **fields}


def write_condition(value: Any) -> Any:
    """Return a condition of a filter in Day1's words; a mapping without operators is a value."""
    if isinstance(value, Mapping) and value and all(str(name).startswith("$") for name in value):
        return {name.removeprefix("$"): one for name, one in value.items()}
    return {"eq": value}


def list_texts(value: Mapping[str, Any], fields: Sequence[str]) -> Iterator[str]:
    for field in fields:
        yield from filter(str.strip, base.get_text_at_path(value, base.tokenize_path(field)))


def write_namespaces(op: base.ListNamespacesOp) -> dict[str, Any]:
    ends: dict[str, Any] = {one.match_type: join(one.path, keeps="*") for one in op.match_conditions or ()}
    if len(ends) < len(op.match_conditions or ()):
        raise NotImplementedError("Day1 takes one prefix and one suffix at a time.")
    depth = {} if op.max_depth is None else {"depth": op.max_depth}
    return {"op": "namespaces", "limit": op.limit, "offset": op.offset, **ends, **depth}


def read_result(op: base.Op, result: t.ItemResult) -> base.Result:
    if isinstance(op, base.ListNamespacesOp):
        return [tuple(map(unquote, one.split("/"))) for one in result["namespaces"]]
    if isinstance(op, base.SearchOp):
        return [base.SearchItem(**read_item(row), score=row["evidence"]) for row in result["items"]]
    row = result.get("item")
    return base.Item(**read_item(row)) if row and isinstance(op, base.GetOp) else None


def read_item(row: t.Item | t.FoundItem) -> dict[str, Any]:
    made, changed = (
        datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (row["created_at"], row["updated_at"])
    )
    place = {"namespace": tuple(map(unquote, row["namespace"].split("/"))), "key": unquote(row["key"])}
    return {**place, "value": row["value"], "created_at": made, "updated_at": changed}
