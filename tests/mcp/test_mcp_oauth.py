"""The official client connects by OAuth to a server in a process of its own, and goes on without a key."""

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.mcp.conftest import read_data
from tests.up_process import Up, provisioned

PASSWORD = "a password of a test"
BACK = "http://localhost:43210/callback"
TOKEN = re.compile('name="csrfmiddlewaretoken" value="([^"]+)"')


class Storage:
    """Tokens and registration, in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """A person whose browser the program opens: logs in, reads the page, and allows."""

    def __init__(self, url: str, **changes: str) -> None:
        self.url, self.changes = url, changes
        self.pages: list[str] = []
        self.back: dict[str, str] = {}

    async def open(self, address: str) -> None:
        async with httpx2.AsyncClient(base_url=self.url, follow_redirects=False) as browser:
            login = await self.follow(browser, address)
            fields = {"username": "admin", "password": PASSWORD, "next": address.removeprefix(self.url)}
            await self.follow(browser, "/login", {**fields, **self.read_token(login)})
            consent = await self.follow(browser, address)
            allowed = {"project": "default", "rights": "write", "branches": "", **self.read_token(consent)}
            answer = await browser.post(address, data=allowed, headers={"Referer": address})
        assert answer.status_code == 302, answer.text
        location = answer.headers["location"]
        assert location.startswith(BACK)
        self.back = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}

    async def follow(self, browser: Any, address: str, data: Any = None) -> str:
        answer = await browser.request(
            "POST" if data else "GET", address, data=data, headers={"Referer": address}
        )
        if answer.status_code == 302 and not data:
            return await self.follow(browser, answer.headers["location"])
        self.pages.append(answer.text)
        return str(answer.text)

    def read_token(self, page: str) -> dict[str, str]:
        found = TOKEN.search(page)
        assert found, page
        return {"csrfmiddlewaretoken": found[1]}

    async def tell(self) -> AuthorizationCodeResult:
        back = {**self.back, **self.changes}
        return AuthorizationCodeResult(code=back["code"], state=back["state"], iss=back.get("iss"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = provisioned(tmp_path_factory.mktemp("oauth") / "data")
    with Up(folder, DAY1_OAUTH="true") as up:
        up.run_python(
            "from django.contrib.auth import get_user_model\n"
            "user = get_user_model().objects.get(username='admin')\n"
            f"user.set_password({PASSWORD!r}); user.save()"
        )
        yield up


def connect(url: str, person: Person, storage: Storage, work: Any) -> Any:
    metadata = OAuthClientMetadata(client_name="SDK", redirect_uris=[AnyUrl(BACK)])
    auth = OAuthClientProvider(url, metadata, storage, person.open, person.tell)

    async def run() -> Any:
        http = httpx2.AsyncClient(auth=auth, follow_redirects=True)
        async with http, Client(streamable_http_client(url, http_client=http)) as client:
            return await work(client, auth)

    return asyncio.run(run())


async def write(client: Any, auth: Any = None) -> Any:
    return read_data(await client.call_tool("memory_write", {"fact_text": "Connected by OAuth."}))["created"]


@pytest.mark.slow
def test_the_official_client_connects_and_renews_and_a_thief_ends_it(server: Up) -> None:
    base = server.first["url"]
    url, storage, person = f"{base}/mcp/default", Storage(), Person(base)
    pairs: list[OAuthToken] = []

    async def write_twice(client: Any, auth: Any) -> list[bool]:
        created = [await write(client)]
        pairs.append(auth.context.current_tokens)
        auth.context.token_expiry_time = 1.0  # as after an hour
        created.append(await write(client))
        pairs.append(auth.context.current_tokens)
        return created

    assert connect(url, person, storage, write_twice) == [True, False]
    assert ("“SDK”" in person.pages[-1], person.back["iss"], len(person.pages)) == (True, base, 3)
    assert storage.client
    sent = {"grant_type": "refresh_token", "client_id": storage.client.client_id}
    used, current = (pair.refresh_token for pair in pairs)

    def ask(url: str = url) -> int:
        headers = {"Authorization": f"Bearer {pairs[1].access_token}", "Accept": "application/json"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return int(httpx2.post(url, json=message, headers=headers).status_code)

    assert (ask() != 401, ask(f"{base}/mcp/other")) == (True, 401)
    server.run_python(
        "from datetime import timedelta as t\n"
        "from memory.models import ApiKey\n"
        "for key in ApiKey.objects.exclude(connection=None):\n"
        "    key.expires_at, key.last_used_at = key.expires_at - t(minutes=1), key.expires_at\n"
        "    key.save()"
    )
    for token in (used, current):
        answer = httpx2.post(f"{base}/oauth/token", data={**sent, "refresh_token": token})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert ask() == 401


@pytest.mark.slow
def test_the_official_client_notices_an_answer_of_another_server(server: Up) -> None:
    base = server.first["url"]
    with pytest.raises(ExceptionGroup) as caught:
        connect(f"{base}/mcp", Person(base, iss="https://other.example"), Storage(), write)
    assert caught.group_contains(OAuthFlowError)
