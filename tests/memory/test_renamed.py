"""Old paths in settings and schedules are refused with the present name."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.utils.module_loading import import_string
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from memory.renamed import RENAMED, current_path

ROOT = Path(__file__).resolve().parents[2]
OLD, NEW = next(iter(RENAMED.items()))


def found(number: str, **kwargs) -> list[tuple[str, str | None]]:
    return [(message.msg, message.hint) for message in run_checks(**kwargs) if message.id == number]


@pytest.mark.parametrize("new", sorted(RENAMED.values()))
def test_what_the_table_names_is_there(new: str) -> None:
    module, _, name = new.rpartition(".")
    assert hasattr(import_module(module), name) or import_module(new)


@pytest.mark.parametrize(
    ("path", "now"),
    [
        ("memory.broker.pool:TaskPool", "memory.queue.broker.pool:TaskPool"),
        ("memory.broker", "memory.queue.broker"),
        ("memory.engines.handles.WorkHandles", "memory.engines.access.work_handles.WorkHandles"),
        ("day1site.cli.connecting.jsonc", "day1site.cli.connect.jsonc"),
        ("day1site.cli.connecting.programs.hook", "day1site.cli.connect.clients.hook"),
        ("memory.engines.judging.judge", "memory.engines.facts.verdicts.judge"),
        ("memory.views.toasts.tell", "memory.views.flash.tell"),
        ("memory.answers.problems.handle", "memory.answers.problems.handle_error"),
        ("memory.answers.problems.handle_error", ""),
        (OLD, NEW),
        (NEW, ""),
        ("memory.brokers", ""),
        ("", ""),
    ],
)
def test_the_present_name(path: str, now: str) -> None:
    assert current_path(path) == now


def test_an_import_says_the_present_name() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^memory\.broker is now memory\.queue\.broker$"):
        import_string("memory.broker.pool.TaskPool")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'memory\.no'$"):
        import_string("memory.no.such")


def test_settings_that_name_an_old_path(settings) -> None:
    settings.DAY1 = {"embedder": "off", "consolidator": OLD, "session_parts": ("memory.broker.X",)}
    settings.CELERY_WORKER_POOL = "memory.broker.pool:TaskPool"
    assert found("day1.E009") == [
        (
            "CELERY_WORKER_POOL names memory.broker.pool:TaskPool.",
            "It is now memory.queue.broker.pool:TaskPool.",
        ),
        (f"DAY1 names {OLD}.", f"It is now {NEW}."),
        ("DAY1 names memory.broker.X.", "It is now memory.queue.broker.X."),
    ]


def test_the_settings_of_day1_name_no_old_path() -> None:
    assert found("day1.E009") == []


def test_a_schedule_that_names_an_old_path(db: None) -> None:
    every = IntervalSchedule.objects.create(every=5, period="minutes")
    PeriodicTask.objects.create(name="mine", task="memory.broker.fold", interval=every)
    PeriodicTask.objects.create(name="tidy", task="memory.tidy", interval=every)
    assert found("day1.W010", databases=["default"]) == [
        ("The periodic task mine runs memory.broker.fold.", "It is now memory.queue.broker.fold.")
    ]


@pytest.mark.parametrize(
    "line", ["from day1site.settings.desk import UNFOLD", "INSTALLED_APPS += ['day1site.desk']"]
)
def test_a_settings_file_that_names_an_old_module(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.py").write_text(f"from day1site.settings.dev import *\n{line}\n")
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        env={
            "DJANGO_SETTINGS_MODULE": "mine",
            "PYTHONPATH": f"{ROOT}:{tmp_path}",
            "DAY1_DATA_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    old = "day1site.settings.desk" if "UNFOLD" in line else "day1site.desk"
    assert f"ModuleNotFoundError: {old} is now {RENAMED[old]}" in done.stderr
