"""How many queries a page asks, whatever the second in which it is asked."""

from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.engines.support.write_buffer import buffer
from memory.models.usage import forget_known


def count_queries(client: Client, path: str) -> int:
    """Return the number of queries of a page whose caches are as they are."""
    buffer.flush()
    forget_known()  # read again after a second, at whatever page that is
    reset_queries()  # a full log would count none
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200, path
    return len(queries)


def count_later_queries(client: Client, path: str) -> int:
    """Return the number of queries of a page that was read before: some are stored or kept once."""
    client.get(path)
    return count_queries(client, path)
