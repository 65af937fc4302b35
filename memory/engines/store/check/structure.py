"""Tables, indexes and triggers of the database, against what the migrations make."""

import json
import re

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.recorder import MigrationRecorder

from memory.db.backend import get_file_check
from memory.engines.store.check.files import MISSING_TABLE, SALVAGE
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.release import APPS, ROOT, fold_replaced

SCHEMA_FILE = ROOT / "day1site" / "management" / "schema.json"  # written by manage.py write_schema
OWN = re.compile(rf'CREATE [A-Z ]+(?:"\w+" [A-Z ]*ON )?"(?:{"|".join(APPS)})_')
OTHER_LIBRARIES = "tables_of_libraries"  # a note: of other releases than those of the file
ANEW, INDEX, TRIGGER = "makes it anew", "missing_index", "missing_trigger"

KINDS = {
    kind.name: kind
    for kind in (
        MISSING_TABLE,
        ProblemKind("missing_full_text", "full-text tables that are gone", repair=f"{ANEW}, from the rows"),
        ProblemKind(INDEX, "indexes that are gone, or not what they should be", repair=ANEW),
        ProblemKind(TRIGGER, "triggers and views that are gone", repair=ANEW),
        ProblemKind("changed_table", "columns and constraints that a table should have", advice=SALVAGE),
        ProblemKind(
            "foreign_trigger",
            "triggers that are not Day1's, which change rows past it",
            advice="Look at what it does, and drop it.",
        ),
    )
}


@add_check("schema", "Tables, indexes and triggers, as the migrations make them", needs_file=True)
def check_structure(store: CheckedStore, findings: Findings) -> None:
    statements = read_statements(store.alias, findings)
    for name, place in get_file_check(store.alias).compare_structure(statements):
        findings.add(KINDS[name], place)


def read_statements(alias: str, findings: Findings) -> list[str]:
    """Return what makes an empty store; of our own tables alone where libraries are of other releases."""
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    statements: list[str] = schema["statements"]
    applied = set(fold_replaced(MigrationRecorder(connections[alias]).applied_migrations()))
    if applied == {(app, name) for app, name in schema["migrations"]}:
        return statements
    findings.add_note(OTHER_LIBRARIES, 1)
    return list(filter(OWN.match, statements))


def list_missing() -> list[tuple[str, str, str]]:
    """Return kind, name and statement of what can be made anew: indexes, triggers and views."""
    statements = {sql.split('"')[1]: sql for sql in read_statements(DEFAULT_DB_ALIAS, Findings(""))}
    found = get_file_check().compare_structure(list(statements.values()))
    return [(kind, name, statements[name]) for kind, name in found if kind in (INDEX, TRIGGER)]
