"""``manage.py write_fields``: write what is declared down for the command line, which loads no engine."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from day1site.cli.client import OPERATIONS
from day1site.cli.declared_fields import FILE
from memory.discovery import import_from_apps
from memory.engines.fields.base import NOUNS, Noun
from memory.operations.base import list_operations


def format_nouns() -> str:
    """Return all nouns as JSON, with a line for each field and each filter."""
    import_from_apps("engines.fields")
    nouns = (f"{json.dumps(name)}: {format_noun(NOUNS[name])}" for name in sorted(NOUNS))
    return "{\n" + ",\n".join(nouns) + "\n}\n"


def format_noun(noun: Noun) -> str:
    parts = (
        f" {json.dumps(part)}: [\n{format_rows(rows)}\n ]" for part, rows in noun.describe_fields().items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def format_rows(rows: list[dict[str, Any]]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)


def format_operations() -> str:
    """Return all operations as JSON, with a line for each."""
    import_from_apps("operations")
    lines = [
        f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}"
        for name, one in sorted(list_operations())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


class Command(BaseCommand):
    help = "Write fields.json and operations.json of the command line anew from the declarations."

    def handle(self, *args: Any, **options: Any) -> None:
        FILE.write_text(format_nouns(), encoding="utf-8")
        OPERATIONS.write_text(format_operations(), encoding="utf-8")
        self.stdout.write(f"{FILE.name} has {len(NOUNS)} nouns.")
