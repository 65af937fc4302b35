"""Lists sorted by their columns: over REST page by page and back, and by the heads of the pages."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.utils import timezone

from conversations.engines import orders as said
from curation.engines import orders as curated
from memory.engines.fields import orders
from memory.engines.support.ordering import Ordering
from memory.models import Branch, Project
from tests.amounts import take_share
from tests.memory.api.client import api_for
from tests.memory.views.conftest import Role, browser, person

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(microsecond=0)
TIES = ("b", "a", "", "b", "a", "b", "b")  # of seven rows; the third has no value where there may be none


class List(NamedTuple):
    """A list: its route and page, its model, and what its rows need beside what it is sorted by."""

    route: str
    page: str
    model: str
    order: Ordering
    fields: Callable[[int], dict[str, Any]] = lambda n: {}


UID = "01890000-0000-7000-8000-000000000000"
LISTS = [
    List("branches", "branches", "memory.Branch", orders.BRANCHES, lambda n: {"ancestors": []}),
    List("keys", "keys", "memory.ApiKey", orders.KEYS, lambda n: {"prefix": f"key{n:05}"}),
    List("sessions", "sessions", "memory.Session", orders.SESSIONS),
    List(
        "merge-requests",
        "merge-requests",
        "memory.MergeRequest",
        orders.MERGE_REQUESTS,
        lambda n: {"number": n + 1},
    ),
    List("questions", "questions", "memory.Question", orders.QUESTIONS, lambda n: {"text": f"question {n}"}),
    List("erasures", "erasures", "memory.Erasure", orders.ERASURES),
    List("tasks", "tasks?state=all", "memory.AgentTask", orders.TASKS, lambda n: {"slug": f"task-{n}"}),
    List("invitations", "", "memory.Invitation", orders.INVITATIONS, lambda n: {"secret_hash": str(n)}),
    List("snapshots", "", "memory.Snapshot", orders.SNAPSHOTS),
    List("workspaces", "", "memory.Workspace", orders.WORKSPACES),
    List("replays", "replays", "conversations.Replay", said.REPLAYS),
    List("replay-batches", "replays/batches", "conversations.ReplayBatch", said.REPLAY_BATCHES),
    List("consolidation/runs", "consolidation", "conversations.ConsolidationRun", said.RUNS),
    List("bundles", "bundles", "curation.Bundle", curated.BUNDLES, lambda n: {"version": n + 1}),
    List("handoffs", "handoffs?state=all", "curation.Handoff", curated.HANDOFFS),
    List("jobs", "verification", "curation.VerificationJob", curated.JOBS),
    List("quarantine", "quarantines?state=all", "curation.Quarantine", curated.QUARANTINES),
    List("scorings", "scorings", "curation.Scoring", curated.SCORINGS),
    List("templates", "templates?state=all", "curation.Template", curated.TEMPLATES),
]
PAGES = [one for one in LISTS if one.page]
UNIQUE = {("branches", "name"), ("sessions", "key"), ("templates", "name"), ("snapshots", "name")}


@pytest.fixture(params=LISTS, ids=lambda one: one.route)
def one(request: pytest.FixtureRequest, project: Project, main: Branch) -> List:
    """Fill a list with seven rows, some of them with the same values."""
    chosen: List = request.param
    model: Any = apps.get_model(chosen.model)
    model.objects.bulk_create([model(**make_row(chosen, model, main, n)) for n in range(len(TIES))])
    return chosen


def make_row(chosen: List, model: Any, main: Branch, n: int) -> dict[str, Any]:
    row = {"project": main.project, **chosen.fields(n)}
    for field in model._meta.get_fields():
        if field.concrete and field.name not in row and not field.primary_key:
            row |= fill_field(field, main)
    for column in chosen.order.columns.values():
        if column not in ("id", "number"):
            row[column] = make_value(model._meta.get_field(column), n, (chosen.route, column) in UNIQUE)
    return row


def fill_field(field: Any, main: Branch) -> dict[str, Any]:
    """Return a value for a field that needs one."""
    if field.null or field.has_default():
        return {}
    if field.is_relation:
        return {field.name: main} if field.related_model is Branch else {}
    kinds = {"DateTimeField": NOW, "UUIDField": UID, "PositiveIntegerField": 1, "BigIntegerField": 1}
    kind = field.get_internal_type()
    if kind in kinds:
        return {field.name: kinds[kind]}
    choices = [value for value, _word in field.choices or ()]
    return {field.name: choices[0]} if choices else {}


def make_value(field: Any, n: int, is_unique: bool) -> Any:
    tie = TIES[n]
    if not tie and field.null:
        return None
    kind = field.get_internal_type()
    if kind == "DateTimeField":
        return NOW + timedelta(days=ord(tie or "c"), microseconds=5)
    if kind in ("CharField", "TextField"):
        choices = [value for value, _word in field.choices or ()]
        return choices[ord(tie or "c") % len(choices)] if choices else f"{tie}名{n if is_unique else ''}"
    return ord(tie or "c") / 2 if kind == "FloatField" else ord(tie or "c")


def sort_rows(chosen: List, order: str) -> list[str]:
    """Return the ids of all rows in an order: those without a value are the lowest, ties follow their ids."""
    model: Any = apps.get_model(chosen.model)
    column = chosen.order.read_key(order)[0].removeprefix("-")
    rows = model.objects.all()
    values = sorted(rows, key=lambda row: (*lowest_first(getattr(row, column)), row.pk))
    return [str(row.pk) for row in (values[::-1] if order.startswith("-") else values)]


def lowest_first(value: Any) -> tuple[Any, ...]:
    return (False, "") if value is None else (True, value)


def walk(api: Any, route: str, order: str, name: str) -> list[list[Any]]:
    """Return what pages of three hold, forwards; read backwards they hold the same."""
    pages, address = [], f"/{route}?limit=3&ordering={order}"
    answer = api.get(address).json()
    pages.append([row[name] for row in answer["results"]])
    while answer["next"]:
        answer = api.get(f"{address}&cursor={answer['next']}").json()
        pages.append([row[name] for row in answer["results"]])
    for page in pages[-2::-1]:
        answer = api.get(f"{address}&cursor={answer['previous']}").json()
        assert [row[name] for row in answer["results"]] == page
    assert answer["previous"] is None
    return pages


def test_each_order_page_by_page_and_back(one: List, project: Project) -> None:
    api, model = api_for(project), apps.get_model(one.model)
    refused: Any = api.get(f"/{one.route}?ordering=colour")
    assert (refused.status_code, refused.json()["field"]) == (400, "ordering")
    name = {"branches": "name", "sessions": "id", "merge-requests": "number"}.get(one.route, "id")
    column = {"branches": "name", "sessions": "key", "merge-requests": "number"}.get(one.route, "pk")
    known = {str(row.pk): getattr(row, column) for row in model.objects.all()}
    for order in one.order.names:
        expected = [str(known[pk]) for pk in sort_rows(one, order)]
        found = [str(value) for page in walk(api, one.route, order, name) for value in page]
        assert found == expected, order


def heads_of(page: str) -> dict[str, tuple[str, str]]:
    """Return the heads that sort a table: their words, what they are sorted now, and where they lead."""
    found = re.findall(r'<th(?:[^>]*aria-sort="(\w+)")?[^>]*><a[^>]*href="([^"]+)"[^>]*>([^<]+)', page)
    return {title.strip(): (now, address.replace("&amp;", "&")) for now, address, title in found}


@pytest.mark.nightly
@pytest.mark.parametrize("one", take_share(PAGES, 6), ids=lambda one: one.route, indirect=True)
def test_the_heads_and_the_file_of_a_page(one: List, project: Project) -> None:
    api = api_for(project)
    address, mark = f"/p/test/{one.page}", "&" if "?" in one.page else "?"
    client = browser(person("max", project, Role.MAINTAINER))
    page = client.get(f"{address}{mark}ordering=colour").content.decode()
    assert ("must be one of" in page, "<thead>" in page) == (True, False)
    order = one.order.names[-1]
    file: Any = client.get(f"{address}{mark}ordering={order}&format=json")
    listed: Any = api.get(f"/{one.route}?limit=100&ordering={order}")
    rows, same = json.loads(b"".join(file.streaming_content)), listed.json()["results"]
    for row in (*rows, *same):
        row.pop("last_used_at", None)  # of the key that asks
    assert rows == same
    shown = client.get(address).content.decode()
    heads, line = heads_of(shown), shown.partition('<p class="meta order">')[2].partition("</p>")[0]
    assert [f"ordering={name}" in line for name in list(one.order.columns)[1:]].count(False) == 0
    assert bool(heads) == (one.page not in ("merge-requests", "questions"))  # those are rows of texts
    for title, (_now, way) in list(heads.items())[-2:]:
        now, back = heads_of(client.get(way).content.decode())[title]
        turned, _way = heads_of(client.get(back).content.decode())[title]
        assert {now, turned} == {"ascending", "descending"}
    chinese = heads_of(client.get(address, headers={"Accept-Language": "zh-hans"}).content.decode())
    assert [way for _now, way in chinese.values()] == [way for _now, way in heads.values()]
    assert [title for title in chinese if title.isascii()] == []
