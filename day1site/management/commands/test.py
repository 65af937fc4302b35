"""``manage.py test``: all tests, with pytest. Every argument goes to pytest."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand

from day1site.settings.paths import ROOT

# Named one by one, since plug-in discovery costs seconds (see bootstrap.py).
PLUGINS = (
    "pytest_django.plugin",
    "_hypothesis_pytestplugin",
    "pytest_httpserver.pytest_plugin",
    "xdist.plugin",
)
SIDE_BY_SIDE = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]


class Command(BaseCommand):
    help = "Run the tests with pytest; arguments are pytest's, such as -k branches -x."

    def run_from_argv(self, argv: list[str]) -> None:
        import pytest

        os.chdir(ROOT)  # pytest takes settings and tests of the folder it is called in
        named = [word for plugin in PLUGINS for word in ("-p", plugin)]
        sys.exit(pytest.main([*named, *(argv[2:] or everything())]))

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("run it as `manage.py test`")


def everything() -> list[str]:
    """Return the options of a full run: several processes, unless all would share a given database."""
    return [] if os.environ.get("DAY1_TEST_DATABASE_URL") else SIDE_BY_SIDE
