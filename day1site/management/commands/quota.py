"""``manage.py quota``: what projects store, and a quota of their own."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.engines.support.usage import UsageEngine
from memory.exceptions import Day1Error
from memory.models import Project
from memory.quota import Usage

DEFAULT = "default"


class Command(BaseCommand):
    help = "Show what each project stores and may store, or give one a quota of its own."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="a project")
        parser.add_argument(
            "quota", nargs="?", help=f"20GB, rows=5000000,bytes=20GB, none; {DEFAULT} is that of the server"
        )
        parser.add_argument("--count", action="store_true", help="count the rows anew first")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, quota, engine = options["slug"], options["quota"], UsageEngine()
        try:
            if quota:
                engine.set_quota(slug=slug, text="" if quota == DEFAULT else quota)
        except (Day1Error, ValueError) as refusal:
            raise CommandError(str(refusal)) from None
        if options["count"]:
            for project in Project.objects.filter(**{"slug": slug} if slug else {}):
                engine.count_project(project.pk)
        found = [(one, usage) for one, usage in engine.list_usage() if slug in (None, one.slug)]
        if not found:
            raise CommandError(f"There is no project {slug!r}.")
        for project, usage in found:
            self.stdout.write(describe_line(project.slug, usage))


def describe_line(slug: str, usage: Usage) -> str:
    """Return what a project stores of its quota, and what that means when it is reached."""
    text = f"{slug}  {usage.describe()}"
    return f"{text}: at its quota, so writes stop; reads go on" if usage.find_full() else text
