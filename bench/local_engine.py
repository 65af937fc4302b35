"""The engines in this process, on a data folder chosen by the benchmark."""

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def set_up(folder: Path, embedder: str) -> None:
    """Set up Django with a server's settings on this folder, and migrate. Once per process."""
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
    """Update the planner's statistics, as the scheduled task does."""
    from memory.db.backend import get_index

    get_index().optimize()


def freeze_gc() -> None:
    """Prepare the process as ``up`` does before the first request: the checks load the pages' code."""
    from django.core.checks import run_checks

    from day1site.server.process import freeze_gc

    run_checks()
    freeze_gc()


def local(slug: str = "default") -> Any:
    """Return an actor with all rights in the project of this slug, created when it is missing."""
    from memory.actors import local_actor
    from memory.engines.branches.manager import create_main
    from memory.models import Project

    project = Project.objects.filter(slug=slug).first()
    if project is None:
        project = Project.objects.create(name="Default", slug=slug)
        create_main(project)
    return local_actor(project.pk, label="bench")
