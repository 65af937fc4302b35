"""Promotion of a workspace: its changes against the store, and their transfer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Q

from memory.db.bulk_sql import insert_all
from memory.db.model_graph import in_order, path_to
from memory.db.store_copies import Changes
from memory.engines.embedding.worker import advance_clock
from memory.engines.store.maintenance import reindex_rows
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import replay_erasures
from memory.engines.versions.pinned_versions import schedule_pin
from memory.exceptions import Conflict
from memory.models import (
    AuditEntry,
    Branch,
    BranchedModel,
    Commit,
    Confirmation,
    HiddenVersion,
    IngestedEvent,
    PairVerdict,
    Project,
    Vector,
    Workspace,
)
from memory.models.nodes import new_rid

BATCH_SIZE = 500
# Models that a promotion copies, by app; models of higher apps are known by name only.
PROMOTED = {
    "memory": (
        "AgedVersion",
        "AgentTask",
        "AuditEntry",
        "Branch",
        "Commit",
        "Confirmation",
        "Fact",
        "FactAssessment",
        "FactLink",
        "IngestedEvent",
        "Observation",
        "PairVerdict",
        "Relation",
        "Session",
        "TaskAgent",
        "TaskObjective",
        "Vector",
    ),
    "conversations": (
        "Compaction",
        "ConsolidationRun",
        "Conversation",
        "Message",
        "Replay",
        "ReplayBatch",
        "ReplayStep",
    ),
    "curation": ("Bundle", "Handoff", "ReviewItem", "Template", "TemplateUse", "TemplateVersion"),
}
# Models that stay in the workspace: rights and records of the store itself, and transient rows.
LOCAL = {
    "analytics": ("StoredTally",),
    "memory": (
        "ApiKey",
        "Connection",
        "Consumption",
        "ErasedMemory",
        "Erasure",
        "ExternalLogin",
        "BranchPolicy",
        "FactUse",
        "HiddenVersion",
        "IdempotencyRecord",
        "Invitation",
        "Membership",
        "LoginLink",
        "MergeApproval",
        "MergeDecision",
        "MergeRequest",
        "MergeWithdrawal",
        "NearCheck",
        "Node",
        "OAuthClient",
        "Project",
        "ProjectTemplate",
        "ProjectUsage",
        "QueueMessage",
        "EvalRun",
        "Question",
        "RecallLog",
        "SecondFactor",
        "ServerEntry",
        "Snapshot",
        "VectorClock",
        "Webhook",
        "WebhookFailure",
        "WorkHandle",
        "Workspace",
    ),
    "conversations": ("Instructions",),
    "curation": (
        "MemoryImport",
        "Quarantine",
        "SavedView",
        "Score",
        "Scoring",
        "SigningKey",
        "TrustedKey",
        "Verification",
        "VerificationCursor",
        "VerificationJob",
    ),
}
# Models of which the store may have an equal row by now; either one will do.
SHARED = (Vector, IngestedEvent, PairVerdict)


@dataclass(frozen=True)
class TableChange:
    """Numbers of rows of one table that the workspace added and changed."""

    added: int
    changed: int


class Promotion:
    """Transfer of one workspace's rows into the store. ``alias`` reads the workspace."""

    def __init__(self, workspace: Workspace, alias: str, copies: Any) -> None:
        self.project_id, self.alias = workspace.project_id, alias
        self.changes: dict[Any, Changes] = {
            kind: copies.diff_workspace(workspace.copy, kind) for kind in carried_models()
        }
        own = Branch.objects.using(alias).filter(project=self.project_id)
        self.branches = list(own.values_list("pk", flat=True))

    def count_rows(self, moved: bool) -> dict[str, TableChange]:
        """Count the added and changed rows; changes are unknown once the store itself has moved."""
        found = {}
        for kind, changes in self.changes.items():
            added, changed = self._count_rows(kind, changes.only_there), 0
            if _may_change(kind) and not moved:
                changed = self._count_rows(kind, changes.other)
            if added or changed:
                found[str(kind._meta.model_name)] = TableChange(added, changed)
        return found

    def carry_out(self) -> None:
        """Transfer the rows in the running transaction. Changes come first: they free slots of new rows.

        Raises Conflict where the workspace has quarantines that the store has not.
        """
        self._check_quarantines()
        for kind, changes in self.changes.items():
            if _may_change(kind):
                self._change_rows(kind, sorted(changes.other))
        for kind, changes in self.changes.items():
            for rows in self._load_rows(kind, sorted(changes.only_there)):
                self._add_rows(kind, rows)
        replay_erasures(self.project_id)
        mask_branches(self.project_id)

    def _check_quarantines(self) -> None:
        hidden = HiddenVersion.objects.filter(project=self.project_id).values_list("quarantine", flat=True)
        if set(hidden.using(self.alias).distinct()) - set(hidden.distinct()):
            raise Conflict("The workspace has quarantines of its own: begin them in the store first.")

    # ---- reading -------------------------------------------------------------------------------

    def _own_rows(self, kind: Any) -> Q:
        """Return a condition on the rows of this project."""
        if kind is Confirmation:
            return Q(branch_id__in=self.branches)
        return Q(**{path_to(Project, kind): self.project_id})

    def _count_rows(self, kind: Any, keys: frozenset) -> int:
        rows = kind._base_manager.using(self.alias).filter(self._own_rows(kind))
        return sum(rows.filter(pk__in=batch).count() for batch in batched(list(keys), BATCH_SIZE))

    def _load_rows(self, kind: Any, keys: Sequence[Any]) -> Iterator[list[Any]]:
        rows = kind._base_manager.using(self.alias).filter(self._own_rows(kind)).order_by("pk")
        for batch in batched(keys, BATCH_SIZE):
            if found := list(rows.filter(pk__in=batch)):
                yield found

    # ---- writing -------------------------------------------------------------------------------

    def _change_rows(self, kind: Any, keys: Sequence[Any]) -> None:
        for rows in self._load_rows(kind, keys):
            own = kind._base_manager.filter(self._own_rows(kind), pk__in=[row.pk for row in rows])
            if own.count() != len(rows):
                raise Conflict("Another project has used the same numbers since: make a new workspace.")
            if kind is Branch:
                keep_own_marks(rows, own)
            for row in rows:
                row.save(using="default", force_update=True)
            self._index_rows(kind, rows)

    def _add_rows(self, kind: Any, rows: list[Any]) -> None:
        if kind is AuditEntry:  # they are appended to the store's own chain
            for row in rows:
                row.id, row.place, row.hash = new_rid(), None, ""
        if kind is Vector and rows:
            n = advance_clock(self.project_id, rows[0].model)
            for row in rows:
                row.n = n if row.state in (Vector.State.READY, Vector.State.NONE) else 0
        if kind is Branch:
            schedule_pin(rows)
        insert_all(rows, ignore_conflicts=kind in SHARED)
        self._index_rows(kind, rows)

    @staticmethod
    def _index_rows(kind: Any, rows: Sequence[Any]) -> None:
        if issubclass(kind, BranchedModel):
            reindex_rows(rows)


def carried_models() -> list[type[models.Model]]:
    """Return the models that a promotion copies, parents first."""
    return in_order(apps.get_model(app, name) for app, names in PROMOTED.items() for name in names)


def keep_own_marks(rows: Sequence[Any], own: Any) -> None:
    """Keep what each store knows of a branch by itself: whether its index has it, and its quarantines."""
    marks = {pk: own_marks for pk, *own_marks in own.values_list("pk", "indexed", "masked")}
    for row in rows:
        row.indexed, row.masked = marks[row.pk]


def mask_branches(project_id: UUID) -> None:
    """Mask all branches of a project, new ones too, where anything of it is in quarantine, else none."""
    masked = HiddenVersion.objects.filter(project=project_id).exists()
    Branch.objects.filter(project=project_id).exclude(masked=masked).update(masked=masked)


def _may_change(kind: Any) -> bool:
    """Return whether commits change the model: of others the store may have newer rows."""
    return kind in (Branch, Commit, Confirmation) or issubclass(kind, BranchedModel)
