"""Shared fixtures of the hooks and of the command line."""

from typing import Any

import pytest

from memory.models import Project
from tests.memory.api.client import Api, api_for
from tests.site.hook_events import CONSOLIDATOR


@pytest.fixture
def api(project: Project) -> Api:
    """Return a client with all rights in ``project``."""
    return api_for(project)


@pytest.fixture
def learning(settings: Any) -> None:
    """Enable the consolidation of sessions when they end."""
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
