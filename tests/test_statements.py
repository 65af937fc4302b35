"""Statements of the requests that agents make most, over REST, in a process that has served before.

The store has changed since the request before, so that nothing is left of what a connection has read.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache

from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.support.write_buffer import buffer
from memory.models import Project, usage
from tests.memory.api.client import Api, api_for
from tests.queries import list_queries
from tests.site.hook_events import HOOK, bash, event

pytestmark = pytest.mark.django_db(transaction=True)

FACTS = 250
TOPICS = (
    "deploys",
    "backups",
    "logins",
    "invoices",
    "search",
    "caches",
    "queues",
    "tokens",
    "themes",
    "mails",
)
DETAILS = ("run on Friday", "need two people", "are kept for a month", "are written in Rust", "fail at night")


def make_texts(count: int) -> list[str]:
    return [
        f"{TOPICS[i % 10].capitalize()} of team {i // 50} {DETAILS[i // 10 % 5]}, rule {i}."
        for i in range(count)
    ]


@pytest.fixture
def api(project: Project, monkeypatch: pytest.MonkeyPatch) -> Api:
    """Return a client of a store with some hundred facts."""
    monkeypatch.setattr(buffer, "interval", 3600)  # what is written behind an answer is none of it
    monkeypatch.setattr(usage, "READ_SECONDS", 3600)  # nor what is read once a second
    cache.clear()
    api = api_for(project)
    rows = [{"fact_text": text} for text in make_texts(FACTS)]
    assert api.post("/facts/bulk", {"facts": rows}).status_code == 201
    return api


def ask(api: Api, method: str, path: str, body: Any = None) -> Any:
    answer = api(method, path, body)
    assert answer.status_code < 300, answer.content
    return answer.json() if answer.content else None


def send(api: Api, sent: dict[str, Any]) -> Any:
    return ask(api, "POST", f"{HOOK}?client=claude-code", sent)


def check(warm: Callable[[], object], work: Callable[[], object], maximum: int) -> None:
    """Fail with the statements where there are more than the bound."""
    warm()
    found = list_queries(work)
    listed = "\n".join(f"{number:3} {sql[:400]}" for number, sql in enumerate(found, 1))
    print(f"{len(found)} statements, bound {maximum}\n{listed}")
    assert len(found) <= maximum


SEARCHES = ["/facts/search?q=when+do+deploys+run", "/facts/search?q=who+has+backups+of+invoices"]


@pytest.fixture
def embedded(api: Api, project: Project, settings: Any) -> Api:
    """Return the client of a store whose facts have vectors."""
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    EmbeddingEngine().want_missing(project.pk)
    while EmbeddingEngine().embed_pending(project.pk):
        pass
    return api


@pytest.mark.parametrize("first", [0, 1], ids=["new words", "known words"])
def test_search(embedded: Api, first: int) -> None:
    def prepare() -> None:
        ask(embedded, "GET", SEARCHES[first])
        ask(embedded, "POST", "/branches", {"name": "task/other"})  # something has changed

    check(prepare, lambda: ask(embedded, "GET", SEARCHES[1]), 5)


def test_write(api: Api) -> None:
    check(
        lambda: api.fact("The first of two statements."),
        lambda: api.fact("Reviews of the second statement wait for a week."),
        5,
    )


def test_start_of_a_session(api: Api) -> None:
    check(
        lambda: send(api, event("SessionStart", "s1", source="startup", model="a-model")),
        lambda: send(api, event("SessionStart", "s2", source="startup", model="a-model")),
        10,
    )


@pytest.mark.parametrize(("store", "maximum"), [("api", 9), ("embedded", 8)])
def test_prompt(store: str, maximum: int, request: pytest.FixtureRequest) -> None:
    api = request.getfixturevalue(store)

    def prepare() -> None:
        send(api, event("SessionStart", "s1", source="startup", model="a-model"))
        send(api, event("UserPromptSubmit", "s1", prompt="When do deploys run?", prompt_id="p1"))

    prompt = "Who keeps the backups of the invoices of team 2?"
    check(prepare, lambda: send(api, event("UserPromptSubmit", "s1", prompt=prompt, prompt_id="p2")), maximum)


def test_tool(api: Api) -> None:
    def prepare() -> None:
        send(api, event("SessionStart", "s1", source="startup", model="a-model"))
        send(api, event("UserPromptSubmit", "s1", prompt="When do deploys run?", prompt_id="p1"))
        send(api, bash("t1", "pytest tests/test_login.py", "2 passed in 0.31s"))

    check(prepare, lambda: send(api, bash("t2", "pytest tests/test_logout.py", "5 passed in 0.62s")), 6)


def test_merge_of_a_request(api: Api) -> None:
    def request(branch: str, texts: list[str]) -> int:
        ask(api, "POST", "/branches", {"name": branch})
        for text in texts:
            made = api.fact(text, branch=branch)
            ask(api, "POST", f"/facts/{made['id']}/verify", {"verdict": "verified", "branch": branch})
        return ask(api, "POST", "/merge-requests", {"source": branch})["number"]

    first = request("task/one", ["Tokens live for an hour.", "Themes are dark at night."])
    second = request("task/two", ["Mails leave at noon.", "Queues are emptied twice a day."])
    check(
        lambda: ask(api, "POST", f"/merge-requests/{first}/merge"),
        lambda: ask(api, "POST", f"/merge-requests/{second}/merge"),
        19,
    )
