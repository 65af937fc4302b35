"""The client of Day1, versioned memory for AI agents.

``memory = Day1()``, then ``memory.remember("…")``, ``memory.recall("…")``, or any operation of the API in its
group, such as ``memory.items.put(…)``.
"""

from day1_client.client import AsyncBranch, AsyncDay1, Branch, Day1, Recall
from day1_client.errors import Day1Error, NotDay1, NotModified, ServerTooOld, Unreachable
from day1_client.pages import AsyncPage, Page
from day1_client.values import NULL
from day1_client.version import __version__

__all__ = [
    "NULL",
    "AsyncBranch",
    "AsyncDay1",
    "AsyncPage",
    "Branch",
    "Day1",
    "Day1Error",
    "NotDay1",
    "NotModified",
    "Page",
    "Recall",
    "ServerTooOld",
    "Unreachable",
    "__version__",
]
