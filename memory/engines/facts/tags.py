"""The tags that a branch's facts have, and how many have each."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import Count

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts.filters import FactFilter
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Reference, Whole
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, open_point
from memory.models import Fact

MAX_TAGS = 1000
PREFIX = Field("prefix", Reference(100), "Tags that begin so.", option=Option("tags that begin so"))
LIMIT = Field("limit", Whole(1, MAX_TAGS), "So many tags.", option=Option("at most so many", metavar="N"))


@dataclass(frozen=True)
class TagCounts:
    """Tags with the number of their facts, the most frequent first; ``more`` where some are left out."""

    tags: list[tuple[str, int]]
    more: bool


@retry_methods
class TagEngine:
    def list_tags(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        filters: FactFilter | None = None,
        prefix: Annotated[str, PREFIX] = "",
        at: Any = None,
        limit: Annotated[int, LIMIT] = 100,
    ) -> TagCounts:
        """Count the facts of each tag, of every status as in their list. Raises Invalid."""
        branch, seq = open_point(actor, branch_name, at)
        limit = LIMIT.type.build_check()("limit", limit)
        requested = filters or FactFilter()
        if prefix:
            own = {"tag_prefix": c.plain_text("prefix", prefix)}
            requested = FactFilter.from_values({**requested.as_dict(), **own})
        rows = Fact.objects.on(branch, seq)
        rows = requested.apply(rows, branch.lineage(seq), branch.archived_at is not None)
        counts: Counter[str] = Counter()
        for found in rows.exclude(tags=[]).order_by().values("tags").annotate(n=Count("rid")):
            counts.update({tag: found["n"] for tag in found["tags"] if tag.startswith(prefix)})
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return TagCounts(ordered[:limit], len(ordered) > limit)
