"""REST clients, shared with tests/memory/api."""

from tests.memory.api.conftest import api, no_requests_counted, stranger

__all__ = ["api", "no_requests_counted", "stranger"]
