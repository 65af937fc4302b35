"""Vectors against the texts that they were made of."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, F

from memory.db.expressions import ByteLength
from memory.engines.embedding.models import active_provider, model_in_force
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import walk_keys, walk_rows
from memory.engines.store.check.versions import count_rows
from memory.engines.versions.pinned_versions import fork_points, in_use, text_models
from memory.models import Branch, Vector, VectorClock
from memory.models.vectors import vector_slot

REEMBED = "has the texts embedded by the model in force, and deletes the vectors of others"
MAX_LENGTH_ERROR = 0.01  # of a vector, which has length one

OTHER_MODEL = ProblemKind(
    "vector_of_another_model", "vectors of another model than the one that searches use", repair=REEMBED
)
DAMAGED_VECTOR = ProblemKind("damaged_vector", "vectors that are no vectors of their model", repair=REEMBED)
TEXT_WITHOUT_VECTOR = ProblemKind(
    "text_without_vector", "texts that have no vector and do not wait for one", repair=REEMBED
)
UNREAD_TEXT = ProblemKind(
    "vector_of_an_unread_text",
    "vectors of texts that the model cannot read",
    repair="takes these vectors: the words alone find such texts",
)
COLUMNS = ("rid", "content_hash", "branch_id", "seq_from", "seq_to")


@add_check("vectors", "Vectors, against the texts that they were made of")
def check_vectors(store: CheckedStore, findings: Findings) -> None:
    model = model_in_force()
    sizes, searched = count_sizes(store), read_searched(store)
    total, done = count_rows(store, Vector), 0
    for batch in walk_rows(store, store.rows(Vector).defer("words", "text"), findings, 0, total):
        done += len(batch)
        for vector in batch:
            check_vector(vector, model or "", searched, sizes, findings)
    if model is None:
        findings.add_note("embedding_is_off", 1)
        return
    for kind in text_models():
        check_texts(store, kind, model, findings)


def count_sizes(store: CheckedStore) -> dict[str, int]:
    """Return how many bytes most vectors of each model have."""
    ready = store.rows(Vector).filter(state=Vector.State.READY).exclude(data=None)
    counts: dict[str, Counter[int]] = {}
    for row in ready.values("model", size=ByteLength(F("data"))).annotate(number=Count("slot")):
        counts.setdefault(row["model"], Counter())[row["size"]] += row["number"]
    return {model: sizes.most_common(1)[0][0] for model, sizes in counts.items()}


def read_searched(store: CheckedStore) -> dict[UUID, str]:
    """Return the model that searches of each project use: another than that in force until a change of the
    model has come to its end.
    """
    return dict(store.rows(VectorClock).values_list("project_id", "read_by"))


def check_vector(
    vector: Vector, model: str, searched: dict[UUID, str], sizes: dict[str, int], findings: Findings
) -> None:
    is_changing = searched.get(vector.project_id, "") not in ("", model)
    if model and vector.model != model and not is_changing:
        findings.add(OTHER_MODEL, f"{vector.model} ({vector.slot})")
    elif vector.slot != vector_slot(vector.project_id, vector.model, vector.content_hash):
        findings.add(DAMAGED_VECTOR, f"{vector.slot}: of another text or model")
    elif vector.state == Vector.State.READY and not is_vector(vector.data, sizes.get(vector.model, 0)):
        findings.add(DAMAGED_VECTOR, f"{vector.slot}: not a vector of {vector.model}")


def is_vector(data: np.ndarray | None, size: int) -> bool:
    if data is None or data.nbytes != size:
        return False
    with np.errstate(over="ignore"):
        return bool(abs(float(np.linalg.norm(data.astype("f8"))) - 1) <= MAX_LENGTH_ERROR)


# ---- texts -----------------------------------------------------------------------------------------


def check_texts(store: CheckedStore, kind: Any, model: str, findings: Findings) -> None:
    """Find the texts that a branch shows and that were never queued for the model, and those that it cannot
    read and that have a vector all the same.
    """
    rows = store.rows(kind).filter(kind.embedded_q(), deleted=False).exclude(**{kind.TEXT: ""})
    rows = rows.exclude(**{kind.TEXT: kind.ERASED.get(kind.TEXT)})
    for keys in walk_keys(rows, Findings("")):
        with store.open_moment():
            missing = find_missing(store, rows.filter(pk__in=keys), model)
            unread = find_unread(store, rows.filter(pk__in=keys), model)
        findings.add(UNREAD_TEXT, *(f"{kind.KIND.name} version {rid}" for rid in unread)) if unread else None
        findings.add(
            TEXT_WITHOUT_VECTOR, *(f"{kind.KIND.name} version {rid}" for rid in missing)
        ) if missing else None


def find_missing(store: CheckedStore, rows: Any, model: str) -> Sequence[int]:
    branches = Branch.objects.using(store.alias)
    projects: dict[int, UUID] = dict(branches.values_list("pk", "project_id"))
    points = fork_points(branches.all())
    slots = {
        vector_slot(projects[branch], model, value): rid
        for rid, value, branch, *span in rows.values_list(*COLUMNS)
        if branch in projects and in_use(points, branch, *span)
    }
    known = set(store.rows(Vector).filter(slot__in=list(slots)).values_list("slot", flat=True))
    return sorted(rid for slot, rid in slots.items() if slot not in known)


def find_unread(store: CheckedStore, rows: Any, model: str) -> Sequence[int]:
    provider = active_provider()
    projects = dict(Branch.objects.using(store.alias).values_list("pk", "project_id"))
    slots = {
        vector_slot(projects[branch], model, value): rid
        for rid, branch, value, text in rows.values_list("rid", "branch_id", "content_hash", rows.model.TEXT)
        if branch in projects and not text.isascii() and provider and not provider.can_read(text)
    }
    ready = store.rows(Vector).filter(slot__in=list(slots), state=Vector.State.READY)
    return sorted(slots[slot] for slot in ready.values_list("slot", flat=True))
