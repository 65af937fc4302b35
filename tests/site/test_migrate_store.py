"""``migrate-store`` to another file: complete, resumable, verified."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from day1site.running_servers import LOCK_NAME
from memory.engines.store.release import FIRST
from memory.file_locks import try_lock
from tests.command_line import Day1
from tests.databases import only_on_sqlite
from tests.up_process import migrated_store, provisioned

pytestmark = only_on_sqlite
ROOT = Path(__file__).parent.parent.parent
PASSING = {"memory_nodelease", "memory_queuemessage", "django_migrations", "sqlite_sequence"}

FILL = """
import django
django.setup()
from pathlib import Path
from django.conf import settings
from day1site.server.provisioning import prepare
prepare(Path(settings.DATA_DIR), "http://127.0.0.1:1")
from django.contrib.auth import get_user_model
from django_celery_beat.models import CrontabSchedule
from memory.actors import local_actor
from memory.engines.audit.trail import seal_entries
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Project
project = Project.objects.get()
actor, facts = local_actor(project.pk), FactEngine()
some = [{"fact_text": f"Fact {n}: Grüße, 雪 \\U0001f600 ' -- \\\\"} for n in range(FACTS)]
facts.write_facts(facts=some, actor=actor)
BranchManager().create_branch(name="task/a", actor=actor)
fact = facts.write_fact(fact_text="edited", actor=actor, branch_name="task/a").fact
facts.update_fact(fact_id=fact.uid, updates={"fact_text": "edited again", "metadata": {"a": [1.5, None]}},
                  actor=actor, branch_name="task/a")
facts.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
KeyEngine().create_key(label="agent", scopes=["write"], actor=actor)
SnapshotManager().create_snapshot(name="point", actor=actor)
SnapshotManager().create_store_snapshot(name="frozen", actor=actor)
get_user_model().objects.create_user("curator", password="secret")
CrontabSchedule.objects.create(hour="3", timezone="Europe/Vienna")
EmbeddingEngine().embed_pending(project.pk, 20)
seal_entries(project)
"""


def environment(folder: Path, **more: str) -> dict[str, str]:
    left_out = ("DAY1_TEST_DATA_DIR", "DATABASE_URL", "DAY1_URL")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= {"DAY1_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "day1site.settings.dev"}
    return env | {"PYTHONPATH": str(ROOT), "DAY1_NO_BOOTSTRAP": "1", **more}


def fill(folder: Path, facts: int = 60) -> None:
    code = FILL.replace("FACTS", str(facts))
    shutil.copy2(migrated_store(), folder)
    subprocess.run([sys.executable, "-c", code], env=environment(folder), check=True)


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "day1", "--format", "json", "migrate-store", *words]


def move(folder: Path, *words: str) -> tuple[int, Any, str]:
    ran = subprocess.run(command(folder, *words), env=environment(folder), capture_output=True, text=True)
    return ran.returncode, json.loads(ran.stdout) if ran.stdout else None, ran.stderr


def url(path: Path | str) -> str:
    return f"sqlite:///{path}"


def contents(path: Path) -> dict[str, list]:
    """Return every row of every table that is no index."""
    with closing(sqlite3.connect(path)) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in names if "_fts" not in name and name not in PASSING and "stat" not in name]
        return {name: sorted(map(repr, store.execute(f'SELECT * FROM "{name}"'))) for name in tables}


def prepared(path: Path) -> Path:
    """Put a migrated, empty store there, which migrate-store would make: migrations take seconds."""
    path.parent.mkdir(exist_ok=True)
    shutil.copy2(migrated_store(), path)
    return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    fill(folder)
    return folder


@pytest.mark.slow
def test_everything_arrives_and_a_second_run_changes_nothing(filled: Path, tmp_path: Path) -> None:
    """The source has the migrations that the first ones replace, not these."""
    with closing(sqlite3.connect(filled / "day1.sqlite3")) as store, store:
        store.execute("DELETE FROM django_migrations WHERE name = ?", [FIRST])
    target = tmp_path / "new" / "day1.sqlite3"
    target.parent.mkdir()
    status, told, trouble = move(filled, "--to", url(target))
    assert (status, trouble) == (0, "")
    assert not target.with_name("day1.sqlite3-wal").exists()  # the file is whole without a log
    old, new = contents(filled / "day1.sqlite3"), contents(target)
    frozen = [row for row in old["memory_snapshot"] if "'frozen'" in row]
    assert len(frozen) == 1  # its file belongs to the old store
    assert new == {**old, "memory_snapshot": [row for row in old["memory_snapshot"] if row not in frozen]}
    rows = {table["name"]: table["rows"] for table in told["tables"]}
    assert (rows["memory_fact"], rows["auth_user"], rows["memory_vector"]) == (63, 2, 62)
    assert move(filled, "--to", url(target))[1] == told
    back = prepared(tmp_path / "back.sqlite3")
    assert move(target.parent, "--to", url(back))[0] == 0
    assert contents(back) == new
    found = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "day1", "search", "Grüße", "--limit", "3"],
        env=environment(target.parent),
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(found.stdout.splitlines()) == 4


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    fill(tmp_path, facts=1000)
    target, cut = tmp_path / "new.sqlite3", 0
    for seconds in (0.1, 0.5, 1.5):  # a quick machine is done before the last
        running = subprocess.Popen(command(tmp_path, "--to", url(target)), env=environment(tmp_path))
        while not target.exists() and running.poll() is None:
            time.sleep(0.02)
        time.sleep(seconds)
        running.send_signal(signal.SIGKILL)
        cut += running.wait() == -signal.SIGKILL
    assert cut > 0
    status, told, trouble = move(tmp_path, "--to", url(target))
    assert (status, trouble) == (0, "")
    assert {table["name"]: table["rows"] for table in told["tables"]}["memory_fact"] == 1003
    old, new = contents(tmp_path / "day1.sqlite3"), contents(target)
    assert new["memory_fact"] == old["memory_fact"]
    assert new["memory_auditentry"] == old["memory_auditentry"]


@pytest.mark.slow
def test_a_target_that_is_a_store_of_its_own_is_left_alone(filled: Path, tmp_path: Path) -> None:
    target = provisioned(tmp_path / "other") / "day1.sqlite3"
    before = contents(target)
    status, _, trouble = move(filled, "--to", url(target))
    assert (status, trouble.split(":")[0]) == (1, "conflict")
    assert "is a store of its own" in trouble
    assert contents(target) == before


@pytest.mark.slow
def test_what_was_written_to_the_target_later_is_never_overwritten(filled: Path, tmp_path: Path) -> None:
    target = prepared(tmp_path / "day1.sqlite3")
    assert move(filled, "--to", url(target))[0] == 0
    write = [sys.executable, str(ROOT / "manage.py"), "day1", "write-fact", "new here"]
    subprocess.run(write, env=environment(tmp_path, DAY1_EMBEDDER="off"), check=True, capture_output=True)
    before = contents(target)
    assert move(filled, "--to", url(target))[0] == 1
    assert contents(target) == before


@pytest.mark.slow
def test_a_target_that_no_setting_could_name_is_refused(filled: Path) -> None:
    found, _, trouble = move(filled, "--to", "mysql://x/y")
    assert (found, trouble.startswith("day1: error: DATABASE_URL names the scheme 'mysql'")) == (2, True)


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--from", "{store}"], 2, "day1: error: --from and --to name the same store."),
        (["--from", "mysql://x/y"], 2, "day1: error: DATABASE_URL names the scheme 'mysql'"),
        (["--from", "sqlite:///{folder}/gone"], 1, "no_store: "),
        (["--from", "sqlite:///{folder}/no/n"], 2, "day1: error: DATABASE_URL names a file in "),
    ],
)
@pytest.mark.usefixtures("own_address")
def test_what_is_refused(day1: Day1, tmp_path: Path, words: list[str], status: int, code: str) -> None:
    store = url(connection.settings_dict["NAME"])
    found, _, trouble = day1(
        "migrate-store", "--to", store, *(word.format(folder=tmp_path, store=store) for word in words)
    )
    assert (found, trouble.startswith(code)) == (status, True), trouble
    assert list(tmp_path.iterdir()) == []
    assert day1("migrate-store")[0] == 2


@pytest.fixture
def own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the environment back, in which the command names its target."""
    monkeypatch.setenv("DATABASE_URL", "")


@pytest.mark.usefixtures("own_address")
def test_a_store_that_is_served_is_not_carried(day1: Day1, settings: Any, tmp_path: Path) -> None:
    with (Path(settings.DATA_DIR) / LOCK_NAME).open("a+") as file:
        assert try_lock(file.fileno())
        status, _, trouble = day1("migrate-store", "--to", url(tmp_path / "n.sqlite3"))
    assert (status, "Stop it first" in trouble) == (1, True)
