"""What was erased: asked by whatever writes versions that it did not make, such as merges and imports."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid5

from memory.conf import conf
from memory.db.expressions import NotHiddenConfirmation
from memory.db.raw_select import Statement, fetch_each, plan_equal, select_equal
from memory.exceptions import Conflict
from memory.extensions import load_classes
from memory.models import Branch, BranchedModel, ErasedMemory, Erasure, Fact, HiddenVersion, Session
from memory.models.base import ERASED_MARK

Item = TypeVar("Item")
SESSION, SOURCE = "session", "source"  # kinds of ErasedMemory that are no versions
CONFIRMATION = NotHiddenConfirmation.KIND


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
    listed = fetch_each(plan_erased(project_id, uids))
    return {uid for uid, kind in listed if sources or kind != SOURCE}


def plan_erased(project_id: UUID, uids: Iterable[UUID]) -> list[Statement]:
    """Return the statements of ``erased_uids``, for ``read_together``."""
    return plan_equal(ErasedMemory, ("uid", "kind"), project=[project_id], uid=sorted(set(uids)))


def count_erasures(project_id: UUID) -> int:
    """Return how many erasures there are in this project: it grows before anything is blanked."""
    return len(fetch_each(plan_erasures(project_id)))


def plan_erasures(project_id: UUID) -> list[Statement]:
    """Return the statement of ``count_erasures``, for ``read_together``."""
    return plan_equal(Erasure, ("id",), project=[project_id])


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


def closed_sessions(project_id: UUID, keys: Iterable[str]) -> set[str]:
    """Return those of the sessions that were erased or deleted: what still arrives of them is not stored."""
    rows = select_equal(Session, ("key", "erased_at", "deleted_at"), project=[project_id], key=set(keys))
    return {key for key, *closed_at in rows if any(closed_at)}


def refuse_erased(project_id: UUID, rows: Sequence[BranchedModel]) -> None:
    """Refuse to change a fact that was erased. Raises Conflict."""
    blank = [row.uid for row in rows if isinstance(row, Fact) and row.fact_text == ERASED_MARK]
    if blank and erased_uids(project_id, blank):
        raise Conflict("This fact was erased and cannot be changed.")


# ---- what is in quarantine ---------------------------------------------------------------------------

# Which versions a quarantine hides is decided elsewhere: DAY1["commit_maskers"] names the classes.


class CommitMasker(Protocol):
    """Interface of what hides fresh versions; called within the commit, where something is in quarantine."""

    def mask_commit(self, commit: Any, rows: Sequence[BranchedModel]) -> None:
        """Hide those of a commit's rows that are a quarantined source's, or derived from what is hidden."""


def mask_commit(commit: Any, rows: Sequence[BranchedModel]) -> None:
    """Hide what of a commit has to be; nothing is asked where nothing is in quarantine."""
    if commit.branch.masked:
        for masker in load_classes(tuple(conf().commit_maskers)):
            masker.mask_commit(commit, rows)


def find_hidden(vids: Iterable[int]) -> set[int]:
    """Return those of the versions that a quarantine hides."""
    return {vid for (vid,) in select_equal(HiddenVersion, ("vid",), vid=vids)}


def is_masked(project_id: UUID) -> bool:
    """Return whether anything of the project is in quarantine."""
    return Branch.objects.filter(project=project_id, masked=True).exists()
