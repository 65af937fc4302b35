"""Call the surfaces of a copy of the project: steps as JSON on standard input, answers on standard output.

A step is the name of a function of this file and its arguments; an answer is a status and what was said.
"""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.test.utils import setup_test_environment

from day1site.cli import main
from day1site.mcp.call_context import Caller
from day1site.mcp.dispatch import ToolRefusal, run
from day1site.mcp.tools import ALL
from day1site.server.provisioning import prepare
from memory.actors import local_actor
from memory.api.pages import get_schema
from memory.models import Project

Answer = tuple[int, Any]


def rest(method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
    client = Client(headers={"host": "localhost", "authorization": f"Bearer {KEY}"})
    answer = client.generic(method, f"/api/v1{path}", json.dumps(body or {}), "application/json")
    return answer.status_code, json.loads(answer.content)


def mcp(tool: str, arguments: dict[str, Any]) -> Answer:
    actor = local_actor(Project.objects.get(slug="default").pk, surface="mcp")
    try:
        return 200, run(ALL[tool], Caller(actor), arguments)
    except ToolRefusal as refusal:
        return 400, str(refusal)


def cli(*words: str) -> Answer:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
        status = main(list(words))
    return status, out.getvalue()


def page(path: str, form: dict[str, str] | None = None) -> Answer:
    """Read a page, or send its form."""
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(username="admin"))
    answer = client.post(path, form, follow=True) if form else client.get(path)
    return answer.status_code, answer.content.decode()


def edit(path: str, changes: dict[str, str]) -> Answer:
    """Read a page with a form, and send it with some fields changed."""
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(username="admin"))
    shown = client.get(path)
    answer = client.post(path, {**shown.context["form"].typed, **changes}, follow=True)
    return answer.status_code, shown.content.decode() + answer.content.decode()


def shape(name: str) -> Answer:
    """Return a part of the OpenAPI document."""
    return 200, get_schema()["components"]["schemas"][name]


def tool(name: str) -> Answer:
    """Return the input of a tool."""
    return 200, ALL[name].input


def lines(name: str, line: dict[str, Any]) -> Answer:
    """Import a line and export the store."""
    file = Path(settings.DATA_DIR) / f"{name}.jsonl"
    file.write_text(json.dumps(line) + "\n")
    status, text = cli("import", str(file))
    return status, text + cli("export")[1]


def answer_steps(steps: list[list[Any]]) -> list[Answer]:
    """Carry out the steps; ROW_ID stands for the id of the last row that REST answered."""
    answers: list[Answer] = []
    for step in steps:
        ids = [said["id"] for _, said in answers if isinstance(said, dict) and "id" in said]
        name, *words = json.loads(json.dumps(step).replace("ROW_ID", ids[-1] if ids else ""))
        answers.append(globals()[name](*words))
    return answers


if __name__ == "__main__":
    first = prepare(Path(settings.DATA_DIR), "http://localhost")
    assert first is not None
    KEY = first.key
    setup_test_environment()  # a page tells its form
    json.dump(answer_steps(json.load(sys.stdin)), sys.stdout, default=str)
