"""Serializers for snapshots and workspaces."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.rendering import build_renderer
from memory.engines.store.snapshots import RestorePlan
from memory.engines.store.workspaces import WorkspaceDiff
from memory.models import Snapshot, Workspace


class SnapshotShape(s.Serializer):
    id = s.UUIDField()
    name = s.CharField()
    kind = s.ChoiceField(choices=Snapshot.Kind.choices)
    description = s.CharField()
    branch = s.CharField(allow_null=True, help_text="null for a snapshot of the store.")
    seq = s.IntegerField(allow_null=True)
    size = s.IntegerField(help_text="Bytes of the frozen copy, where it is a file.")
    sha256 = s.CharField()
    created_at = s.DateTimeField()
    created_by = s.CharField()


class BranchPlanShape(s.Serializer):
    """The planned change of one branch."""

    name = s.CharField()
    head = s.IntegerField()
    seq = s.IntegerField(help_text="The point that it is made equal to.")
    counts = s.DictField(help_text="brought_back, changed, removed: how many of each type of memory.")
    archive = s.BooleanField(help_text="It was made since, or was archived then.")
    unarchive = s.BooleanField(help_text="It was archived since.")


class RestoreShape(s.Serializer):
    """A plan of a restore, or its result."""

    snapshot = SnapshotShape()
    dry_run = s.BooleanField()
    branches = BranchPlanShape(many=True)
    mended = s.DictField(child=s.IntegerField(), help_text="Rows that the store had lost, by type.")


class WorkspaceShape(s.Serializer):
    id = s.UUIDField()
    name = s.CharField()
    description = s.CharField()
    state = s.ChoiceField(choices=Workspace.State.choices)
    place = s.CharField(help_text="Start a server on this folder of the data directory, or database.")
    created_at = s.DateTimeField()
    created_by = s.CharField()
    ended_at = s.DateTimeField(allow_null=True)
    ended_by = s.CharField()


class BranchChangeShape(s.Serializer):
    name = s.CharField()
    base = s.IntegerField(allow_null=True, help_text="Its seq in the store; null when it was made here.")
    head = s.IntegerField()
    archived = s.BooleanField()


class TableChangeShape(s.Serializer):
    added = s.IntegerField()
    changed = s.IntegerField()


class WorkspaceDiffShape(s.Serializer):
    workspace = WorkspaceShape()
    branches = BranchChangeShape(many=True)
    tables = s.DictField(child=TableChangeShape())
    moved = s.ListField(
        child=s.CharField(), help_text="Branches that moved in the store: nothing is promoted."
    )


class WindowShape(s.Serializer):
    days = s.IntegerField(help_text="So long the database keeps every state; 0 where it does not.")


_snapshot = build_renderer(SnapshotShape, "branch")
_branch_plan = build_renderer(BranchPlanShape)
workspace = build_renderer(WorkspaceShape)
_branch_change = build_renderer(BranchChangeShape)


def snapshot_shape(row: Snapshot) -> dict[str, Any]:
    return _snapshot(row, branch=row.branch.name if row.branch else None)


def render_window(days: int) -> dict[str, int]:
    return {"days": days}


def restore_shape(plan: RestorePlan) -> dict[str, Any]:
    branches = [_branch_plan(one) for one in plan.branches]
    body = {"dry_run": plan.dry_run, "branches": branches, "mended": dict(plan.mended)}
    return {"snapshot": snapshot_shape(plan.snapshot), **body}


def workspace_diff(diff: WorkspaceDiff) -> dict[str, Any]:
    tables = {name: {"added": one.added, "changed": one.changed} for name, one in diff.tables.items()}
    branches = [_branch_change(one) for one in diff.branches]
    body = {"branches": branches, "tables": tables, "moved": list(diff.moved)}
    return {"workspace": workspace(diff.workspace), **body}
