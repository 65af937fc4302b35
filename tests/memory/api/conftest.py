import pytest
from django.core.cache import cache

from memory.models import Project
from tests.memory.api.client import Api, api_for


@pytest.fixture(autouse=True)
def no_requests_counted() -> None:
    """Reset the rate limits."""
    cache.clear()


@pytest.fixture
def api(project: Project) -> Api:
    """Return a client with all rights in ``project``."""
    return api_for(project)


@pytest.fixture
def stranger(other_project: Project) -> Api:
    """Return a client with all rights in another project."""
    return api_for(other_project)
