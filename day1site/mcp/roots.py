"""Roots: the folders that a client works in, for a server that was started outside of any repository.

Only clients of revisions before 2026-07-28 can be asked. The standard library is enough for it.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit
from urllib.request import url2pathname

from day1site.hooks.client.capture import find_repository

TIMEOUT_SECONDS = 5.0  # for the client's answer, which calls wait for


def find_common_repository(uris: Iterable[str]) -> str:
    """Return the repository that the client's folders are in; "" where they are in none, or in several."""
    folders = [url2pathname(urlsplit(uri).path) for uri in uris if uri.startswith("file:")]
    known = {str(find_repository(folder)) for folder in folders} - {""}
    return known.pop() if len(known) == 1 else ""
