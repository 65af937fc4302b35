"""Below a path of a proxy's site every address begins with it, whether the proxy takes it off or not."""

import asyncio
from collections.abc import Awaitable, Callable
from html.parser import HTMLParser
from typing import Any

import httpx2
import pytest
from django.contrib.auth import get_user_model

from day1site import asgi
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Membership, Project
from tests.mcp.conftest import threads_closed

__all__ = ["threads_closed"]
Work = Callable[[httpx2.AsyncClient], Awaitable[Any]]
Headers = dict[str, str]
PREFIX = "/tools/day1"
THROUGH = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Prefix": PREFIX}
PASSWORD = "a password of a test"
NO_PATHS = ("//evil", "/a/../b", "/a/.", "/a\tb", "https://evil", "tools", "/", "/a,/b", "/%61", "/a" * 101)
WHOSE = [
    ((1, THROUGH), PREFIX),
    ((1, {**THROUGH, "X-Forwarded-Prefix": f"{PREFIX}/"}), PREFIX),
    ((0, THROUGH), ""),
    ((2, THROUGH), ""),
    ((1, {"X-Forwarded-Prefix": PREFIX}), ""),
    *(((1, {**THROUGH, "X-Forwarded-Prefix": value}), "") for value in NO_PATHS),
]
PAGES = ["", "facts", "facts/new", "branches", "branches/main", "review", "search?q=fact", "keys", "members"]
PAGES += ["conversations", "help", "insights", "graph", "palette?q=", "merge-requests", "audit"]
SITE = ["/account", "/projects", "/help", "/admin/auth/user/", "/admin/auth/user/add/", "/api/v1/docs"]
MISSING = ["/none", "/p/none/", "/p/test/facts?branch=none"]


class Proxy(httpx2.ASGITransport):
    """A proxy that serves the application below a path, and takes it off or passes it on."""

    def __init__(self, takes_off: bool, headers: Headers) -> None:
        super().__init__(asgi.application)
        self.takes_off, self.headers = takes_off, headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if self.takes_off:
            url = url.copy_with(raw_path=url.raw_path.removeprefix(PREFIX.encode()))
        headers = {**request.headers, **self.headers}
        passed = httpx2.Request(request.method, url, headers=headers, stream=request.stream)
        return await super().handle_async_request(passed)


def visit(work: Work, takes_off: bool = False, headers: Headers = THROUGH) -> Any:
    """Run work with a browser in front of the proxy."""

    async def run() -> Any:
        transport = Proxy(takes_off, headers)
        try:
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as browser:
                return await work(browser)
        finally:
            for _, app in asgi.ASYNC_APPS:
                await app.stop()

    return asyncio.run(run())


class Addresses(HTMLParser):
    """The values of all attributes that are addresses of this site, and the fields of the last form."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.found |= {value for value in values.values() if value.startswith("/")}
        if tag == "input" and values.get("type") == "hidden":
            self.fields[values["name"]] = values.get("value", "")


@pytest.fixture
def token(project: Project, actor: Actor, settings: Any, threads_closed: None) -> str:
    """Return the key of a project with a fact and a superuser, behind one trusted proxy."""
    settings.TRUSTED_PROXIES = 1
    user = get_user_model().objects.create_superuser("ann", password=PASSWORD)
    Membership.objects.create(project=project, user=user, role="maintainer")
    FactEngine().write_fact(fact_text="A fact", actor=actor)
    return KeyEngine().create_key(label="key", scopes=["admin"], actor=actor)[1]


async def log_in(browser: httpx2.AsyncClient) -> httpx2.Response:
    """Log in from a page that asked for it; return the last response."""
    asked = await browser.get(f"{PREFIX}/p/test/facts")
    assert asked.headers["location"] == f"{PREFIX}/login?next={PREFIX}/p/test/facts"
    page = await browser.get(asked.headers["location"])
    form = {**Addresses(page.text).fields, "username": "ann", "password": PASSWORD}
    return await browser.post(asked.headers["location"], data=form)


def test_addresses_of_pages(token: str) -> None:
    async def read(browser: httpx2.AsyncClient) -> None:
        answer = await log_in(browser)
        assert answer.headers["location"] == f"{PREFIX}/p/test/facts"
        assert {cookie.path for cookie in browser.cookies.jar} == {f"{PREFIX}/"}
        pages = [*(f"/p/test/{page}" for page in PAGES), *(f"/admin/p/test/{page}" for page in PAGES[1:3])]
        files = set()
        for page in [*SITE, *pages, *MISSING]:
            answer = await browser.get(f"{PREFIX}{page}")
            assert answer.status_code == (404 if page in MISSING else 200), page
            found = Addresses(answer.text).found
            assert {url for url in found if not url.startswith(f"{PREFIX}/")} == set(), page
            files |= {url.partition("#")[0] for url in found if "/static/" in url}
        for file in files:
            assert (await browser.get(file)).status_code == 200, file
        left = await browser.get(f"{PREFIX}/admin")
        assert left.headers["location"] == f"{PREFIX}/admin/"

    visit(read)


def test_addresses_that_programs_are_told(token: str) -> None:
    async def read(browser: httpx2.AsyncClient) -> None:
        browser.headers["Authorization"] = f"Bearer {token}"
        api = f"{PREFIX}/api/v1"
        index = (await browser.get(f"{api}/")).json()
        assert (index["docs"], index["resources"]["facts"]) == (f"{api}/docs", f"{api}/facts")
        schema = (await browser.get(f"{api}/schema", headers={"Accept": "application/json"})).json()
        assert (schema["servers"], "/api/v1/facts" in schema["paths"]) == ([{"url": PREFIX}], True)
        made = await browser.post(f"{api}/invitations", json={"role": "viewer"})
        assert made.json()["link"].startswith(f"http://localhost{PREFIX}/join/")
        assert (await browser.get(f"{PREFIX}/api/none")).json()["code"] == "not_found"
        del browser.headers["Authorization"]
        for path in ("/mcp", "/api/v1/events", "/live/test/changes"):
            assert (await browser.get(f"{PREFIX}{path}")).status_code == 401, path
        await log_in(browser)
        keys = await browser.get(f"{PREFIX}/p/test/keys")
        assert f"http://localhost{PREFIX}/mcp" in keys.text

    visit(read, takes_off=True)


def test_a_refusal_before_the_pages(token: str) -> None:
    async def read(browser: httpx2.AsyncClient) -> None:
        headers = {"Accept": "text/html", "Content-Length": str(asgi.BODY_LIMIT + 1)}
        answer = await browser.post(f"{PREFIX}/login", headers=headers, content=b"x")
        assert answer.status_code == 413
        assert all(url.startswith(f"{PREFIX}/") for url in Addresses(answer.text).found)

    visit(read)


def test_whose_prefix_counts(token: str, settings: Any) -> None:
    async def read(browser: httpx2.AsyncClient) -> str:
        return (await browser.get("/account")).headers["location"]

    for (proxies, headers), prefix in WHOSE:
        settings.TRUSTED_PROXIES = proxies
        assert visit(read, headers=headers) == f"{prefix}/login?next={prefix}/account", (proxies, headers)
