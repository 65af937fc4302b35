"""The engines in this process, on a data folder that the benchmark names."""

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def set_up(folder: Path, embedder: str) -> None:
    """Django with the settings of a server on this folder, its tables up to date. Once in a process."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["DAY1_DATA_DIR"] = str(folder)
    os.environ["DAY1_EMBEDDER"] = embedder
    os.environ["DJANGO_SETTINGS_MODULE"] = "day1site.settings.dev"
    sys.path.insert(0, str(ROOT))
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


def optimize() -> None:
    """The planner's statistics as beat keeps them."""
    from django.db import connection

    connection.index.optimize()


def settle() -> None:
    """What ``up`` does before the first request: the checks load the pages' code."""
    from django.core.checks import run_checks

    from day1site.server import settle

    run_checks()
    settle()


def local(slug: str = "default") -> Any:
    """An actor who may do everything in the project of this name, which is made when it is missing."""
    from memory.actors import local_actor
    from memory.engines.branches import create_main
    from memory.models import Project

    project = Project.objects.filter(slug=slug).first()
    if project is None:
        project = Project.objects.create(name="Default", slug=slug)
        create_main(project)
    return local_actor(project.pk, label="bench")
