"""Which tests are slow: ``make timings`` measures it and writes the list that every run reads."""

from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

SLOW_SECONDS = 0.1
LIST = Path(__file__).parent / "slow_tests.txt"


def load_slow_tests() -> frozenset[str]:
    """Return the functions that were slow when they were last measured, as ``path::function``.

    The list has a line for each file.
    """
    lines = [line.partition(": ") for line in LIST.read_text().splitlines()]
    return frozenset(f"{file}::{name}" for file, _, names in lines for name in names.split())


def name_function(nodeid: str) -> str:
    """Return the id of a test without its parameters."""
    return nodeid.partition("[")[0]


class Timings:
    """Plug-in that writes the list when a run of all tests ends."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.started: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test took; the first of a process also makes the database, which is not its own."""
        node = getattr(report, "node", None)
        process = node.gateway.id if node else ""
        if process in self.started:
            self.seconds[report.nodeid] += report.duration
        self.started.add(process)

    def pytest_sessionfinish(self) -> None:
        slow = {name_function(test) for test, seconds in self.seconds.items() if seconds >= SLOW_SECONDS}
        files = groupby((name.split("::", 1) for name in sorted(slow)), itemgetter(0))
        lines = [f"{file}: {' '.join(name for _, name in names)}\n" for file, names in files]
        LIST.write_text("".join(lines))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Timings())
