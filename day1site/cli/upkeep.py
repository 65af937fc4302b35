"""The commands on the whole local store, and those that manage.py carries out."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from day1site.cli.client import server
from day1site.cli.errors import local_only
from day1site.cli.output import Output, progress
from day1site.cli.store import open_store

MANAGE = Path(__file__).resolve().parent.parent.parent / "manage.py"


def manage(args: Namespace) -> int:
    """``day1 up`` and ``day1 test`` are those commands of manage.py, in this process's place."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, str(MANAGE), args.command, *args.rest])


def reindex(args: Namespace) -> None:
    _open("reindex")
    from memory.engines.upkeep import UpkeepEngine

    with progress("Reindexing") as tell:
        count = UpkeepEngine().reindex(tell)
    out = Output(args.format)
    out.show({"indexed": count}, lambda: out.line(f"{count} versions indexed."))


def reembed(args: Namespace) -> None:
    _open("reembed")
    from memory.engines.embedding import EmbeddingEngine, model_in_force
    from memory.models import Project

    engine, made, waiting, forgotten = EmbeddingEngine(), 0, 0, 0
    for project in Project.objects.all():
        with progress(f"Embedding {project.slug}") as tell:
            made += engine.reembed(project.pk, tell)
        waiting += engine.backlog(project.pk)["pending"]
        forgotten += engine.forget_other_models(project.pk) if args.forget_others else 0
    answer = {"model": model_in_force(), "embedded": made, "pending": waiting, "forgotten": forgotten}
    out = Output(args.format)
    out.show(answer, lambda: out.line(_embedded(answer)))


def _embedded(answer: dict) -> str:
    if answer["model"] is None:
        return "Embedding is off: nothing to do."
    text = f"{answer['embedded']} texts embedded with {answer['model']}"
    text += f", {answer['forgotten']} vectors of other models deleted" if answer["forgotten"] else ""
    return text + (f"; {answer['pending']} wait for another try." if answer["pending"] else ".")


def backup(args: Namespace) -> None:
    _open("backup")
    from memory.engines.upkeep import UpkeepEngine

    with progress("Copying") as tell:
        made = UpkeepEngine().backup(Path(args.file), force=args.force, progress=tell)
    answer = {"file": str(made.path), "bytes": made.size, "sha256": made.sha256}
    out = Output(args.format)
    out.show(answer, lambda: out.line(f"{made.sha256}  {args.file}"))


def _open(command: str) -> None:
    if server():
        raise local_only(command)
    open_store()
