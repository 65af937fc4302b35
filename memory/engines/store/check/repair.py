"""The repair of a store: what is derived is made anew, and what has a proven copy is put back.

Each repair is safe to run twice. Nothing that a person wrote is deleted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, models, transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from memory.db.backend import get_file_check, get_index
from memory.db.damage import permit_writes
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.store.check import files, high_water, index, vectors, versions, work
from memory.engines.store.check.engine import CheckReport, Tell, open_store
from memory.engines.store.check.finished_work import clear_finished
from memory.engines.store.check.mending import mend_version, seal_version
from memory.engines.store.check.problems import CheckedStore, Findings, Problem
from memory.engines.store.check.rows import list_tables, walk_rows
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.support.batches import Progress
from memory.engines.versions.kinds import versioned_models
from memory.exceptions import Day1Error
from memory.models import Project, QueueMessage, Vector
from memory.models.vectors import vector_slot

SEAL = "computes the checksums that versions of an earlier release lack, from what they say now"
START_MARK = "begins the mark of how far the audit trail is sealed"

Repair = Callable[[Progress], int]


@dataclass(frozen=True)
class Step:
    """A step of a repair: the problem that it is for, what it does, and the work."""

    name: str
    text: str
    work: Repair


def plan_repair(report: CheckReport) -> list[Step]:
    """Return what a repair would do with what was found, in its order; the same work stands there once."""
    steps: dict[Any, Step] = {}
    by_name = {problem.kind.name: problem for problem in report.problems}
    for name, build in BUILDERS.items():
        if problem := by_name.get(name):
            key, work = build(problem)
            steps.setdefault(key, Step(name, problem.kind.repair, work))
    if report.notes.get(versions.UNCHECKED):
        steps["seal"] = Step(versions.UNCHECKED, SEAL, seal_versions)
    if report.notes.get(high_water.NO_MARK):
        steps["mark"] = Step(high_water.NO_MARK, START_MARK, take_mark)
    return list(steps.values())


# ---- indexes ---------------------------------------------------------------------------------------


def build_indexes(problem: Problem) -> tuple[str, Repair]:
    return "indexes", lambda tell: rebuild_indexes(problem.examples)


def rebuild_indexes(names: list[str]) -> int:
    for name in names:
        get_file_check().rebuild_index(name)
    return len(names)


def rebuild_full_text(tell: Progress) -> int:
    try:
        return MaintenanceEngine().rebuild_index(tell)
    except DatabaseError:  # its own pages are damaged, so that they cannot even be emptied
        get_file_check().make_full_text_anew()
        return MaintenanceEngine().rebuild_index(tell)


# ---- content and vectors ---------------------------------------------------------------------------


def mend_versions(tell: Progress) -> int:
    return sum(mend_version(row) for row in walk_versions(tell) if versions.has_changed(row))


def seal_versions(tell: Progress) -> int:
    return sum(seal_version(row) for row in walk_versions(tell))


def walk_versions(tell: Progress) -> Iterator[Any]:
    """Yield every version that can be read, in short transactions of their own."""
    store = CheckedStore("default", None, tell)
    for model in versioned_models():
        for batch in walk_rows(store, store.rows(model), Findings("")):
            with transaction.atomic(savepoint=False):
                yield from batch


def make_vectors(tell: Progress) -> int:
    """Delete vectors that no search may use, and have all texts embedded; return how many are new."""
    engine, count = EmbeddingEngine(), 0
    for project in Project.objects.all():
        delete_unusable(project)
        engine.forget_other_models(project.pk)
        count += engine.reembed_all(project.pk, tell)
    return count


def delete_unusable(project: Project) -> None:
    with open_store() as (alias, path):
        sizes = vectors.count_sizes(CheckedStore(alias, path, lambda done, total: None))
    own = Vector.objects.filter(project=project).defer("words", "text")
    slots = [row.slot for row in own.iterator(500) if not is_usable(row, sizes)]
    for start in range(0, len(slots), 500):
        Vector.objects.filter(slot__in=slots[start : start + 500]).delete()
        get_index().delete_vectors(project.pk, slots[start : start + 500])


def is_usable(row: Vector, sizes: dict[str, int]) -> bool:
    fits = row.slot == vector_slot(row.project_id, row.model, row.content_hash)
    return fits and (row.state != Vector.State.READY or vectors.is_vector(row.data, sizes.get(row.model, 0)))


# ---- keys, queue, schedule, mark -------------------------------------------------------------------


def empty_references(tell: Progress) -> int:
    """Empty references that lead nowhere, where the model does so when their target is deleted."""
    count, store = 0, CheckedStore("default", None, tell)
    for kind in list_tables():
        for field in files.list_references(kind):
            if field.remote_field.on_delete is models.SET_NULL:
                keys = list(files.find_broken(store, kind, field).values_list("pk", flat=True))
                count += kind._base_manager.filter(pk__in=keys).update(**{field.attname: None})
    return count


def delete_messages(tell: Progress) -> int:
    known = work.load_task_names()
    useless = [row.pk for row in QueueMessage.objects.all() if work.read_task(row) not in known]
    return int(QueueMessage.objects.filter(pk__in=useless).delete()[0])


def delete_finished(tell: Progress) -> int:
    return clear_finished()


def set_schedule(tell: Progress) -> int:
    return int(work.find_early_tasks(PeriodicTask.objects.all()).update(last_run_at=timezone.now()))


def take_mark(tell: Progress) -> int:
    high_water.keep_mark(anew=True)
    return 1


def run_once(key: str, work: Repair) -> Callable[[Problem], tuple[str, Repair]]:
    return lambda problem: (key, work)


# What is put back from the index comes before the index is made anew.
BUILDERS: dict[str, Callable[[Problem], tuple[str, Repair]]] = {
    files.KINDS["damaged_index"].name: build_indexes,
    versions.CHANGED_CONTENT.name: run_once("content", mend_versions),
    files.BROKEN_KEY.name: run_once("references", empty_references),
    files.KINDS["damaged_full_text"].name: run_once("full text", rebuild_full_text),
    **{
        kind.name: run_once("full text", rebuild_full_text)
        for kind in (index.ROW_NOT_INDEXED, index.INDEX_DIFFERS, index.INDEX_WITHOUT_ROW, index.INDEX_WORDS)
    },
    **{
        kind.name: run_once("vectors", make_vectors)
        for kind in (vectors.OTHER_MODEL, vectors.DAMAGED_VECTOR, vectors.TEXT_WITHOUT_VECTOR)
    },
    work.UNKNOWN_TASK.name: run_once("messages", delete_messages),
    work.UNREADABLE_MESSAGE.name: run_once("messages", delete_messages),
    work.SET_ASIDE.name: run_once("finished", delete_finished),
    work.BEAT_IN_FUTURE.name: run_once("schedule", set_schedule),
    high_water.OLDER_COPY.name: run_once("mark", take_mark),
    high_water.MISSING_LOG.name: run_once("mark", take_mark),
}


# ---- carrying out ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepResult:
    """What a step of a repair did: how many rows or indexes, or why it could not."""

    name: str
    count: int
    error: str = ""


def repair_store(steps: list[Step], tell: Tell) -> list[StepResult]:
    """Carry out the steps of a plan. Nobody else may be writing."""
    return [run_step(step, tell) for step in steps]


def run_step(step: Step, tell: Tell) -> StepResult:
    """Carry out a step, also in a store that takes no writes since it is damaged."""
    try:
        with permit_writes():
            return StepResult(step.name, step.work(lambda done, total: tell(step.name, done, total)))
    except (DatabaseError, Day1Error) as error:
        return StepResult(step.name, 0, str(error))
