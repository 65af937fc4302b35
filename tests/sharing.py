"""How the whole suite is shared out among processes."""

import pytest
from xdist.scheduler import LoadFileScheduling

LONGEST = ("tests/e2e/", "tests/site/")  # pages in browsers, servers, the command line


class Sharing(LoadFileScheduling):
    """A file at a time; the pages in browsers are like one, since they share a server with the demo."""

    def _split_scope(self, nodeid: str) -> str:
        return LONGEST[0] if nodeid.startswith(LONGEST[0]) else super()._split_scope(nodeid)


def longest_first(item: pytest.Item) -> int:
    """The place of a test, so that no process is left alone with the longest in the end."""
    return next((n for n, folder in enumerate(LONGEST) if item.nodeid.startswith(folder)), len(LONGEST))
