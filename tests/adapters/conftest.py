"""The client of the programs."""

import pytest

from memory.models import Project
from tests.memory.api.client import Api, api_for


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project, rate_per_minute=100_000)
