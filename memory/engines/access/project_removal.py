"""The removal of a project: closed at once, then taken away portion by portion, from wherever it stands.

Each portion is a transaction of its own, so that other projects go on meanwhile and a crash loses nothing:
what is left is what is still to be done. The last one takes what came meanwhile, under the locks of branches.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from memory.actors import NO_PROJECT, Actor
from memory.db.backend import get_index, get_store_copies
from memory.db.model_graph import in_order, path_to
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.audit.server_trail import record_server_entry
from memory.engines.support.write_buffer import buffer
from memory.models import (
    ApiKey,
    Branch,
    BranchedModel,
    Fact,
    Invitation,
    Membership,
    Project,
    QueueMessage,
    Snapshot,
    Vector,
    VectorClock,
    Workspace,
)
from memory.models.usage import forget_known
from memory.queue.producer import build_key

BATCH_SIZE = 500
MAX_ROWS_AT_ONCE = 5000  # a smaller project is removed before the answer
SECONDS_AT_ONCE = 10.0  # then other tasks have their turn
# Tasks that are about one row; models of higher apps are known by name only.
TASKS = {
    "Branch": ("memory.hold_past",),
    "ConsolidationRun": ("conversations.consolidate",),
    "EvalRun": ("memory.run_eval",),
    "Project": ("memory.embed", "memory.near"),
    "Replay": ("conversations.replay", "conversations.compare_replay"),
    "Scoring": ("curation.score",),
    "Session": ("memory.consolidate", "memory.learn"),
    "VerificationJob": ("curation.verify",),
}


@dataclass(frozen=True)
class Removal:
    """A removal of a project with its rows by the name of their model; ``is_done`` once nothing is left."""

    project: Project
    counts: dict[str, int]
    is_done: bool


def lock_branches(project: Project) -> list[int]:
    """Lock the project against writes until the transaction ends; return its branch ids, deepest first."""
    branches = Branch.objects.select_for_update().filter(project=project).order_by("-depth", "pk")
    return list(branches.values_list("pk", flat=True))


def count_rows(project: Project) -> dict[str, int]:
    """Count a project's rows in each table, by model name, without empty tables.

    A versioned row counts once, however many versions it has; fact versions count separately as "Version".
    """
    branches = list_branches(project)
    counts = {
        model.__name__: count_memories(rows).count() for model, rows in list_project_rows(project, branches)
    }
    counts["Version"] = Fact._base_manager.filter(branch__in=branches).count()
    return {name: count for name, count in sorted(counts.items()) if count}


def count_every_version(project: Project) -> int:
    """Return how many rows a removal takes away."""
    return sum(rows.count() for _, rows in list_project_rows(project, list_branches(project)))


def close_project(project: Project, rows: int) -> None:
    """End every way into a project, in the transaction that begins its removal."""
    now = timezone.now()
    ApiKey.objects.filter(project=project, revoked_at=None).update(revoked_at=now)
    Membership.objects.filter(project=project).delete()
    Invitation.objects.filter(project=project).delete()
    VectorClock.objects.filter(project=project).update(epoch=F("epoch") + 1)  # no process keeps its vectors
    project.removed_at, project.rows_to_remove = now, rows
    project.save(update_fields=["removed_at", "rows_to_remove"])


def run_removal(project: Project, seconds: float | None = None) -> bool:
    """Go on with a removal, for ``seconds`` or to its end; return whether nothing is left."""
    ends = monotonic() + seconds if seconds else None
    branches = list_branches(project)
    for model, _ in list_project_rows(project, branches):
        while model is not Branch and remove_portion(project, model, branches):
            if ends and monotonic() > ends:
                return False
    buffer.flush()  # what this process would write of it a second later
    finish_removal(project)
    forget_known()
    get_index().forget_project(project.pk)
    return True


@retry_transaction
def remove_portion(project: Project, model: type[Model], branches: list[int]) -> int:
    """Delete some of a project's rows of a model; return how many."""
    with write_transaction():
        rows = find_rows(project, model, branches)
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE]) if rows is not None else []
        if keys:
            delete_rows(project, model, keys)
            progress = {"rows_removed": F("rows_removed") + len(keys)}
            Project.every.filter(pk=project.pk).update(**progress)
    return len(keys)


@retry_transaction
def finish_removal(project: Project) -> None:
    """Delete what is left of a project, and the project, and tell of it in the server's trail."""
    with write_transaction():
        if not Project.every.select_for_update().filter(pk=project.pk).exists():
            return  # another process has finished it
        branches = lock_branches(project)
        delete_waiting(Branch, branches)
        delete_waiting(Project, [project.pk])
        for model, rows in list_project_rows(project, branches):
            while model is not Branch and (keys := list(rows.values_list("pk", flat=True)[:BATCH_SIZE])):
                delete_rows(project, model, keys)
        for branch in branches:  # a branch cannot be deleted before the branches forked from it
            Branch.objects.filter(pk=branch).delete()
        Project.every.filter(pk=project.pk).delete()
        actor = Actor(NO_PROJECT, "system", label="removal", surface="worker")
        detail = {"project": str(project.pk), "name": project.name}
        record_server_entry(actor, "project.removed", project.slug, detail)


def finish_removals() -> bool:
    """Go on with the removals that are not done, for some seconds; return whether any is left."""
    for project in Project.every.exclude(removed_at=None):
        if not run_removal(project, SECONDS_AT_ONCE):
            return True
    return False


# ---- rows ------------------------------------------------------------------------------------------


def list_branches(project: Project) -> list[int]:
    return list(Branch.objects.filter(project=project).values_list("pk", flat=True))


def list_project_rows(project: Project, branches: list[int]) -> Iterator[tuple[type[Model], QuerySet]]:
    """Yield every model that has rows of the project, with those rows; before those that they refer to."""
    for model in reversed(in_order(apps.get_models())):
        if (rows := find_rows(project, model, branches)) is not None:
            yield model, rows


def find_rows(project: Project, model: type[Model], branches: list[int]) -> QuerySet | None:
    """Return the rows of a project; None of a model that has none."""
    columns = {field.attname for field in model._meta.concrete_fields}
    if "project_id" in columns:
        return model._base_manager.filter(project_id=project.pk)
    if "branch_id" in columns:
        return model._base_manager.filter(branch_id__in=branches)
    path = path_to(Project, model)
    return model._base_manager.filter(**{path: project.pk}) if path else None


def count_memories(rows: QuerySet) -> QuerySet:
    """Count logical rows: the versions of one memory are one row."""
    return rows.values("uid").distinct() if issubclass(rows.model, BranchedModel) else rows


def delete_rows(project: Project, model: type[Model], keys: list[object]) -> None:
    """Delete rows with what the indexes and the queue have of them, in the caller's transaction."""
    rows = model._base_manager.filter(pk__in=keys)
    if issubclass(model, BranchedModel):
        get_index().remove_rows(list(rows.only("rid")))
    elif model is Vector:
        get_index().delete_vectors(project.pk, [str(key) for key in keys])
    elif model in (Snapshot, Workspace):
        drop_copies(rows)
    delete_waiting(model, keys)
    rows.delete()


def delete_waiting(model: type[Model], keys: Iterable[Any]) -> None:
    """Delete the messages of the queue that are about rows."""
    places = [key if isinstance(key, int) else str(key) for key in keys]
    waiting = [build_key(task, (place,)) for task in TASKS.get(model.__name__, ()) for place in places]
    if waiting:
        QueueMessage.objects.filter(key__in=waiting).delete()


def drop_copies(copies: Iterable[Any]) -> None:
    """Drop the copies of the store behind snapshots or workspaces once the transaction commits."""
    known = get_store_copies()
    for one in copies:
        drop = known.drop_snapshot if isinstance(one, Snapshot) else known.drop_workspace
        if one.copy:
            transaction.on_commit(partial(drop, one.copy))
