"""What was erased: asked by whatever writes versions that it did not make, such as merges and imports."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID, uuid5

from memory.db.raw_select import select_equal
from memory.engines.support.batches import batched
from memory.exceptions import Conflict
from memory.models import BranchedModel, ErasedMemory, Erasure, Fact, Session
from memory.models.base import ERASED_MARK

Item = TypeVar("Item")
BATCH_SIZE = 500
SESSION, SOURCE = "session", "source"  # kinds of ErasedMemory that are no versions


def as_uuid(text: Any) -> UUID | None:
    """Return the id that a text is; None for anything else."""
    try:
        return UUID(text)
    except (TypeError, ValueError, AttributeError):
        return None


def erased_uids(project_id: UUID, uids: Iterable[UUID], *, sources: bool = False) -> set[UUID]:
    """Return those of the ids that were erased in this project, or are being erased.

    ``sources`` adds the ids that erased facts had in a file: a memory of that id may still be there.
    """
    listed = ErasedMemory.objects.filter(project=project_id)
    listed = listed if sources else listed.exclude(kind=SOURCE)
    found: set[UUID] = set()
    for batch in batched(list(uids), BATCH_SIZE):
        found |= set(listed.filter(uid__in=batch).values_list("uid", flat=True))
    return found


def count_erasures(project_id: UUID) -> int:
    """Return how many erasures there are in this project: it grows before anything is blanked."""
    return Erasure.objects.filter(project=project_id).count()


def split_erased(
    project_id: UUID, items: Sequence[Item], get_ids: Callable[[Item], Iterable[UUID]]
) -> tuple[list[Item], list[Item]]:
    """Split items of a file into those that may be stored and those of which an id was erased."""
    erased = erased_uids(project_id, {uid for item in items for uid in get_ids(item)}, sources=True)
    gone = [item for item in items if erased.intersection(get_ids(item))]
    return [item for item in items if not erased.intersection(get_ids(item))], gone


def build_session_uid(project_id: UUID, key: str) -> UUID:
    """Return the id under which a session is listed among the erased."""
    return uuid5(project_id, f"session:{key}")


def erased_sessions(project_id: UUID, keys: Iterable[str]) -> set[str]:
    """Return those of the sessions that were erased: what still arrives of them is not stored."""
    found: set[str] = set()
    for batch in batched(list(set(keys)), BATCH_SIZE):
        rows = select_equal(Session, ("key", "erased_at"), project=[project_id], key=batch)
        found |= {key for key, erased_at in rows if erased_at}
    return found


def refuse_erased(project_id: UUID, rows: Sequence[BranchedModel]) -> None:
    """Refuse to change a fact that was erased. Raises Conflict."""
    blank = [row.uid for row in rows if isinstance(row, Fact) and row.fact_text == ERASED_MARK]
    if blank and erased_uids(project_id, blank):
        raise Conflict("This fact was erased and cannot be changed.")
