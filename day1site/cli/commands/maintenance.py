"""The commands on the whole local store, and those that manage.py carries out."""

import sys
from pathlib import Path
from typing import Any

import click

from day1site.cli.client import server_url
from day1site.cli.errors import local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import progress
from day1site.cli.parameters import switch
from day1site.cli.transport.local_store import open_store
from memory.processes import become

MANAGE = Path(__file__).resolve().parents[3] / "manage.py"
# The second from an installed wheel; -P leaves the current folder off Python's path.
START = [str(MANAGE)] if MANAGE.is_file() else ["-P", "-m", "day1site"]


class ManageCommand(click.Command):
    """A command of manage.py by the same name: every word after it is its own, --help too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return ctx.args

    def invoke(self, ctx: click.Context) -> None:
        become([sys.executable, *START, str(self.name), *ctx.args])


up = ManageCommand("up", help="Start the server.", add_help_option=False)
test = ManageCommand("test", help="Run the tests.", add_help_option=False)
celery = ManageCommand("celery", help="Run background work in processes of its own.", add_help_option=False)


@command("reindex", "Rebuild the full-text index from the facts.", "day1 reindex")
def reindex(run: Invocation) -> None:
    open_local_store("reindex")
    from memory.engines.store.maintenance import MaintenanceEngine

    with progress("Reindexing") as update:
        count = MaintenanceEngine().rebuild_index(update)
    run.show_line({"indexed": count}, f"{count} versions indexed.")


@command(
    "reembed",
    "Give every fact a vector of the model in force: after another one was set.",
    "day1 reembed",
    "DAY1_EMBEDDER=openai day1 reembed --forget-others",
)
@switch("--forget-others", help="delete the vectors of other models even where texts wait for a new one")
def reembed(run: Invocation, forget_others: bool) -> None:
    open_local_store("reembed")
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.embedding.models import model_in_force
    from memory.models import Project, Vector

    engine, made, waiting = EmbeddingEngine(), 0, 0
    others = Vector.objects.exclude(model=model_in_force())
    before = others.count()
    for project in Project.objects.all():
        with progress(f"Embedding {project.slug}") as update:
            made += engine.reembed_all(project.pk, update)
        waiting += engine.count_backlog(project.pk)["pending"]
        if forget_others:
            engine.forget_other_models(project.pk)
    forgotten = before - others.count()
    answer = {"model": model_in_force(), "embedded": made, "pending": waiting, "forgotten": forgotten}
    run.show_line(answer, describe_embedding(answer))


def describe_embedding(answer: dict[str, Any]) -> str:
    if answer["model"] is None:
        return "Embedding is off: nothing to do."
    text = f"{answer['embedded']} texts embedded with {answer['model']}"
    text += f", {answer['forgotten']} vectors of other models deleted" if answer["forgotten"] else ""
    return text + (f"; {answer['pending']} wait for another try." if answer["pending"] else ".")


def open_local_store(name: str) -> None:
    """Open the local store. Raises CliError where a server is worked on."""
    if server_url():
        raise local_only(name)
    open_store()
