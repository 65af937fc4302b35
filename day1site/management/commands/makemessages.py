"""Django's makemessages, which also finds the sentences of the errors that engines raise."""

from typing import Any

from django.core.management.commands import makemessages

from memory import exceptions

ERRORS = [name for name, kind in vars(exceptions).items() if isinstance(kind, type)]
# What no page shows: programs read it, in English.
FOR_PROGRAMS = [
    ".venv", "bench", "conversations", "tests", "memory/api/*", "memory/providers/*",
    "day1site/cli/*", "day1site/demo/*", *(f"memory/engines/{name}.py" for name in
      "idempotency moving observations relations retention snapshots transfer upkeep workspaces".split()),
]  # fmt: skip


class Command(makemessages.Command):
    """An error's first argument is a text to translate, as that of gettext is."""

    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=lazy",
        *(f"--keyword={name}" for name in ERRORS),
    ]
    # A guess that looks finished is worse than a gap, which a test finds.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def handle(self, *args: Any, **options: Any) -> None:
        options["ignore_patterns"] = [*options["ignore_patterns"], *FOR_PROGRAMS]
        super().handle(*args, **{**options, "no_location": True, "no_obsolete": True})
