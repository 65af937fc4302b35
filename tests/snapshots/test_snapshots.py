"""Names, tasks, help, outputs, tools and refusals are those of the snapshots."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings

from day1site.celery import app
from day1site.cli import main
from day1site.mcp.call_context import Caller
from day1site.mcp.listing import describe_tools
from day1site.mcp_profiles import PROFILES
from memory.actors import local_actor
from memory.api.pages import get_schema
from memory.engines.support.write_buffer import buffer
from memory.models import Project
from tests.access import table
from tests.access.scene import build_rows, fill
from tests.command_line import Day1
from tests.memory.api.client import UNKNOWN, Api, api_for
from tests.memory.api.document import find_operation
from tests.site.cli_words import walk_commands
from tests.snapshots import FOLDER, compare

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
NOT_OURS = {"up", "test", "celery"}  # Django's and Celery's own help


# ---- names ---------------------------------------------------------------------------------------------


def test_tasks_and_settings() -> None:
    compare("names.txt", list_names())


def list_names() -> Iterator[str]:
    app.loader.import_default_modules()
    others = ("celery.", "tests.")
    yield from sorted(f"task {name}" for name in app.tasks if not name.startswith(others))
    yield from sorted(f"schedule {name}: {row['task']}" for name, row in app.conf.beat_schedule.items())
    yield from sorted(f"DAY1.{name}" for name in settings.DAY1)
    files = (file for part in ("memory", "day1site") for file in (settings.BASE_DIR / part).rglob("*.py"))
    yield from sorted(
        {word for file in files for word in re.findall(r"\bDAY1_[A-Z_]*[A-Z]\b", file.read_text())}
    )


# ---- the command line ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_help_of_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    compare("help.txt", list_help(capsys))


def list_help(capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    for path, _command in walk_commands():
        if not NOT_OURS & set(path):
            assert main([*path, "--help"]) == 0
            yield " ".join(("# day1", *path))
            yield from capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_what_commands_print(project: Project, day1: Day1) -> None:
    compare("output.txt", list_output(day1, build_rows(project)))


def list_output(day1: Day1, rows: dict[str, Any]) -> Iterator[str]:
    for line in (FOLDER / "commands.txt").read_text().splitlines():
        status, out, err = day1(*line.format(**rows).split())
        buffer.flush()  # else what was read is counted a second later
        yield f"# day1 {line} → {status}"
        yield from (*out.splitlines(), *err.splitlines())


# ---- MCP -----------------------------------------------------------------------------------------------


def test_the_tools_of_each_profile(project: Project) -> None:
    compare("tools.txt", list_tools(project))


def list_tools(project: Project) -> Iterator[str]:
    for profile in PROFILES:
        caller = Caller(local_actor(project.pk, surface="mcp"), profile=profile)
        yield f"# {profile}"
        for tool in describe_tools(caller):
            yield from json.dumps(tool.model_dump(mode="json", exclude_none=True), indent=1).splitlines()


# ---- REST ----------------------------------------------------------------------------------------------


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project)


@pytest.mark.slow
def test_what_a_wrong_request_is_answered(project: Project, api: Api) -> None:
    compare("refusals.txt", list_refusals(api, build_rows(project)))


def list_refusals(api: Api, rows: dict[str, Any]) -> Iterator[str]:
    """Yield, for each route, the answers to an unknown id and to each parameter and field that is wrong."""
    for row in table.REST:
        yield f"# {row.method} {row.path}"
        body, path = fill(row.body, rows), row.path.format(**rows)
        if "{" in row.path:
            nowhere = row.path.format(**dict.fromkeys(rows, UNKNOWN))
            yield f"an unknown id: {describe(api(row.method, nowhere, body))}"
        for name, value in list_wrong_parameters(row):
            yield f"?{name}: {describe(api(row.method, f'{path}?{urlencode({name: value})}', body))}"
        for name, value in list_wrong_fields(row):
            sent = {**body, name: value} if isinstance(body, dict) else {name: value}
            yield f"{name}: {describe(api(row.method, path, sent))}"


def list_wrong_parameters(row: table.Rest) -> Iterator[tuple[str, Any]]:
    yield "nonsense", 1
    for parameter in find_operation(row.method, row.path).get("parameters", []):
        if parameter["in"] == "query":
            yield parameter["name"], "\0"


def list_wrong_fields(row: table.Rest) -> Iterator[tuple[str, Any]]:
    """Yield an unknown field, and those of a request's body, with a value of a type that none has."""
    if content := find_operation(row.method, row.path).get("requestBody", {}).get("content"):
        (media,) = content.values()
        body = media["schema"]
        if "$ref" in body:
            body = get_schema()["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        for name in ("nonsense", *body.get("properties", {})):
            yield name, [[["wrong"]]]


def describe(answer: Any) -> str:
    """Return a status and, of a refusal, its whole body."""
    if answer.status_code < 400:
        return str(answer.status_code)
    problem = {
        name: value for name, value in answer.json().items() if name not in ("type", "title", "status")
    }
    return f"{answer.status_code} {json.dumps(problem, ensure_ascii=False)}"
