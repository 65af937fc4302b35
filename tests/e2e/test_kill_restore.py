"""kill -9 during a restore: afterwards all of it was done, or nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests import databases
from tests.up_process import prepared
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).parent.parent.parent
FACTS = 400

PREPARE = f"""
def write(text, branch):
    some = [{{"fact_text": f"{{text}} {{branch}} {{n}}"}} for n in range({FACTS})]
    facts.write_facts(facts=some, actor=actor, branch_name=branch)


from memory.engines.branches.manager import BranchManager
write("before", "main")
BranchManager().create_branch(name="task/a", actor=actor)
SnapshotManager().create_store_snapshot(name="s", actor=actor)
write("after", "main")
write("after", "task/a")
"""
RESTORE = """
print("now", flush=True)
SnapshotManager().restore_snapshot(snapshot_id=Snapshot.objects.get().pk, actor=actor)
"""
START = """
import django
django.setup()
from day1site.server.provisioning import prepare
from pathlib import Path
from django.conf import settings
prepare(Path(settings.DATA_DIR), "http://127.0.0.1:1")
from memory.actors import local_actor
from memory.engines.facts.engine import FactEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Project, Snapshot
facts, actor = FactEngine(), local_actor(Project.objects.get().pk)
"""


def process(folder: Path, code: str) -> subprocess.Popen:
    env = {**os.environ, "DAY1_DATA_DIR": str(folder), "DAY1_EMBEDDER": "off"}
    env |= databases.of(folder)
    env |= {"DJANGO_SETTINGS_MODULE": "day1site.settings.dev", "PYTHONPATH": str(ROOT)}
    env.pop("DAY1_TEST_DATA_DIR", None)
    return subprocess.Popen([sys.executable, "-c", START + code], env=env, stdout=subprocess.PIPE, text=True)


def seen(folder: Path) -> tuple[int, ...]:
    """Count open facts from before and after the snapshot, and restores in commits and in the audit."""
    asked = (
        "SELECT count(*) FROM memory_fact WHERE slot IS NOT NULL AND fact_text LIKE 'before%'",
        "SELECT count(*) FROM memory_fact WHERE slot IS NOT NULL AND fact_text LIKE 'after%'",
        "SELECT count(*) FROM memory_commit WHERE kind = 'snapshot.restore'",
        "SELECT count(*) FROM memory_auditentry WHERE action = 'snapshot.restore'",
        "SELECT sum(head) FROM memory_branch",
    )
    return tuple(databases.rows(folder, sql)[0][0] for sql in asked)


NOTHING = (FACTS, 2 * FACTS, 0, 0, 3)
EVERYTHING = (FACTS, 0, 2, 3, 5)


def test_a_restore_that_is_killed_was_done_or_not(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    with process(folder, PREPARE) as preparing:
        assert preparing.stdout is not None
        preparing.stdout.read()
    assert seen(folder) == NOTHING
    states = set()
    for number in range(5):
        with process(folder, RESTORE) as restoring:
            assert restoring.stdout is not None
            assert restoring.stdout.readline() == "now\n"
            time.sleep(0.05 * number)
            restoring.send_signal(signal.SIGKILL)
        states.add(seen(folder))
        if EVERYTHING in states:
            break
    assert states <= {NOTHING, EVERYTHING}
    with process(folder, RESTORE) as last:
        last.wait(TIMEOUT_SECONDS)
    assert seen(folder)[:3] == EVERYTHING[:3]
