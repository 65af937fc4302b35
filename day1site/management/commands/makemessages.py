"""Django's makemessages, extended to the messages of the errors that engines raise."""

from typing import Any

from django.core.management.commands import makemessages

from memory import exceptions

ERRORS = [name for name, kind in vars(exceptions).items() if isinstance(kind, type)]
# Read by programs only, in English.
FOR_PROGRAMS = [
    ".venv",
    "clients",
    "bench",
    "conversations/answers/*",
    "conversations/api/*",
    "conversations/capture/*",
    "tests",
    "memory/answers/*",
    "memory/api/*",
    "memory/operations/*inputs.py",
    "memory/operations/parameters.py",
    "memory/providers/*",
    "day1site/cli/*",
    "day1site/demo/*",
    *(
        f"conversations/engines/{name}.py"
        for name in "conversations learning messages prompt_recall sessions".split()
    ),
    *(
        f"memory/engines/{name}.py"
        for name in (
            "support/idempotency store/migration sessions/observations graph/engine store/retention "
            "store/snapshots facts/import_export store/maintenance store/workspaces"
        ).split()
    ),
]


class Command(makemessages.Command):
    """Command that treats the first argument of an error as a translatable text."""

    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=lazy",
        *(f"--keyword={name}" for name in ERRORS),
    ]
    # A fuzzy match looks finished; a gap is found by a test.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def handle(self, *args: Any, **options: Any) -> None:
        options["ignore_patterns"] = [*options["ignore_patterns"], *FOR_PROGRAMS]
        super().handle(*args, **{**options, "no_location": True, "no_obsolete": True})
