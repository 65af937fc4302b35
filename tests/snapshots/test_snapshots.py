"""Names, tasks, help, outputs, tools and refusals are those of the snapshots."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import click
import pytest
from django.conf import settings

from day1site.celery import app
from day1site.cli import main
from day1site.mcp.call_context import Caller
from day1site.mcp.server import describe_tools
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
from tests.snapshots import FOLDER, UUID, compare

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
NOT_OURS = {"up", "test", "celery"}  # Django's and Celery's own help
DRAWN = (), ("task",), ("search",), ("merge-request", "create")


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


def test_the_words_of_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each option says is a field's: tests/test_fields.py. How it is drawn, four show."""
    monkeypatch.setenv("COLUMNS", "100")
    assert [main([*words, "--help"]) for words in DRAWN] == [0] * len(DRAWN)
    compare("help.txt", [*list_words(), *capsys.readouterr().out.splitlines()])


def list_words() -> Iterator[str]:
    """Yield each command with its arguments and options, and the choices and defaults of these."""
    for path, command in walk_commands():
        if not NOT_OURS & set(path):
            words = [describe_parameter(one) for one in command.params if one.expose_value]
            yield " ".join(("day1", *path, *words))


def describe_parameter(one: click.Parameter) -> str:
    choices = f"={'|'.join(map(str, one.type.choices))}" if isinstance(one.type, click.Choice) else ""
    words = (
        [one.make_metavar(click.Context(click.Command("")))] if isinstance(one, click.Argument) else one.opts
    )
    return f"[{' '.join(words)}{choices}]" if not one.required else f"{' '.join(words)}{choices}"


@pytest.mark.slow
def test_what_commands_print(
    project: Project, day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command's reads, then what each noun's commands do to it from its start to its end."""
    monkeypatch.chdir(tmp_path)
    compare("output.txt", list_output(day1, build_rows(project)))


def list_output(day1: Day1, rows: dict[str, Any]) -> Iterator[str]:
    """Yield what is printed; the first id of it is the row that a line names behind its ``>``."""
    for line in (FOLDER / "commands.txt").read_text().splitlines():
        words, _, name = line.partition(" > ")
        status, out, err = day1(*shlex.split(words.format(**rows)))
        buffer.flush()  # else what was read is counted a second later
        yield f"# day1 {line} → {status}"
        yield from (*out.splitlines(), *err.splitlines())
        if name:
            found = re.search(UUID, out + err)
            assert found, f"{line}: {out}{err}"
            rows[name] = found[0]


# ---- MCP -----------------------------------------------------------------------------------------------


def test_the_tools_of_each_profile(project: Project) -> None:
    compare("tools.txt", list_tools(project))


def list_tools(project: Project) -> Iterator[str]:
    """Yield what each profile offers: a line for each parameter and part of an answer."""
    known: set[str] = set()
    for profile in PROFILES:
        caller = Caller(local_actor(project.pk, surface="mcp"), profile=profile)
        yield f"# {profile}"
        for tool in describe_tools(caller):
            lines = [*list_values(tool.model_dump(mode="json", exclude_none=True))]
            text = "\n".join(lines)
            yield from [f"{tool.name}, as above"] if text in known else lines
            known.add(text)


def list_values(tool: dict[str, Any]) -> Iterator[str]:
    yield f"{tool.pop('name')}: {tool.pop('description')}"
    for name in [name for name in tool if name.endswith("_schema")]:
        schema = tool.pop(name)
        for field, value in schema.pop("properties", {}).items():
            yield f" {name} {field} {json.dumps(value, ensure_ascii=False)}"
        yield f" {name} {json.dumps(schema, ensure_ascii=False)}"
    yield f" {json.dumps(tool, ensure_ascii=False)}"


# ---- REST ----------------------------------------------------------------------------------------------


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project)


@pytest.mark.slow
def test_what_a_wrong_request_is_answered(project: Project, api: Api) -> None:
    compare("refusals.txt", list_refusals(api, build_rows(project)))


def list_refusals(api: Api, rows: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences of refusals that name what is wrong, ``X`` in them; other answers with their route.

    Each route is asked for an unknown id, with an unknown field, and with each parameter and field wrong.
    """
    sentences = set()
    for row in table.REST:
        for name, answer in send_wrong(api, row, rows):
            if is_refused(name, answer):
                sentences.add(re.sub(rf"\b{name.lstrip('?')}\b", "X", describe(answer)))
            else:
                yield f"{row.method} {row.path} {name}: {describe(answer)}"
    yield from sorted(sentences)


def send_wrong(api: Api, row: table.Rest, rows: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    body, path = fill(row.body, rows), row.path.format(**rows)
    if "{" in row.path:
        yield "an unknown id", api(row.method, row.path.format(**dict.fromkeys(rows, UNKNOWN)), body)
    for name, value in list_wrong_parameters(row):
        query = dict(parse_qsl(row.query.format(**rows))) | {name: value}
        yield f"?{name}", api(row.method, f"{path}?{urlencode(query)}", body)
    for name, value in list_wrong_fields(row):
        sent = {**body, name: value} if isinstance(body, dict) else {name: value}
        yield name, api(row.method, path, sent)


def is_refused(name: str, answer: Any) -> bool:
    """Return whether an answer is the refusal that its route shares with all: it names the field."""
    problem = answer.json() if answer.status_code >= 400 else {}
    if name == "an unknown id":
        return (answer.status_code, problem.get("code")) == (404, "not_found")
    field = name.lstrip("?")
    code = "unknown_field" if field == "nonsense" else "invalid"
    expected = [(code, field), (code, f"{field}[0]")]
    return answer.status_code == 400 and (problem["code"], problem.get("field")) in expected


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
