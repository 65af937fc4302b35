"""The repair of a store: what is derived is made anew, and what has a proven copy is put back.

Each repair is safe to run twice. Nothing that a person wrote is deleted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, models, transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from memory.db.backend import get_file_check, get_index
from memory.db.damage import permit_writes
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.embedding.models import active_provider
from memory.engines.embedding.unread import forget_unread
from memory.engines.store.check import files, high_water, index, mending, structure, vectors, versions, work
from memory.engines.store.check.engine import CheckReport, Tell, open_store
from memory.engines.store.check.finished_work import clear_finished, list_finished
from memory.engines.store.check.problems import CheckedStore, Findings
from memory.engines.store.check.rows import UNREADABLE_ROWS, list_tables, walk_rows
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.support.batches import Progress, ignore_progress
from memory.engines.versions.kinds import sealed_models
from memory.exceptions import Day1Error
from memory.models import Project, QueueMessage, Vector
from memory.models.vectors import vector_slot

SEAL = "computes the checksums that versions of an earlier release lack, from what they say now"
START_MARK = "begins the mark of how far the audit trail is sealed"

Repair = Callable[[Progress], None]
Counts = Mapping[str, int]


@dataclass(frozen=True)
class Work:
    """What a repair does, and of how much it can, by the problem's name; None: of all of it."""

    do: Repair
    count: Callable[[], Counts] | None = None


@dataclass(frozen=True)
class Step:
    """A step of a repair: the problem that it is for, what it does, of how many, and the work."""

    name: str
    text: str
    count: int
    work: Repair


def plan_repair(report: CheckReport) -> list[Step]:
    """Return what a repair can do with what was found, in its order. It reads, where that is not known."""
    found, texts = report.count_problems(), {one.kind.name: one.kind.repair for one in report.problems}
    parts = {name: part for name, part in WORKS.items() if name in found}
    counts: Counter[str] = Counter()
    for count in {part.count for part in parts.values() if part.count}:
        counts.update(count())
    steps = [
        Step(name, texts[name], counts[name] if part.count else found[name], part.do)
        for name, part in parts.items()
    ]
    steps += [Step(name, text, report.notes[name], do) for name, text, do in OF_NOTES]
    return [step for step in steps if step.count]


def count_found(report: CheckReport) -> Counter[str]:
    """Return how often a report has what a repair is for, by name."""
    return report.count_problems() + report.notes


# ---- indexes ---------------------------------------------------------------------------------------


def count_indexes() -> Counts:
    return {files.KINDS["damaged_index"].name: len(list_indexes())}


def list_indexes() -> list[str]:
    """Return the damaged indexes of tables that are not damaged themselves."""
    tables, names = find_damaged()
    return [name for name in names if get_file_check().name_table(name) not in tables]


def find_damaged() -> tuple[set[str], list[str]]:
    """Return the tables and the indexes that are damaged."""
    found = list(get_file_check().find_damage(ignore_progress))
    tables = {place for name, place in found if name == files.KINDS["damaged_table"].name}
    return tables, [place for name, place in found if name == files.KINDS["damaged_index"].name]


def rebuild_indexes(tell: Progress) -> None:
    for name in list_indexes():
        get_file_check().rebuild_index(name)


def count_missing() -> Counts:
    return Counter(kind for kind, _, _ in list_makeable())


def list_makeable() -> list[tuple[str, str, str]]:
    """Return what is missing, but for indexes of tables that are damaged."""
    places = [f' ON "{table}" ' for table in find_damaged()[0]]
    return [one for one in structure.list_missing() if not any(place in one[2] for place in places)]


def make_missing(kind: str, tell: Progress) -> None:
    """Make all of a kind that are missing, each by itself. Raises DatabaseError where rows contradict one."""
    errors: list[DatabaseError] = []
    for name, statement in [one[1:] for one in list_makeable() if one[0] == kind]:
        try:
            get_file_check().make_part(name, statement)
        except DatabaseError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def rebuild_full_text(tell: Progress) -> None:
    try:
        MaintenanceEngine().rebuild_index(tell)
    except DatabaseError:  # its own pages are damaged, so that they cannot even be emptied
        get_file_check().make_full_text_anew()
        MaintenanceEngine().rebuild_index(tell)


# ---- content and vectors ---------------------------------------------------------------------------


def count_mendable() -> Counts:
    counts: Counter[str] = Counter()
    for row, damaged in mending.walk_changed(ignore_progress):
        if mending.find_copy(row, damaged, mending.read_indexed_texts(row)) is not None:
            counts[UNREADABLE_ROWS.name if damaged else versions.CHANGED_CONTENT.name] += 1
    return counts


def mend_versions(tell: Progress) -> None:
    for row, damaged in mending.walk_changed(tell):
        with transaction.atomic(savepoint=False):
            mending.mend_version(row, damaged, mending.read_indexed_texts(row))


def seal_versions(tell: Progress) -> None:
    """Seal every version that can be read, in short transactions."""
    store = CheckedStore(DEFAULT_DB_ALIAS, None, tell)
    for model in sealed_models():
        for batch in walk_rows(store, store.rows(model), Findings("")):
            with transaction.atomic(savepoint=False):
                for row in batch:
                    mending.seal_version(row)


def make_vectors(tell: Progress) -> None:
    """Delete vectors that no search may use, and have all texts embedded."""
    engine = EmbeddingEngine()
    for project in Project.objects.all():
        delete_unusable(project)
        engine.reembed_all(project.pk, tell)


def forget_unread_texts(tell: Progress) -> None:
    """Take the vectors of texts that the model cannot read, whether or not all were looked at before."""
    if provider := active_provider():
        for project in Project.objects.all():
            forget_unread(project.pk, provider, tell)


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


def find_emptiable() -> Iterator[tuple[Any, str]]:
    """Yield rows whose reference leads nowhere and may be empty, and its column."""
    store = CheckedStore(DEFAULT_DB_ALIAS, None, ignore_progress)
    for kind in list_tables():
        for field in files.list_references(kind):
            if field.remote_field.on_delete is models.SET_NULL:
                yield files.find_broken(store, kind, field), field.attname


def count_emptiable() -> Counts:
    return {files.BROKEN_KEY.name: sum(rows.count() for rows, _ in find_emptiable())}


def empty_references(tell: Progress) -> None:
    """Empty references that lead nowhere, where the model does so when their target is deleted."""
    for rows, column in find_emptiable():
        keys = list(rows.values_list("pk", flat=True))
        rows.model._base_manager.filter(pk__in=keys).update(**{column: None})


def delete_messages(tell: Progress) -> None:
    known = work.load_task_names()
    useless = [row.pk for row in QueueMessage.objects.all() if work.read_task(row) not in known]
    QueueMessage.objects.filter(pk__in=useless).delete()


def count_finished() -> Counts:
    return {work.SET_ASIDE.name: len(list_finished())}


def delete_finished(tell: Progress) -> None:
    clear_finished()


def set_schedule(tell: Progress) -> None:
    work.find_early_tasks(PeriodicTask.objects.all()).update(last_run_at=timezone.now())


def take_mark(tell: Progress) -> None:
    high_water.keep_mark(anew=True)


# What is put back from the index comes before the index is made anew.
WORKS: dict[str, Work] = {
    files.KINDS["damaged_index"].name: Work(rebuild_indexes, count_indexes),
    UNREADABLE_ROWS.name: Work(mend_versions, count_mendable),
    versions.CHANGED_CONTENT.name: Work(mend_versions, count_mendable),
    files.BROKEN_KEY.name: Work(empty_references, count_emptiable),
    files.KINDS["damaged_full_text"].name: Work(rebuild_full_text),
    "missing_full_text": Work(rebuild_full_text),
    **{
        kind: Work(partial(make_missing, kind), count_missing)
        for kind in (structure.INDEX, structure.TRIGGER)
    },
    **{
        kind.name: Work(rebuild_full_text)
        for kind in (index.ROW_NOT_INDEXED, index.INDEX_DIFFERS, index.INDEX_WITHOUT_ROW, index.INDEX_WORDS)
    },
    **{
        kind.name: Work(make_vectors)
        for kind in (vectors.OTHER_MODEL, vectors.DAMAGED_VECTOR, vectors.TEXT_WITHOUT_VECTOR)
    },
    vectors.UNREAD_TEXT.name: Work(forget_unread_texts),
    work.UNKNOWN_TASK.name: Work(delete_messages),
    work.UNREADABLE_MESSAGE.name: Work(delete_messages),
    work.SET_ASIDE.name: Work(delete_finished, count_finished),
    work.BEAT_IN_FUTURE.name: Work(set_schedule),
    **{
        kind.name: Work(take_mark)
        for kind in (
            high_water.OLDER_COPY,
            high_water.MISSING_LOG,
            high_water.DAMAGED_LOG,
            high_water.SHORT_TRAIL,
        )
    },
}

OF_NOTES = (
    (versions.UNCHECKED, SEAL, seal_versions),
    (high_water.NO_MARK, START_MARK, take_mark),
)


# ---- carrying out ----------------------------------------------------------------------------------


def repair_store(steps: list[Step], tell: Tell) -> dict[str, str]:
    """Carry out the steps of a plan, work that several ask for once; return why one could not, by its name.

    Nobody else may be writing.
    """
    errors: dict[Repair, str] = {}
    for step in steps:
        if step.work not in errors:
            errors[step.work] = run_step(step, tell)
    return {step.name: errors[step.work] for step in steps}


def run_step(step: Step, tell: Tell) -> str:
    """Carry out a step, also in a store that takes no writes since it is damaged; return why it could not."""
    try:
        with permit_writes():
            step.work(lambda done, total: tell(step.name, done, total))
    except (DatabaseError, Day1Error) as error:
        return str(error)
    return ""
