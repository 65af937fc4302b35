"""A REST client, and the checks of every refusal."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client

from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.models import Branch, Project

ROOT = "/api/v1"
# Tables written a second later, or by the process itself, independent of the request.
BESIDE = {"Node", "RecallLog", "FactUse", "ProjectUsage"}
APPS = ("memory", "conversations", "curation", "analytics")
UNKNOWN = "01890000-0000-7000-8000-000000000000"


class Api:
    """REST client with one key."""

    def __init__(self, token: str = "", client: Client | None = None) -> None:
        self.token, self.client = token, client or Client()

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Send a request. ``body`` is JSON, or bytes as they are; header names have _ for -."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        kind = sent.pop("Content-Type", "application/json" if body is not None else "")
        return self.client.generic(method, ROOT + path, data, content_type=kind, headers=sent)

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self("POST", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self("PATCH", path, body, **headers)

    def delete(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self("DELETE", path, body, **headers)

    def fact(self, text: str, **fields: Any) -> dict[str, Any]:
        """Store a fact that must be new; return it."""
        answer = self.post("/facts", {"fact_text": text, **fields})
        assert answer.status_code == 201, answer.content
        return answer.json()


def api_for(project: Project, **options: Any) -> Api:
    """Create a client with a new key; all rights by default."""
    wanted = {"label": "tester", "scopes": ["owner"], **options}
    _, token = KeyEngine().create_key(actor=local_actor(project.pk), **wanted)
    return Api(token)


def refused(answer: HttpResponse, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """Check that a response is a problem with this status, code and field; return it."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), (
        answer.content
    )
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert (problem["type"], problem.get("field")) == (f"/errors/{code}", field), problem
    assert problem["title"]
    assert problem["detail"].endswith((".", ":")) or " " in problem["detail"]
    return problem


def state() -> dict[str, Any]:
    """Return the row counts of every table, and the heads of the branches."""
    own = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    models = [model for model in own if model.__name__ not in BESIDE]
    return count_rows(models) | {
        "heads": sorted(Branch.objects.values_list("project", "name", "head", "archived_at"))
    }


def count_rows(models: list[type[Model]]) -> dict[str, int]:
    """Return the number of rows of each table, in one statement."""
    counts = ", ".join(
        f"(SELECT COUNT(*) FROM {connection.ops.quote_name(one._meta.db_table)})" for one in models
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}")
        return dict(zip((one.__name__ for one in models), cursor.fetchone(), strict=True))


@contextmanager
def nothing_left() -> Iterator[None]:
    """Check that the block leaves no trace in the database."""
    before = state()
    yield
    assert state() == before
