"""What a workspace has that the store has not, and taking it over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Q

from memory.db.bulk import insert_all
from memory.db.copies import Changes
from memory.db.tables import in_order, path_to
from memory.engines.embedding_run import chunks, tick
from memory.engines.held import hold_later
from memory.engines.upkeep import index_anew
from memory.exceptions import Conflict
from memory.models import (
    AuditEntry,
    Branch,
    BranchedModel,
    Commit,
    Confirmation,
    IngestedEvent,
    Project,
    Vector,
    Workspace,
)
from memory.models.nodes import new_rid

CHUNK = 500
# What is memory, or tells of it, by app and model; those of apps to the right are known by name only.
MOVES = {
    "memory": (
        "AuditEntry", "Branch", "Commit", "Confirmation", "Fact", "FactAssessment", "FactLink",
        "IngestedEvent", "Observation", "Relation", "ReviewItem", "Session", "Vector",
    ),
    "conversations": ("Conversation", "Message"),
}  # fmt: skip
# What stays in the workspace: rights and records of the store itself, and what only passes through.
STAYS = {
    "memory": (
        "ApiKey", "FactUse", "IdempotencyRecord", "Membership", "NearCheck", "Node", "Project",
        "QueueMessage", "RecallLog", "Snapshot", "VectorClock", "WorkHandle", "Workspace",
    ),
}  # fmt: skip
# Of these the store may have the same row by now, and one is as good as the other.
SAME = (Vector, IngestedEvent)


@dataclass(frozen=True)
class TableChange:
    """Rows of one table that are new in the workspace, and rows that have changed there."""

    added: int
    changed: int


class Promotion:
    """The way of one workspace's rows into the store. ``alias`` reads the workspace."""

    def __init__(self, workspace: Workspace, alias: str, copies: Any) -> None:
        self.project_id, self.alias = workspace.project_id, alias
        self.changes: dict[Any, Changes] = {
            kind: copies.changed_fork(workspace.copy, kind) for kind in carried_models()
        }
        own = Branch.objects.using(alias).filter(project=self.project_id)
        self.branches = list(own.values_list("pk", flat=True))

    def counts(self, moved: bool) -> dict[str, TableChange]:
        """What is new in the workspace, and what has changed: that cannot be told where the store moved."""
        found = {}
        for kind, changes in self.changes.items():
            added, changed = self._count(kind, changes.only_there), 0
            if _may_change(kind) and not moved:
                changed = self._count(kind, changes.other)
            if added or changed:
                found[str(kind._meta.model_name)] = TableChange(added, changed)
        return found

    def carry_out(self) -> None:
        """In the running transaction. What changed comes first: it frees the places of what is new."""
        for kind, changes in self.changes.items():
            if _may_change(kind):
                self._change(kind, sorted(changes.other))
        for kind, changes in self.changes.items():
            for rows in self._rows(kind, sorted(changes.only_there)):
                self._add(kind, rows)

    # ---- reading -------------------------------------------------------------------------------

    def _own(self, kind: Any) -> Q:
        """The rows of this project."""
        if kind is Confirmation:
            return Q(branch_id__in=self.branches)
        return Q(**{path_to(Project, kind): self.project_id})

    def _count(self, kind: Any, keys: frozenset) -> int:
        rows = kind._base_manager.using(self.alias).filter(self._own(kind))
        return sum(rows.filter(pk__in=some).count() for some in chunks(list(keys), CHUNK))

    def _rows(self, kind: Any, keys: Sequence[Any]) -> Iterator[list[Any]]:
        rows = kind._base_manager.using(self.alias).filter(self._own(kind)).order_by("pk")
        for some in chunks(keys, CHUNK):
            if found := list(rows.filter(pk__in=some)):
                yield found

    # ---- writing -------------------------------------------------------------------------------

    def _change(self, kind: Any, keys: Sequence[Any]) -> None:
        for rows in self._rows(kind, keys):
            here = kind._base_manager.filter(self._own(kind), pk__in=[row.pk for row in rows])
            if here.count() != len(rows):
                raise Conflict("Another project has used the same numbers since: make a new workspace.")
            if kind is Branch:  # what is held for it stands in each store's own index
                indexed = dict(here.values_list("pk", "indexed"))
                for row in rows:
                    row.indexed = indexed[row.pk]
            for row in rows:
                row.save(using="default", force_update=True)
            self._index(kind, rows)

    def _add(self, kind: Any, rows: list[Any]) -> None:
        if kind is AuditEntry:  # they take their place at the end of the store's own chain
            for row in rows:
                row.id, row.place, row.hash = new_rid(), None, ""
        if kind is Vector:
            n = tick(self.project_id)
            for row in rows:
                row.n = n if row.state == Vector.State.READY else 0
        if kind is Branch:
            hold_later(rows)
        insert_all(rows, ignore_conflicts=kind in SAME)
        self._index(kind, rows)

    @staticmethod
    def _index(kind: Any, rows: Sequence[Any]) -> None:
        if issubclass(kind, BranchedModel):
            index_anew(rows)


def carried_models() -> list[type[models.Model]]:
    """What a promote takes over; parents first."""
    return in_order(apps.get_model(app, name) for app, names in MOVES.items() for name in names)


def _may_change(kind: Any) -> bool:
    """Only what commits change: of the rest the store may hold something newer."""
    return kind in (Branch, Commit, Confirmation) or issubclass(kind, BranchedModel)
