"""Branches as they are placed in the tree of a project: plain rows, cheaper than models by far."""

import json
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, F, TextField, When
from django.db.models.functions import Cast

from memory.models import Branch

# Times and JSON are read where they matter alone: to convert them would cost more than all the rest.
HEAD_AT = Case(When(ttl_days__isnull=False, then=F("head_at")))
TAGS = Cast("tags", TextField())
CACHED_TAGS = 1024  # lists of tags: most branches share a few


class PlacedBranch(NamedTuple):
    """What the place, the state and the filters of a branch need; ``head_at`` of one that can expire."""

    pk: int
    name: str
    parent_id: int | None
    fork_seq: int
    head: int
    ttl_days: int | None
    owner: str
    archived_at: datetime | None
    head_at: datetime | None
    tags_text: str

    @property
    def tags(self) -> list[str]:
        return read_tags(self.tags_text)


@lru_cache(CACHED_TAGS)
def read_tags(text: str) -> list[str]:
    tags: list[str] = json.loads(text or "[]")
    return tags


def read_placed(project_id: UUID) -> dict[int, PlacedBranch]:
    """Return all branches of a project, by id."""
    rows = Branch.objects.filter(project=project_id).order_by()
    columns: list[Any] = [*PlacedBranch._fields[:-2], HEAD_AT, TAGS]
    return {row[0]: PlacedBranch(*row) for row in rows.values_list(*columns)}
