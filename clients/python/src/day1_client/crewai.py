"""Storage for the memory of CrewAI. Needs ``crewai``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from day1_client import Day1, adapting
from day1_client.adapting import ItemTree, awaited, clean, cosine, forget
from day1_client.extras import needs

with needs("crewai"):
    from crewai.memory.types import MemoryRecord, ScopeInfo

OVERSAMPLING = 3  # of hits, which categories, metadata and scores filter afterwards
Records = list[MemoryRecord]
Name = str | None
Names = list[str] | None
Fields = dict[str, Any] | None


class Day1Storage:
    """Records of CrewAI as items of Day1; a scope is a namespace below ``namespace``, a record's id its key.

    ``Memory(storage=storage, embedder=storage.embed)`` leaves embedding and search to the server. With an
    embedder of your own its vectors are stored, and a search compares them here with all of the scope.
    """

    def __init__(
        self, memory: Day1 | None = None, user_id: Name = None, app_id: Name = None, namespace: str = "crewai"
    ) -> None:
        self.tree = ItemTree(memory or Day1(), namespace, adapting.whose(user_id, app_id))

    def __deepcopy__(self, _memo: Any) -> Day1Storage:
        return self  # CrewAI copies memories; the connections stay one

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return each text itself in the form of a vector: a search with it is one with the text."""
        return [adapting.write_text(clean(text)) for text in texts]

    def save(self, records: Records) -> None:
        """Store records, up to 500 at a time all or none."""
        self.tree.write([self._write(record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id, in whatever scope it was."""
        new = self._write(record)
        moved = [row for row in self.tree.find_rows(record.id) if row["namespace"] != new["namespace"]]
        self.tree.write([*map(forget, moved), new])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, None if there is none."""
        return next(map(read_record, self.tree.find_rows(record_id)), None)

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: Name = None,
        categories: Names = None,
        metadata_filter: Fields = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that are nearest to a query, with a score between 0 and 1."""
        if (text := adapting.read_text(query_embedding)) is None:
            records = self._records(scope_prefix)
            found = [(one, cosine(query_embedding, one.embedding or [])) for one in records]
            found.sort(key=lambda pair: -pair[1])
        else:
            rows = self.tree.search_rows(text, scope_prefix, limit * OVERSAMPLING)
            found = [(read_record(row), score) for row, score in rows]
        fits = [one for one in found if one[1] >= min_score and has(one[0], categories, metadata_filter)]
        return fits[:limit]

    def delete(
        self,
        scope_prefix: Name = None,
        categories: Names = None,
        record_ids: Names = None,
        older_than: datetime | None = None,
        metadata_filter: Fields = None,
    ) -> int:
        """Delete the records that fit all that is given, and return how many; none named are all of them."""
        gone = [
            forget(row)
            for row in self.tree.list_rows(scope_prefix)
            if has(one := read_record(row), categories, metadata_filter)
            and (not record_ids or one.id in record_ids)
            and (older_than is None or one.created_at < older_than)
        ]
        self.tree.write(gone)
        return len(gone)

    def reset(self, scope_prefix: Name = None) -> None:
        self.delete(scope_prefix)

    def list_records(self, scope_prefix: Name = None, limit: int = 200, offset: int = 0) -> Records:
        """Return the records of a scope, newest first."""
        records = sorted(self._records(scope_prefix), key=lambda one: one.created_at, reverse=True)
        return records[offset : offset + limit] if offset >= 0 and limit > 0 else []

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what a scope and those below it hold."""
        records = sorted(self._records(scope), key=lambda one: one.created_at)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(records),
            categories=sorted({name for one in records for name in one.categories}),
            oldest_record=records[0].created_at if records else None,
            newest_record=records[-1].created_at if records else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return self.tree.list_paths(parent)

    def list_categories(self, scope_prefix: Name = None) -> dict[str, int]:
        """Return how many records have each category."""
        return Counter(name for one in self._records(scope_prefix) for name in one.categories)

    def count(self, scope_prefix: Name = None) -> int:
        return sum(1 for _row in self.tree.list_rows(scope_prefix))

    asave, asearch, adelete = awaited(save), awaited(search), awaited(delete)

    def _records(self, scope: str | None) -> Iterator[MemoryRecord]:
        return map(read_record, self.tree.list_rows(scope))

    def _write(self, record: MemoryRecord) -> Any:
        vector = record.embedding or []
        is_own = bool(vector) and adapting.read_text(vector) is None
        kept = {"metadata": {"embedding": adapting.pack_vector(vector)}} if is_own else {}
        place = {"namespace": self.tree.locate(record.scope), "key": adapting.quote(record.id)}
        said = {"value": adapting.clean_json(record.model_dump(mode="json")), "text": clean(record.content)}
        return {"op": "put", **place, **said, **kept, "tags": [self.tree.tag(record.id)], "embed": not is_own}


def read_record(row: Any) -> MemoryRecord:
    record = MemoryRecord.model_validate(row["value"])
    if kept := row["metadata"].get("embedding"):
        record.embedding = adapting.unpack_vector(kept)
    return record


def has(record: MemoryRecord, categories: Names, metadata: Fields) -> bool:
    """Return whether a record has one of some categories and all of some fields."""
    named = not categories or any(one in record.categories for one in categories)
    return named and all(record.metadata.get(name) == value for name, value in (metadata or {}).items())
