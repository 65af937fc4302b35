"""The official MCP client, over HTTP, against the ASGI application that `up` serves."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx2
import jsonschema
import pytest
from django.core.cache import cache
from django.db import connections
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from day1site import asgi
from day1site.mcp.tools import ALL
from day1site.mcp_profiles import MORE_TOOL
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.models import Project

URL = "http://localhost/mcp"


@pytest.fixture(autouse=True)
def no_requests_counted() -> None:
    cache.clear()


@pytest.fixture
def threads_closed(transactional_db: None) -> Iterator[None]:
    """Close the connections of the application's threads before the database is closed."""
    yield
    pool = asgi.django.executor
    for _ in range(asgi.THREADS * 4):
        with suppress(RuntimeError):
            pool.submit(connections.close_all).result()


def read_data(found: Any) -> dict[str, Any]:
    """Return the data of an answer that is no refusal: its text, which it has once."""
    (part,) = found.content
    assert not found.is_error, part.text
    assert found.structured_content is None
    data: dict[str, Any] = json.loads(part.text)
    return data


class Agent:
    """Program with a key; each ``run`` is a connection of its own."""

    def __init__(self, token: str, url: str = URL, mode: str = "auto", **headers: str) -> None:
        self.token, self.url, self.mode = token, url, mode
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def at(self, url: str = URL, mode: str = "", **headers: str) -> "Agent":
        return Agent(self.token, url, mode or self.mode, **headers)

    def run(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        return asyncio.run(self._run(work))

    async def _run(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        transport = httpx2.ASGITransport(asgi.application)
        headers = {"Authorization": f"Bearer {self.token}", **self.headers}
        try:
            async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
                link = streamable_http_client(self.url, http_client=http)
                async with Client(link, mode=self.mode) as client:
                    return await work(client)
        finally:
            for _, app in asgi.ASYNC_APPS:
                await app.stop()

    # ---- what tests ask ----------------------------------------------------------------------------

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return the data of its text, which is what the tool declares."""
        data = read_data(self.run(lambda client: client.call_tool(tool, arguments)))
        jsonschema.validate(data, ALL[tool].output)
        return data

    def call_more(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Run a tool that is not listed; return its data."""
        payload = {"tool": tool, "arguments": arguments}
        data = read_data(self.run(lambda client: client.call_tool(MORE_TOOL, payload)))
        jsonschema.validate(data, ALL[tool].output)
        return data

    def refused(self, tool: str, code: str, /, **arguments: Any) -> str:
        """Call a tool that must be refused with this code; return the text."""
        found = self.run(lambda client: client.call_tool(tool, arguments))
        assert found.is_error, found.content
        text = found.content[0].text
        assert text.startswith(f"{code}: "), text
        return text

    def tools(self) -> list[Any]:
        return self.run(lambda client: client.list_tools()).tools

    def fails(self, work: Callable[[Client], Awaitable[Any]]) -> str:
        """Run work that must fail; return the text of the MCP error."""

        async def failing(client: Client) -> str:
            with pytest.raises(MCPError) as caught:
                await work(client)
            return caught.value.message

        return self.run(failing)


def agent_for(project: Project, **options: Any) -> Agent:
    wanted = {"label": "agent", "scopes": ["admin"], **options}
    return Agent(KeyEngine().create_key(actor=local_actor(project.pk), **wanted)[1])


@pytest.fixture
def agent(project: Project, threads_closed: None) -> Agent:
    """Return an agent with all rights in ``project``."""
    return agent_for(project)


@pytest.fixture
def viewer(project: Project, threads_closed: None) -> Agent:
    return agent_for(project, scopes=["read"])


@pytest.fixture
def stranger(other_project: Project, threads_closed: None) -> Agent:
    """Return an agent with all rights in another project."""
    return agent_for(other_project)
