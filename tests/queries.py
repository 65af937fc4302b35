"""How many queries a page asks, whatever the second in which it is asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.db import raw_select
from memory.db.backend import get_backend
from memory.engines.support.write_buffer import buffer
from memory.models.usage import forget_known


@contextmanager
def nothing_noted() -> Iterator[None]:
    """Let few rows of a statement be read again as many are, which nobody notes."""
    with patch.object(raw_select, "MAX_NOTED_ROWS", -1):
        yield


def list_queries(work: Callable[[], object]) -> list[str]:
    """Return the queries of some work in this thread, whose caches are as they are."""
    buffer.flush()
    forget_known()  # read again after a second, at whatever page that is
    reset_queries()  # a full log would count none
    with CaptureQueriesContext(connection) as queries:
        work()
    return [query["sql"] for query in queries]


def count_queries(client: Client, path: str) -> int:
    """Return the number of queries of a page."""

    get_backend(connection.alias).notes.clear()  # of the page before

    def read_page() -> None:
        assert client.get(path).status_code == 200, path

    return len(list_queries(read_page))


def count_later_queries(client: Client, path: str) -> int:
    """Return the number of queries of a page that was read before: some are stored or kept once."""
    with nothing_noted():
        client.get(path)
        return count_queries(client, path)
