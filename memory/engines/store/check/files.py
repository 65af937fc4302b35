"""The database's own check of its file, and keys between its tables."""

from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef

from memory.db.backend import get_file_check
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import UNREADABLE_ROWS, describe_error, list_tables
from memory.engines.store.check.versions import RESTORE
from memory.engines.support.readable_rows import UNREADABLE

SALVAGE = "Restore a backup, or write what can be read to a new store: day1 salvage."
KINDS = {
    kind.name: kind
    for kind in (
        ProblemKind(
            "not_a_database", "files that are no database, or whose first page is gone", advice=SALVAGE
        ),
        ProblemKind("truncated_file", "files of which the end is missing", advice=SALVAGE),
        ProblemKind("unreadable_schema", "files whose list of tables cannot be read", advice=SALVAGE),
        ProblemKind("damaged_table", "tables with damaged pages", advice=SALVAGE),
        ProblemKind(
            "damaged_index", "indexes that are damaged", repair="makes the index anew from its table"
        ),
        ProblemKind(
            "damaged_full_text",
            "full-text tables with damaged pages",
            repair="rebuilds the full-text index from the rows",
        ),
    )
}
LOST_FILE = frozenset({"not_a_database", "unreadable_schema"})  # nothing else can be checked
BROKEN_KEY = ProblemKind(
    "broken_foreign_key",
    "rows that refer to a row that is gone",
    repair="empties the reference where the row may do without",
    advice=RESTORE,
)
MISSING_TABLE = ProblemKind(
    "missing_table",
    "tables that are gone",
    advice=SALVAGE,
)


@add_check(
    "file", "The file, its pages, tables and indexes, as the database itself checks them", needs_file=True
)
def check_file(store: CheckedStore, findings: Findings) -> None:
    for name, place in get_file_check(store.alias).find_damage(store.tell):
        findings.add(KINDS[name], place)


@add_check("foreign_keys", "References between rows, each to a row that is there")
def check_foreign_keys(store: CheckedStore, findings: Findings) -> None:
    kinds = list_tables()
    for done, kind in enumerate(kinds):
        store.tell(done, len(kinds))
        for field in list_references(kind):
            try:
                check_reference(store, kind, field, findings)
            except UNREADABLE as error:
                is_missing = "no such" in str(error)
                if not (is_missing and store.path):  # of a file the check of its schema names them
                    findings.add(
                        MISSING_TABLE if is_missing else UNREADABLE_ROWS,
                        f"{kind._meta.db_table}: {describe_error(error)}",
                    )


def list_references(kind: type[models.Model]) -> list[Any]:
    return [field for field in kind._meta.local_concrete_fields if field.is_relation]


def find_broken(store: CheckedStore, kind: Any, field: Any) -> Any:
    """Return the rows of a table whose reference leads nowhere."""
    target = field.target_field
    known = store.rows(field.related_model).filter(**{target.attname: OuterRef(field.attname)})
    return store.rows(kind).exclude(**{field.attname: None}).filter(~Exists(known))


def check_reference(store: CheckedStore, kind: Any, field: Any, findings: Findings) -> None:
    broken = find_broken(store, kind, field)
    target = field.related_model._meta.db_table
    for pk, value in broken.values_list("pk", field.attname):
        findings.add(BROKEN_KEY, f"{kind._meta.db_table} {pk}: {target} {value}")
