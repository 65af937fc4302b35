"""Storage for the memory of CrewAI. Needs ``crewai``."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from threading import Lock
from typing import Any

from crewai.memory.types import MemoryRecord, ScopeInfo

from day1_client import Day1
from day1_client.adapting import (
    clean,
    clean_json,
    cosine,
    in_thread,
    pack_vector,
    quote,
    shorten,
    unpack_vector,
    unquote,
    whose,
)

BATCH_SIZE = 500
MAX_TEXTS = 2_000  # whose vectors are remembered
OVERSAMPLING = 3  # of hits, which categories, metadata and scores filter afterwards


class Day1Storage:
    """Records of CrewAI as items of Day1; a scope is a namespace below ``namespace``, a record's id its key.

    ``Memory(storage=storage, embedder=storage.embed)`` leaves embedding and search to the server. With an
    embedder of your own its vectors are stored, and a search compares them here with all of the scope.
    """

    def __init__(
        self,
        memory: Day1 | None = None,
        *,
        user_id: str | None = None,
        app_id: str | None = None,
        namespace: str = "crewai",
    ) -> None:
        self.memory, self.owner, self.namespace = memory or Day1(), whose(user_id, app_id), namespace
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()
        self._lock = Lock()

    def __deepcopy__(self, _memo: Any) -> Day1Storage:
        return self  # CrewAI copies memories; the connections stay one

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a mark of each text in the place of a vector: a search with it is one with the text."""
        marks = [
            tuple(byte / 128 - 1 for byte in hashlib.sha256(clean(text).encode()).digest()) for text in texts
        ]
        with self._lock:
            self._texts.update(zip(marks, texts, strict=True))
            while len(self._texts) > MAX_TEXTS:
                self._texts.popitem(last=False)
        return [list(mark) for mark in marks]

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records, up to 500 at a time all or none."""
        self._batch([self._write(record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id, in whatever scope it was."""
        new = self._write(record)
        moved = [forget(row) for row in self._find_rows(record.id) if row["namespace"] != new["namespace"]]
        self._batch([*moved, new])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, None if there is none."""
        return next((read_record(row) for row in self._find_rows(record_id)), None)

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that are nearest to a query, with a score between 0 and 1."""
        with self._lock:
            text = self._texts.get(tuple(query_embedding))
        if text is None:
            found = self._rank(query_embedding, scope_prefix)
        else:
            found = self._ask(text, scope_prefix, limit * OVERSAMPLING)
        fits = (one for one in found if one[1] >= min_score and has(one[0], categories, metadata_filter))
        return list(islice(fits, limit))

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that fit all that is given, and return how many; none named are all of them."""
        calls = [
            forget(row)
            for row in self._rows(scope_prefix)
            if (record := read_record(row))
            and has(record, categories, metadata_filter)
            and (not record_ids or record.id in record_ids)
            and (older_than is None or record.created_at < older_than)
        ]
        self._batch(calls)
        return len(calls)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all of a scope."""
        self.delete(scope_prefix)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, newest first."""
        if offset < 0 or limit <= 0:
            return []
        records = map(read_record, self._rows(scope_prefix))
        return sorted(records, key=lambda one: one.created_at, reverse=True)[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what a scope and those below it hold."""
        records = self.list_records(scope, limit=10**9)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(records),
            categories=sorted({name for one in records for name in one.categories}),
            oldest_record=records[-1].created_at if records else None,
            newest_record=records[0].created_at if records else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below a scope."""
        above = self._place(parent)
        depth = above.count("/") + 2
        found = self.memory.items.namespaces(prefix=above, depth=depth, limit=1000, **self.owner)
        return [self._scope(one) for one in found["namespaces"] if one != above]

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records have each category."""
        return Counter(name for row in self._rows(scope_prefix) for name in read_record(row).categories)

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope holds."""
        return sum(1 for _row in self._rows(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        await in_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], *args: Any, **options: Any
    ) -> list[tuple[MemoryRecord, float]]:
        return await in_thread(self.search, query_embedding, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        return await in_thread(self.delete, *args, **options)

    def _ask(self, text: str, scope: str | None, limit: int) -> Iterator[tuple[MemoryRecord, float]]:
        if query := shorten(text):
            place = self._place(scope or "/")
            answer = self.memory.facts.search(query, namespace=place, limit=min(limit, 100), **self.owner)
            for hit in answer["results"]:
                yield read_record(hit["fact"]), hit["evidence"]

    def _rank(self, vector: list[float], scope: str | None) -> Iterator[tuple[MemoryRecord, float]]:
        records = map(read_record, self._rows(scope))
        pairs = ((record, cosine(vector, record.embedding or [])) for record in records)
        return iter(sorted(pairs, key=lambda pair: -pair[1]))

    def _rows(self, scope: str | None) -> Iterator[Any]:
        return iter(self.memory.items.list(prefix=self._place(scope or "/"), limit=100, **self.owner))

    def _find_rows(self, record_id: str) -> Iterator[Any]:
        return iter(self.memory.facts.list(namespace=self.namespace, tags=tag(record_id), **self.owner))

    def _write(self, record: MemoryRecord) -> Any:
        vector = record.embedding
        own = vector and tuple(vector) not in self._texts
        kept = {"metadata": {"embedding": pack_vector(vector)}} if own else {}
        place = {"namespace": self._place(record.scope), "key": quote(record.id)}
        value = clean_json(record.model_dump(mode="json"))
        said = {"value": value, "text": clean(record.content), "tags": [tag(record.id)], "embed": not own}
        return {"op": "put", **place, **said, **kept}

    def _batch(self, calls: list[Any]) -> None:
        for at in range(0, len(calls), BATCH_SIZE):
            self.memory.items.batch(calls[at : at + BATCH_SIZE], wait="indexed", **self.owner)

    def _place(self, scope: str) -> str:
        return "/".join([self.namespace, *(quote(part) for part in scope.split("/") if part)])

    def _scope(self, namespace: str) -> str:
        parts = namespace.removeprefix(self.namespace).split("/")
        return "/".join(unquote(part) for part in parts) or "/"


def forget(row: Any) -> Any:
    return {"op": "delete", "namespace": row["namespace"], "key": row["key"]}


def tag(record_id: str) -> str:
    """Return the tag by which a record is found in whatever scope."""
    return "crewai:" + hashlib.sha256(record_id.encode("utf-8", "replace")).hexdigest()[:32]


def read_record(row: Any) -> MemoryRecord:
    record = MemoryRecord.model_validate(row["value"])
    if kept := row["metadata"].get("embedding"):
        record.embedding = unpack_vector(kept)
    return record


def has(record: MemoryRecord, categories: list[str] | None, metadata: dict[str, Any] | None) -> bool:
    named = not categories or any(one in record.categories for one in categories)
    return named and all(record.metadata.get(name) == value for name, value in (metadata or {}).items())
