"""A merge and its revert that die before their n-th statement, each time in a process of its own.

As a program, on the data directory of DAY1_DATA_DIR: it prints how many deaths each step survived, and what
was torn.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

BESIDE = {"memory_nodelease", "sqlite_stat1"}  # leases of processes, statistics
STEP = 4  # statements between two deaths
KILLED = 9
LAST = 10**9
FACTS = 4


def main() -> None:
    import django

    django.setup()
    from django.conf import settings

    from day1site.server.provisioning import prepare
    from memory.actors import local_actor
    from memory.models import Project

    prepare(Path(settings.DATA_DIR), "http://127.0.0.1:1")
    actor = local_actor(Project.objects.get().pk)
    Scene(actor).write()
    print(json.dumps({name: kill_at_each(work) for name, work in steps(actor).items()}))


def steps(actor: Any) -> dict[str, Callable[[], Any]]:
    from memory.engines.branches.revert import RevertEngine
    from memory.engines.merging.engine import MergeEngine
    from memory.models import Commit

    def merge() -> None:
        MergeEngine().merge_branch(source="task/a", actor=actor, strategy="theirs", force=True)

    def revert() -> None:
        commit = Commit.objects.get(branch__name="main", source_branch__name="task/a")
        RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)

    return {"merge": merge, "revert": revert}


class Scene:
    """Two branches that changed every kind of memory since they parted, some of it both of them."""

    def __init__(self, actor: Any) -> None:
        from tests.memory.merging.transports import EngineTransport

        self.engines = EngineTransport(actor)

    def write(self) -> None:
        for number in range(FACTS):
            self.engines.write_fact("main", f"fact {number}")
        self.engines.create_conversation("main", "talk")
        self.engines.create_branch("task/a", "main", self.engines.read_head("main"))
        for branch in ("main", "task/a"):
            self.change(branch)

    def change(self, branch: str) -> None:
        shown = sorted(self.engines.observe(branch))
        facts = [uid for kind, uid in shown if kind == "fact"]
        (talk,) = [uid for kind, uid in shown if kind == "conversation"]
        self.engines.update_fact(branch, facts[0], {"fact_text": f"said on {branch}"})
        self.engines.update_fact(branch, facts[1], {"tags": [branch]})
        self.engines.write_fact(branch, "the same on both")
        self.engines.write_fact(branch, f"new on {branch}")
        self.engines.write_fact(branch, "fact 3", session_id=branch)
        self.engines.judge_fact(branch, facts[1], "verified" if branch == "main" else "invalidated")
        self.engines.write_link(branch, facts[0], facts[1], "fact")
        self.engines.write_relation(branch, "lib", {branch: 1})
        self.engines.write_observation(branch, f"seen on {branch}")
        self.engines.write_message(branch, talk, f"said on {branch}")
        if branch != "main":
            self.engines.delete_fact(branch, facts[2])


def kill_at_each(work: Callable[[], Any]) -> dict[str, Any]:
    """Run the work in processes that die before statement 0, 1, …; stop when one left something.

    That must be all of it: done again, the work finds nothing to do.
    """
    before = after = dump()
    number, status = 0, KILLED
    while status == KILLED and after == before:
        status, number = run_until(work, number), number + STEP
        after = dump()
    run_until(work, LAST)
    moved = sorted(changed_tables(before, after))
    return {"survived": number - STEP, "torn": changed_tables(after, dump()), "changed": moved}


def run_until(work: Callable[[], Any], number: int) -> int:
    """Run the work in a process of its own that is killed before its n-th statement; return its status."""
    from django.db import connections

    connections.close_all()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        run_with_fault(work, number)
        status = 0
    finally:
        os._exit(status)


def run_with_fault(work: Callable[[], Any], number: int) -> None:
    from django.db import connection

    from memory.models.nodes import next_rid

    next_rid.ensure_lease()  # its own transaction, of this process
    statements = iter(range(number))

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        if next(statements, None) is None:
            os._exit(KILLED)
        return run(*args)

    with connection.execute_wrapper(execute):
        work()


def dump() -> dict[str, list[tuple]]:
    """Return all rows of all tables, those of the full-text index included."""
    from django.db import connection

    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name not in BESIDE]
        found = {}
        for table in sorted(tables):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            found[table] = sorted(cursor.fetchall(), key=repr)
    return found


def changed_tables(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name in after if before.get(name) != after[name]]


if __name__ == "__main__":
    main()
