"""A server in this process over real sockets, so that a test may look at its rows, and scripted models."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug import Request, Response

from day1_client import Day1
from memory.models import Project
from tests.events.conftest import port, served  # noqa: F401  fixtures
from tests.events.sse_client import key_for
from tests.http_doubles import DoubleServer
from tests.memory.fake_provider import FakeProvider


@pytest.fixture
def memory(
    address: None,
    port: int,  # noqa: F811
    project: Project,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Day1]:
    """Return the memory of a project of its own, in which texts get vectors; the environment names it too."""
    token = key_for(project, scopes=["admin"], rate_per_minute=100_000)[1]
    monkeypatch.setenv("DAY1_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("DAY1_KEY", token)
    with FakeProvider() as provider, Day1(retries=0) as memory:
        settings.DAY1 = provider.settings(batch=64)
        yield memory


class ScriptedModel(DoubleServer):
    """A model's server that says what it is told to, in order; ``asked`` has the bodies of its requests."""

    def __init__(self, *answers: dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        super().__init__()
        self.answers, self.asked = list(answers), list[dict[str, Any]]()
        self.expect_request("/v1/responses").respond_with_handler(self._say)
        self.expect_request("/v1/messages").respond_with_handler(self._say)

    def _say(self, request: Request) -> Response:
        self.asked.append(json.loads(request.get_data()))
        answer = self.answers.pop(0)
        answer = answer(self.asked[-1]) if callable(answer) else answer
        return Response(json.dumps(answer), content_type="application/json")
