"""What the tests of hooks start from."""

from typing import Any

import pytest

from memory.models import Project
from tests.memory.api.client import Api, api_for
from tests.site.hooks import CONSOLIDATOR


@pytest.fixture
def api(project: Project) -> Api:
    """May do everything in ``project``."""
    return api_for(project)


@pytest.fixture
def learning(settings: Any) -> None:
    """Sessions are learned from when they end."""
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
