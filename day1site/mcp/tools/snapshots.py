"""Tools for snapshots: create and restore."""

from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import WHO
from memory.answers import copies as copy_shapes
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.support import validation as c
from memory.models import Snapshot
from memory.operations.inputs import parse_point

snapshot_manager = SnapshotManager()


@b.tool(
    title="Name a point",
    about=(
        "Give a name to what a branch holds now, or held `at` a point, to come back to it: before a large "
        "change, a clean-up or a risky task. It costs nothing. snapshot_restore goes back to it; its id "
        "also works as `at` in memory_search and memory_get."
    ),
    takes={
        "name": b.text("Up to 100 characters.", maxLength=100),
        "description": b.text("What it is for.", maxLength=500),
        "at": b.AT,
        **WHO,
    },
    needs=("name",),
    gives={
        "snapshot_id": b.uid("For snapshot_restore, and as `at`."),
        "name": b.text("Its name."),
        "seq": {"type": ["integer", "null"], "description": "The commit that it names."},
    },
    scope="curate",
    writes=True,
    repeatable=False,
)
def snapshot_create(call: Call) -> b.Answer:
    name, where = call.need("name", c.plain_text), call.where
    options = {"description": call.take("description", c.plain_text, ""), "at": call.take("at", parse_point)}
    call.end()
    made: Snapshot = snapshot_manager.create_snapshot(name=name, **where, **options)
    after = f'snapshot_restore {{"snapshot_id": "{made.pk}", "dry_run": true}} to go back'
    result = {"snapshot_id": str(made.pk), "name": made.name, "seq": made.seq}
    return {**result, "branch": call.branch, "next": after}


@b.tool(
    title="Go back to a point",
    about=(
        "Make a branch equal to a snapshot again, by one new commit; nothing leaves the history, so it can "
        "be undone. Call it with dry_run true first: the answer says what would be brought back, changed "
        "and removed; show that to the person, then call it with dry_run false."
    ),
    takes={
        "snapshot_id": b.uid("The snapshot."),
        "dry_run": b.flag("true only tells what would be done; false does it."),
        **WHO,
    },
    needs=("snapshot_id", "dry_run"),
    gives={
        "dry_run": b.flag("true: nothing was done."),
        "branches": b.many("What becomes of each branch.", {"type": "object"}),
        "mended": {"type": "object", "description": "Rows that the store had lost, by type."},
    },
    scope="merge",
    writes=True,
    destructive=True,
)
def snapshot_restore(call: Call) -> b.Answer:
    uid, dry_run = call.need("snapshot_id", c.parse_uuid), call.need("dry_run", c.check_boolean)
    actor, branch = call.actor, call.branch
    call.end()
    plan = copy_shapes.restore_shape(
        snapshot_manager.restore_snapshot(snapshot_id=uid, actor=actor, dry_run=dry_run)
    )
    result = {name: plan[name] for name in ("dry_run", "branches", "mended")}
    branch = plan["snapshot"]["branch"] or branch
    again = f'snapshot_restore {{"snapshot_id": "{uid}", "dry_run": false}} to do it'
    return {**result, "branch": branch, "next": again if dry_run else "memory_search"}
