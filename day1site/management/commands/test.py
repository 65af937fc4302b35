"""``manage.py test``: all tests, with pytest. Every argument goes to pytest."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

# Named one by one, since looking for plug-ins costs seconds (see bootstrap.py).
PLUGINS = ("pytest_django.plugin", "_hypothesis_pytestplugin", "pytest_httpserver.pytest_plugin")


class Command(BaseCommand):
    help = "Run the tests with pytest; arguments are pytest's, such as -k branches -x."

    def run_from_argv(self, argv: list[str]) -> None:
        import pytest

        named = [word for plugin in PLUGINS for word in ("-p", plugin)]
        sys.exit(pytest.main([*named, *argv[2:]]))

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("run it as `manage.py test`")
