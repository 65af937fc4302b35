"""Versions: their content against its checksum, and the chain that they make on a branch."""

from collections.abc import Iterator
from typing import Any

from django.db import connections
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet

from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import (
    BATCH_SIZE,
    UNREADABLE_ROWS,
    describe_error,
    list_tables,
    walk_rows,
)
from memory.engines.support.readable_rows import UNREADABLE, read_rows
from memory.engines.versions.kinds import versioned_models
from memory.models import OPEN, AuditEntry, BranchedModel, QueueMessage, Vector
from memory.models.base import ERASED_MARK
from memory.models.checksums import compute_checksum
from memory.models.hashes import content_hash

RESTORE = "Restore a snapshot of the store, which puts lost rows back, or a backup."
UNCHECKED = "versions_without_checksum"

CHANGED_CONTENT = ProblemKind(
    "changed_content",
    "versions that say something else than what was written",
    repair="puts the text back where a copy of it has the checksum of what was written",
    advice="Restore a backup, or write the memory again: a new version has a checksum of its own.",
)
MISSING_VERSION = ProblemKind(
    "missing_version",
    "versions that are gone: others name them, or the commit that made them",
    advice=RESTORE,
)
TWO_OPEN_VERSIONS = ProblemKind(
    "two_open_versions", "memories with two open versions on one branch", advice=RESTORE
)
WRONG_SLOT = ProblemKind(
    "wrong_slot", "versions whose slot does not say whether they are open", advice=RESTORE
)
BEYOND_HEAD = ProblemKind(
    "version_beyond_head", "versions of commits that their branch does not have", advice=RESTORE
)


@add_check("content", "All rows, and what versions and ratings say, against the checksum of what was written")
def check_content(store: CheckedStore, findings: Findings) -> None:
    models = [*versioned_models(), *list_others(store)]
    total = sum(count_rows(store, model) for model in models)
    done = 0
    for model in models:
        for batch in walk_rows(store, store.rows(model), findings, done, total):
            done += len(batch)
            for row in batch if hasattr(model, "set_checksum") else []:
                check_row(row, findings)


def list_others(store: CheckedStore) -> list[Any]:
    """Return the tables without versions that no check of their own reads row by row."""
    known = {*versioned_models(), AuditEntry, QueueMessage, Vector}
    present = connections[store.alias].introspection.table_names()
    return [model for model in list_tables() if model not in known and model._meta.db_table in present]


def count_rows(store: CheckedStore, model: Any) -> int:
    try:
        return int(store.rows(model).count())
    except UNREADABLE:
        return 0


def check_row(row: Any, findings: Findings) -> None:
    is_version = isinstance(row, BranchedModel)
    if row.checksum is None:
        findings.add_note(UNCHECKED, 1)
    if has_changed(row):
        name = name_version(row) if is_version else f"{row._meta.db_table} {row.pk}"
        findings.add(CHANGED_CONTENT, name, proof=str(compute_checksum(row)))
    if is_version and (row.slot is not None) != (row.seq_to == OPEN and not row.deleted):
        findings.add(WRONG_SLOT, name_version(row))


def has_changed(row: Any) -> bool:
    """Return whether a version differs from its checksum; one without has at least the hash of its text."""
    if row.checksum is not None:
        return bool(row.checksum != compute_checksum(row))
    text = getattr(row, row.TEXT, "") if row.TEXT else ""
    return bool(text and text != ERASED_MARK and row.content_hash != content_hash(text))


def name_version(row: BranchedModel) -> str:
    """Return how a version is called in a report: kind, id, version, branch and seq."""
    return f"{row.KIND.name} {row.uid} version {row.version} (branch {row.branch_id}, seq {row.seq_from})"


@add_check("versions", "One open version of a memory on a branch, and none missing between")
def check_versions(store: CheckedStore, findings: Findings) -> None:
    models = versioned_models()
    for done, model in enumerate(models):
        store.tell(done, len(models))
        try:
            check_chain(store, model, findings)
        except UNREADABLE as error:
            findings.add(UNREADABLE_ROWS, f"{model._meta.db_table}: {describe_error(error)}")


def check_chain(store: CheckedStore, model: type[BranchedModel], findings: Findings) -> None:
    rows = store.rows(model)
    add_all(findings, BEYOND_HEAD, rows, list_keys(rows.filter(seq_from__gt=F("branch__head"))))
    add_all(findings, MISSING_VERSION, rows, list_keys(find_unclosed(rows)))
    for keys in find_orphans(rows):
        add_all(findings, MISSING_VERSION, rows, keys)
    open_rows = rows.filter(seq_to=OPEN).values("branch_id", "uid")
    doubles = open_rows.annotate(number=Count("rid")).filter(number__gt=1)
    for double in doubles:
        findings.add(TWO_OPEN_VERSIONS, f"{model.KIND.name} {double['uid']} (branch {double['branch_id']})")


def find_unclosed(rows: QuerySet) -> QuerySet:
    """Return closed versions that no later one follows: its place is where they end."""
    following = rows.filter(branch=OuterRef("branch"), uid=OuterRef("uid"), seq_from=OuterRef("seq_to"))
    return rows.filter(~Exists(following), seq_to__lt=OPEN)


def find_orphans(rows: QuerySet) -> Iterator[list[int]]:
    """Yield the first version of those that name an origin or predecessor which is gone: the row of the vid.

    Later ones are copies of it, or go on from it.
    """
    for name in ("vid", "prev_vid", "merged_vid"):
        orphans = rows.filter(~Q(**{name: F("rid")}), ~Exists(rows.filter(rid=OuterRef(name))))
        named = orphans.exclude(**{name: None}).values(name).annotate(first=Min("rid"))
        yield sorted(named.values_list("first", flat=True))


def list_keys(rows: QuerySet) -> list[int]:
    return list(rows.order_by("rid").values_list("rid", flat=True))


def add_all(findings: Findings, kind: ProblemKind, rows: QuerySet, keys: list[int]) -> None:
    """Add versions by their names, or by their keys where they cannot be read."""
    for start in range(0, len(keys), BATCH_SIZE):
        read, unread = read_rows(rows.order_by("rid"), keys[start : start + BATCH_SIZE])
        for name in (*map(name_version, read), *(f"{rows.model.KIND.name} row {key}" for key in unread)):
            findings.add(kind, name)
