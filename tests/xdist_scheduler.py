"""Distribution of the whole suite among processes."""

import pytest
from xdist.scheduler import LoadFileScheduling

LONG_DIRECTORIES = ("tests/e2e/", "tests/site/")  # pages in browsers, servers, the command line


class Sharing(LoadFileScheduling):
    """Scheduler by file; the browser page tests count as one file, since they share a server."""

    def _split_scope(self, nodeid: str) -> str:
        return LONG_DIRECTORIES[0] if nodeid.startswith(LONG_DIRECTORIES[0]) else super()._split_scope(nodeid)


def longest_first(item: pytest.Item) -> int:
    """Return the sort position of a test, so that the longest files start first."""
    return next(
        (n for n, folder in enumerate(LONG_DIRECTORIES) if item.nodeid.startswith(folder)),
        len(LONG_DIRECTORIES),
    )
