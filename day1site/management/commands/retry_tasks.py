"""``manage.py retry_tasks``: run the tasks again that stopped their worker and were set aside."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from memory.queue.producer import list_set_aside, retry_set_aside


class Command(BaseCommand):
    help = "Run the tasks again that stopped their worker twice and were set aside."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--list", action="store_true", help="only show them")

    def handle(self, *args: Any, **options: Any) -> None:
        for message in list_set_aside():
            since = f"{message.set_aside_at:%Y-%m-%d %H:%M} UTC"
            self.stdout.write(f"{message.key or message.pk}  begun {message.tries} times, set aside {since}")
        if not options["list"]:
            self.stdout.write(f"{retry_set_aside()} tasks run again.")
