"""The clients of REST, as tests/memory/api has them."""

from tests.memory.api.conftest import api, no_requests_counted, stranger

__all__ = ["api", "no_requests_counted", "stranger"]
