"""Blanking: the content of every version of an erased memory is overwritten, on every branch.

Ids, seqs and times stay, so that history, differences and links can still be read. Idempotent: what is blank
already is left alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import F, Q

from memory.db.backend import get_index
from memory.db.bulk_sql import update_one
from memory.db.transactions import write_transaction
from memory.engines.audit.proofs import keyed_digest, new_salt
from memory.engines.support.batches import batched
from memory.engines.versions.erased import SESSION, SOURCE
from memory.models import Branch, BranchedModel, ErasedMemory, NearCheck, PairVerdict, Vector, VectorClock
from memory.models.base import Blank
from memory.models.vectors import vector_slot

BATCH_SIZE = 200  # memories in one transaction, while other writers wait
MIN_DIGEST_LENGTH = 32  # hex digits; hashes have 32 or 64
Rows = dict[type[BranchedModel], list[BranchedModel]]


def erasable_models() -> list[type[BranchedModel]]:
    """Return the models of versions that have content, of all apps."""
    models = [m for m in apps.get_models() if issubclass(m, BranchedModel) and m.ERASED]
    return sorted(models, key=lambda model: model._meta.label)


def models_of_kind(kind: str) -> list[type[BranchedModel]]:
    """Return the model of a kind of memory, and those whose rows are statements on it under the same uid."""
    return [m for m in erasable_models() if kind in (m._meta.model_name, m.OWNERS.get("uid"))]


def load_versions(project_id: UUID, kind: str, uids: Sequence[UUID], *, written: bool) -> Rows:
    """Return every version of the memories on every branch; ``written``: only those with content left."""
    found: Rows = {}
    for model in models_of_kind(kind):
        rows = model._base_manager.filter(branch__project=project_id, uid__in=uids)
        found[model] = list((rows.filter(with_content(model)) if written else rows).order_by("rid"))
    return {model: rows for model, rows in found.items() if rows}


def with_content(model: type[BranchedModel]) -> Q:
    """Return the condition for versions that are not blank."""
    return reduce(or_, (~Q(**{name: value}) for name, value in model.blank_values().items()))


# ---- writing ---------------------------------------------------------------------------------------


def lock_branches(project_id: UUID) -> None:
    """Lock the project's branches in the order of their ids: no writer may copy a version meanwhile."""
    branches = Branch.objects.filter(project=project_id).order_by("pk")
    list(branches.select_for_update().values_list("pk", flat=True))


def blank_rows(found: Rows, salts: Mapping[UUID, str]) -> None:
    """Overwrite the content of versions, and remove them from the index, in the running transaction."""
    for model, rows in found.items():
        get_index().remove_rows(rows)
        for row in rows:
            for name, blank in model.ERASED.items():
                setattr(row, name, blank_value(row, name, blank, salts[row.uid]))
            row.set_checksum()
            update_one(row, *model.ERASED, "checksum")


def blank_value(row: BranchedModel, name: str, blank: Any, salt: str) -> Any:
    value = getattr(row, name)
    if blank is Blank.DIGEST:
        digest = keyed_digest(salt, value)
        return digest if len(value) >= len(digest) else digest[:MIN_DIGEST_LENGTH]
    if blank is Blank.OWN_SLOT:
        return value and f"{row.branch_id}:{row.uid.hex}"
    return blank


def list_hashes(found: Rows) -> set[str]:
    """Return the hashes by which the versions find their vectors."""
    return {str(row.content_hash) for rows in found.values() for row in rows if hasattr(row, "content_hash")}


def delete_pairs(project_id: UUID, uids: Sequence[UUID]) -> None:
    """Delete what is kept of facts beside others: that they wait to be compared, and a model's verdicts."""
    NearCheck.objects.filter(project=project_id, uid__in=uids).delete()
    of_either = Q(newer_id__in=uids) | Q(older_id__in=uids)
    PairVerdict.objects.filter(of_either, project=project_id).delete()


def delete_vectors(project_id: UUID, hashes: Iterable[str]) -> int:
    """Delete the vectors of texts, whatever model made them; return how many."""
    vectors = Vector.objects.filter(project=project_id)
    made_by = list(vectors.order_by().values_list("model", flat=True).distinct())
    slots = [vector_slot(project_id, model, value) for model in made_by for value in hashes]
    count = 0
    for batch in batched(slots, BATCH_SIZE):
        count += vectors.filter(slot__in=batch).delete()[0]
        get_index().delete_vectors(project_id, batch)
    if slots:  # every process drops the vectors that it has in memory
        VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)
    return count


# ---- playing erasures again ------------------------------------------------------------------------


def replay_erasures(project_id: UUID) -> int:
    """Blank again what was erased and has come back by other ways; return how many versions.

    For use after rows were copied into the store from elsewhere.
    """
    return sum(_blank_again(project_id, kind, uids) for kind, uids in list_erased(project_id))


def list_erased(project_id: UUID) -> Iterator[tuple[str, Sequence[UUID]]]:
    """Yield the erased memories in batches of one kind."""
    erased = ErasedMemory.objects.filter(project=project_id).exclude(kind__in=(SESSION, SOURCE))
    for kind in sorted(set(erased.values_list("kind", flat=True))):
        yield from ((kind, batch) for batch in batched(list_uids(erased.filter(kind=kind)), BATCH_SIZE))


def list_uids(erased: Any) -> list[UUID]:
    return list(erased.order_by("uid").values_list("uid", flat=True))


def _blank_again(project_id: UUID, kind: str, uids: Sequence[UUID]) -> int:
    if not load_versions(project_id, kind, uids, written=True):
        return 0
    with write_transaction():
        lock_branches(project_id)
        found = load_versions(project_id, kind, uids, written=True)
        hashes = list_hashes(found)
        blank_rows(found, {uid: new_salt() for uid in uids})
        delete_pairs(project_id, uids)
        delete_vectors(project_id, hashes)
    return sum(len(rows) for rows in found.values())
