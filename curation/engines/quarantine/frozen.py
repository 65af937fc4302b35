"""What frozen documents hold of what is hidden: they name memories by id, and have the texts of facts.

A fact counts as hidden unless the document says of it what a version says that nothing hides, and no hidden
one. Of other kinds the id decides.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from memory.engines.support.batches import batched
from memory.models import Fact, HiddenVersion
from memory.models.hashes import judged_hash

BATCH_SIZE = 500


def mark_hidden(rows: QuerySet, touched: set[UUID]) -> None:
    """Hide the documents among some rows that quarantines touch, and show the others."""
    former = set(rows.filter(hidden=True).values_list("pk", flat=True))
    for changed, is_hidden in ((touched - former, True), (former - touched, False)):
        for batch in batched(sorted(changed), BATCH_SIZE):
            rows.filter(pk__in=batch).update(hidden=is_hidden)


class Named(NamedTuple):
    """A memory in a document; ``says`` is the hash of a fact's text there."""

    uid: UUID
    says: str = ""


def name_fact(fact: Mapping[str, Any]) -> Named:
    """Return a fact of a document as it is named. Raises KeyError, ValueError for one of a wrong form."""
    texts = (fact.get(name) or "" for name in ("fact_text", "essence", "category"))
    return Named(UUID(str(fact["id"])), judged_hash(*map(str, texts)))


def select_hidden(quarantines: Iterable[Any]) -> QuerySet[HiddenVersion]:
    """Return what quarantines hide."""
    return HiddenVersion.objects.filter(quarantine__in=[one.pk for one in quarantines]).order_by()


def find_hidden(project_id: UUID, named: Iterable[Named], hidden: QuerySet[HiddenVersion]) -> set[Named]:
    """Return those of the named memories that are hidden as the document has them."""
    named = set(named)
    uids = find_hidden_uids((one.uid for one in named), hidden)
    touched = {one for one in named if one.uid in uids}
    gone, safe = load_said(project_id, {one.uid for one in touched if one.says}, hidden)
    return {one for one in touched if not one.says or one in gone or one not in safe}


def load_said(
    project_id: UUID, uids: set[UUID], hidden: QuerySet[HiddenVersion]
) -> tuple[set[Named], set[Named]]:
    """Return what hidden versions of facts say, and what the others say."""
    gone, safe = set[Named](), set[Named]()
    for batch in batched(sorted(uids), BATCH_SIZE):
        vids = set(hidden.filter(uid__in=batch).values_list("vid", flat=True))
        rows = Fact._base_manager.filter(branch__project=project_id, uid__in=batch).order_by()
        for uid, says, vid in rows.values_list("uid", "judged_hash", "vid"):
            (gone if vid in vids else safe).add(Named(uid, says))
    return gone, safe


def find_hidden_uids(uids: Iterable[UUID], hidden: QuerySet[HiddenVersion]) -> set[UUID]:
    found: set[UUID] = set()
    for batch in batched(sorted(set(uids)), BATCH_SIZE):
        found |= set(hidden.filter(uid__in=batch).values_list("uid", flat=True))
    return found
