"""Every REST route, MCP tool and page against every scope and role, from one table."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admindocs.views import simplify_regex
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from bench.page_urls import walk
from curation.models import SavedView
from day1site.mcp.call_context import Caller
from day1site.mcp.dispatch import ToolRefusal, run
from day1site.mcp.tools import ALL
from memory.actors import OWNER, ROLE_SCOPES, SCOPES, SERVER, Actor
from memory.models import Membership, Project
from tests.access import table
from tests.access.scene import build_rows, fill
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.memory.api.document import find_faults
from tests.memory.views.conftest import browser, person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
ROOT = "api/v1/"
ROLES = tuple(Membership.Role.values)
# Of a route's parameters: what the table calls them. The last part of its name tells which row is meant.
WORDS = {
    "fact_id": "fact",
    "observation_id": "observation",
    "relation_id": "relation",
    "conversation_id": "conversation",
    "message_id": "message",
    "replay_id": "replay",
    "batch_id": "batch",
    "first": "conversation",
    "second": "conversation",
    "key_id": "key",
    "connection_id": "connection",
    "webhook_id": "webhook",
    "item_id": "item",
    "erasure_id": "erasure",
    "eval_id": "eval",
    "job_id": "job",
    "handoff_id": "handoff",
    "import_id": "import",
    "bundle_id": "bundle",
    "commit_id": "commit",
    "quarantine_id": "quarantine",
    "run_id": "run",
    "invitation_id": "invitation",
    "branch_name": "name",
    "uid": "conflict",
    "project_slug": "tenant",
}

# What has a key with the scope and is refused in the scene for another reason.
NOT_DONE = {
    "GET /events": 503,
    "POST /replay-batches/{batch}/run": 503,
    "POST /replays/{replay}/run": 503,
    "POST /merge-requests/{request}/reject": 409,
    "POST /commits/{commit}/revert": 409,
    "POST /snapshots/window": 409,
    "POST /trusted-keys": 409,
    "POST /workspaces/{workspace}/promote": 409,
}


@pytest.fixture
def rows(project: Project) -> dict[str, Any]:
    return build_rows(project)


def reaches(held: str, needed: str) -> bool:
    if SERVER in (held, needed):
        return held == needed or not needed
    return not needed or (bool(held) and SCOPES.index(held) >= SCOPES.index(needed))


def opens(held: str, row: table.Rest) -> bool:
    """Return whether a scope opens a route: the key of a project and one of the server share some."""
    is_removal = (row.method, row.path) == ("DELETE", "/projects/{tenant}")  # to an owner it is not there
    shared = row.path.startswith("/projects") if held == SERVER else held == OWNER and is_removal
    return reaches(held, row.scope) or shared


# ---- REST ----------------------------------------------------------------------------------------------


def list_routes() -> Iterator[tuple[str, str]]:
    """Yield method and path of every REST route of the URL conf, parameters as {}."""
    for _name, path, _words, callback in walk(get_resolver().url_patterns):
        actions = getattr(callback, "actions", None)
        if path.startswith(ROOT) and actions and "format" not in path:
            for method in actions.keys() - {"head"}:
                yield method.upper(), plain_path(path)


def plain_path(path: str) -> str:
    """Return a pattern of the URL conf as a path without names of parameters."""
    return re.sub("<[^>]+>", "{}", simplify_regex(path.removeprefix(ROOT))).rstrip("/")


def test_every_route_is_in_the_table() -> None:
    declared = {(row.method, re.sub(r"{\w+}", "{}", row.path)) for row in table.REST}
    assert declared == set(list_routes())


def send(api: Api, row: table.Rest, rows: dict[str, Any]) -> Any:
    path = row.path.format(**rows) + (f"?{row.query}".format(**rows) if row.query else "")
    return api(row.method, path, fill(row.body, rows))


def is_refused(answer: Any, held: str, needed: str) -> bool:
    """Return whether an answer names a scope that is not held and that the needed one includes."""
    problem = answer.json() if answer.status_code == 403 else {}
    named = problem.get("data", {}).get("scope", "read")
    is_below = reaches(needed, named) or (needed, named) == (SERVER, OWNER)  # both remove a project
    return problem.get("code") == "scope_missing" and not reaches(held, named) and is_below


@pytest.mark.slow
def test_a_scope_opens_its_routes_and_no_other(project: Project, rows: dict[str, Any]) -> None:
    clients = {held: api_for(project, scopes=[held]) for held in (*SCOPES, SERVER)}
    wrong: list[Any] = []
    for held, api in clients.items():
        with nothing_left():
            for row in table.REST:
                if not opens(held, row):
                    answer = send(api, row, rows)
                    if not is_refused(answer, held, row.scope):
                        wrong.append((held, row, answer.status_code, answer.content))
            assert wrong == []
    for row in table.REST:
        answer = send(clients[row.scope or "read"], row, rows)
        if answer.status_code >= 400 and answer.status_code != NOT_DONE.get(f"{row.method} {row.path}"):
            wrong.append((row, answer.status_code, answer.content))
        elif answer.status_code < 400:
            wrong += [(row, fault) for fault in find_faults(row.method, row.path, answer)]
    assert wrong == []


@pytest.mark.slow
def test_nothing_is_open_without_a_key(rows: dict[str, Any]) -> None:
    with nothing_left():
        for row in table.REST:
            answer = send(Api(), row, rows)
            if row.scope:
                refused(answer, 401, "unauthenticated")
            else:
                assert answer.status_code == 200, row


@pytest.mark.slow
def test_another_projects_key_finds_none_of_its_rows(other_project: Project, rows: dict[str, Any]) -> None:
    """The routes that name a row of the project: to a stranger with all rights it is not there."""
    api = api_for(other_project)
    names = {"pattern", "rule", "n", "agent", "namespace"}
    wrong = []
    for row in table.REST:
        named = set(re.findall(r"{(\w+)}", row.path)) - names
        if row.method == "PUT" and row.path.startswith("/items/"):
            continue  # which makes an item of the other project
        if (
            row.scope not in ("", SERVER) and named and not row.path.endswith("/explain")
        ):  # which says that nothing is there
            answer = send(api, row, rows)
            if answer.status_code != 404:
                wrong.append((row, answer.status_code, answer.content))
    assert wrong == []


# ---- tools ---------------------------------------------------------------------------------------------


def test_every_tool_is_in_the_table() -> None:
    assert {row.name for row in table.TOOLS} == set(ALL)


@pytest.mark.slow
def test_a_scope_opens_its_tools_and_no_other(project: Project, rows: dict[str, Any]) -> None:
    wrong: list[Any] = []
    for held in SCOPES:
        with nothing_left():
            for row in table.TOOLS:
                if not reaches(held, row.scope):
                    text = call(project, held, row, rows)
                    if not text.startswith("scope_missing: "):
                        wrong.append((held, row, text))
    assert wrong == []
    for row in table.TOOLS:
        if text := call(project, row.scope, row, rows):
            wrong.append((row, text))
    assert wrong == []


def call(project: Project, held: str, row: table.Tool, rows: dict[str, Any]) -> str:
    """Call a tool with a scope; return the text of its refusal, "" where it answers."""
    actor = Actor(project.pk, "key", f"key-{held}", held, frozenset({held}), surface="mcp")
    try:
        run(ALL[row.name], Caller(actor), fill(row.arguments, rows))
    except ToolRefusal as refusal:
        return str(refusal)
    return ""


# ---- pages ---------------------------------------------------------------------------------------------


def list_pages() -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield name, parameters and class of every page of a project; those in the admin are of the same classes
    (tests/memory/admin/test_one_frame.py).
    """
    for name, path, words, callback in walk(get_resolver().url_patterns):
        if name and "slug" in words and hasattr(callback, "view_class") and not path.startswith("admin/"):
            yield name, words, callback.view_class


def test_every_page_and_every_action_of_one_is_in_the_table() -> None:
    opened = {name for name, _, view in list_pages() if answers_get(view)}
    assert opened == set(table.PAGES)
    posted = {name for name, _, view in list_pages() if answers_post(view)}
    assert posted == {row.page for row in table.FORMS}


def answers_get(view: Any) -> bool:
    return hasattr(view, "get") and "get" in view.http_method_names


def answers_post(view: Any) -> bool:
    return hasattr(view, "post") and "post" in view.http_method_names


def find_url(name: str, words: tuple[str, ...], rows: dict[str, Any]) -> str:
    values = {word: rows[find_row(name, word)] for word in words}
    return reverse(name, kwargs=values)


def find_row(page: str, word: str) -> str:
    """Return what the scene calls the row that a page names with a word."""
    if word == "name":
        return {"task": "task", "switch-rule": "rule", "template": "template"}[page]
    return WORDS.get(word, word)


@pytest.fixture
def people(project: Project, rows: dict[str, Any]) -> dict[str, Client]:
    users = {role: person(role, project, role) for role in ROLES}
    victim = person("victim", project)
    person("newcomer")
    mine = {"owner": f"user:{users[Membership.Role.CURATOR].pk}", "created_at": timezone.now()}
    rows["view_id"] = SavedView.objects.create(project=project, name="mine", **mine).pk
    rows["member_id"] = Membership.objects.get(user=victim).pk
    rows["kind"] = "fact"
    return {role: browser(user) for role, user in users.items()}


@pytest.mark.slow
def test_a_role_opens_its_pages_and_no_other(people: dict[str, Client], rows: dict[str, Any]) -> None:
    wrong = []
    for name, words, view in list_pages():
        if not answers_get(view):
            continue
        url, needed = find_url(name, words, rows), table.PAGES[name]
        query = {"fact-why": "?q=token", "session": "?key=s1", "agent": "?key=ada", "merge-conflict": ""}.get(
            name, ""
        )
        query = "?scope=fact&target={fact}".format(**rows) if name == "erase" else query
        allowed = [role for role in ROLES if reaches(ROLE_SCOPES[role], needed)]
        for role in ROLES:
            status = people[role].get(url + query).status_code if role not in allowed[1:] else 200
            if status not in ((200, 204, 302) if role in allowed else (403,)):
                wrong.append((role, url, status))
    assert wrong == []


@pytest.mark.slow
def test_a_role_does_its_actions_and_no_other(people: dict[str, Client], rows: dict[str, Any]) -> None:
    pages = {name: words for name, words, _ in list_pages()}
    wrong: list[Any] = []
    for role in ROLES:
        with nothing_left():
            for row in table.FORMS:
                if not reaches(ROLE_SCOPES[role], row.scope):
                    answer = act(people[role], row.page, pages, row, rows)
                    if answer.status_code != 403:
                        wrong.append((role, row, answer.status_code))
            assert wrong == []
    for row in table.FORMS:
        role = next((role for role in ROLES if reaches(ROLE_SCOPES[role], row.scope)), "")
        if not role:
            continue  # of superusers
        answer = act(people[role], row.page, pages, row, rows)
        if answer.status_code in (400, 403, 404, 500):
            wrong.append((role, row, answer.status_code))
    assert wrong == []


def act(
    client: Client, name: str, pages: dict[str, tuple[str, ...]], row: table.Form, rows: dict[str, Any]
) -> Any:
    url = find_url(name, pages[name], rows)
    fields = fill(row.fields, rows)
    if "file" in fields:
        fields["file"] = SimpleUploadedFile("bundle.json", json.dumps(fields["file"]).encode())
    return client.post(f"{url}?{row.query}" if row.query else url, fields)


@pytest.mark.slow
def test_pages_are_not_there_for_who_is_no_member(
    people: dict[str, Client], other_project: Project, rows: dict[str, Any]
) -> None:
    user = person("sam", other_project, Membership.Role.MAINTAINER)
    stranger, nobody = browser(user), Client()
    wrong = []
    for name, words, view in list_pages():
        url = find_url(name, words, rows)
        methods = ["get"] * answers_get(view) + ["post"] * answers_post(view)
        for method in methods:
            found = [getattr(client, method)(url).status_code for client in (stranger, nobody)]
            if found != [404, 302]:
                wrong.append((method, url, found))
    assert wrong == []
