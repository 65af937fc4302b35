"""REST clients, shared with tests/memory/api; what is said and done in sessions."""

from tests.conversations.conftest import did, say
from tests.memory.api.conftest import api, no_requests_counted, stranger

__all__ = ["api", "did", "no_requests_counted", "say", "stranger"]
