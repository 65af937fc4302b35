"""Deletion of memories on a branch by tombstones, which a restore takes back; docs/decisions/0092."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_noop as _

from memory.actors import Actor, own_session
from memory.db.expressions import NotHidden
from memory.db.lineage import hides_quarantined
from memory.db.querysets import VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.embedding.enqueue import enqueue_missing
from memory.engines.erasure.engine import ErasureEngine, confirm_name
from memory.engines.erasure.scopes import project_rows
from memory.engines.facts.links import target_model
from memory.engines.fields.deletion import DROP_COPIES, DRY_DELETION, ERASE, MANY, SESSION
from memory.engines.sessions.manager import session_parts
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.support.batches import batched
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.commits import BATCH_SIZE, MAX_COMMIT_ROWS, CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids, find_hidden
from memory.engines.versions.kinds import versioned_models
from memory.engines.versions.lookup import MAIN, nearest_versions, open_point, select_tombstones
from memory.exceptions import (
    BranchArchived,
    BranchReadOnly,
    Conflict,
    DirectWritesRefused,
    IllegalTransition,
    Invalid,
    NotFound,
    StaleVersion,
    TooLarge,
)
from memory.models import OPEN, BranchedModel, Commit, Erasure, Session
from memory.models.base import ERASED_MARK
from memory.models.end_users import get_owner
from memory.texts import OWN_SUMMARY

UNCHANGED = (NotFound, BranchArchived, BranchReadOnly, DirectWritesRefused)  # an erasure is done all the same
SHOWN_IDS = 10  # of what is deleted by a filter
NOT_DELETED = _("This is not deleted.")
GONE_OWNER = _("The {kind} that this belongs to is deleted: restore that.")
GONE_SESSION = _("The session {key} is deleted: restore it, or name another one.")
PLACE_TAKEN = _("Another one has its place by now: this cannot be restored.")
ERASED = _("This was erased and cannot be restored.")


@dataclass(frozen=True)
class Deletion:
    """What was deleted, or with ``dry_run`` would be: how many, the first ids, and how many of each kind
    with what belongs to them. ``commit`` made it, on a branch; None where nothing was deleted there.
    """

    count: int
    ids: Sequence[str]
    counts: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False
    commit: Commit | None = None


def count_deleted(kind: str, keys: Sequence[Any], dry_run: bool) -> Deletion:
    """Return the report on rows without versions."""
    counts = {kind: len(keys)} if keys else {}
    return Deletion(len(keys), [str(key) for key in keys[:SHOWN_IDS]], counts, dry_run)


@retry_methods
class MemoryDeletion:
    """Deletion of memories of one model, with what belongs to them."""

    def __init__(self, model: type[BranchedModel]) -> None:
        self.model, self.kind = model, model.KIND.name

    def delete(
        self,
        *,
        uid: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        erase: Annotated[bool, ERASE] = False,
        drop_copies: Annotated[bool, DROP_COPIES] = False,
    ) -> Deletion | Erasure:
        """Delete a memory from a branch, or erase it. Raises NotFound, StaleVersion, scope and branch
        refusals, and as ``ErasureEngine.erase``.
        """
        if erase:
            return self._erase(uid, actor, branch_name, drop_copies)
        return self._hide(uid, actor, branch_name, expected_version)

    def delete_matching(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        ids: Annotated[Sequence[UUID], MANY] = (),
        filters: Any = None,
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete what fits all filters, in one commit. A dry run finds the same, and deletes nothing.

        Raises Invalid without any filter, TooLarge, scope and branch refusals.
        """
        actor.require_scope("write", branch_name, grows=False)
        require_filter(ids, filters.as_dict() if filters else {})
        with open_commit(actor, branch_name, f"{self.kind}.delete") as commit:
            rows = self._shown(commit)
            rows = filters.apply(rows) if filters else rows
            uids = sorted(uid for (uid,) in (rows.filter(uid__in=ids) if ids else rows).gather_values("uid"))
            if len(uids) > MAX_COMMIT_ROWS:
                raise TooLarge(what="The deletion", limit=f"{MAX_COMMIT_ROWS} rows")
            counts = delete_rows(commit, fetch_rows(self._shown(commit), "uid", uids), dry_run)
        return Deletion(len(uids), [str(uid) for uid in uids[:SHOWN_IDS]], counts, dry_run, commit.commit)

    def list_deleted(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        session_id: Annotated[str, SESSION] = "",
        **paging: Unpack[Paging],
    ) -> Page[Any]:
        """List what can be restored on a branch, the newest first. Raises scope and branch refusals."""
        branch, _seq = open_point(actor, branch_name, None)
        lineage = branch.lineage()
        rows = select_tombstones(lineage, self.model).filter(**actor.end_user.list_columns())
        rows = rows.filter(NotHidden()) if hides_quarantined(lineage) else rows
        rows = rows.exclude(**dict.fromkeys([self.model.KIND.title], ERASED_MARK))
        if session_id:
            rows = rows.filter(session_id=own_session(session_id, actor.end_user))
        page = paginate(rows, "-uid", **paging)
        # A nearer branch may show what is deleted on its parent.
        uids = [row.uid for row in page.results]
        shown = self.model.objects.in_lineage(lineage).select_by_key(("uid",), "uid", uids)
        back = {uid for (uid,) in shown}
        gone = [row for row in page.results if row.uid not in back]
        return replace(page, results=self.complete_rows(gone, actor, branch_name))

    def restore(self, *, uid: UUID, actor: Actor, branch_name: str = MAIN) -> Any:
        """Restore a deleted memory with what was deleted with it. Raises NotFound, IllegalTransition,
        Conflict, scope and branch refusals.
        """
        actor.require_scope("write", branch_name)
        with open_commit(actor, branch_name, f"{self.kind}.restore", bounded=False) as commit:
            gone = nearest_versions(commit.branch.lineage(), self.model, [uid]).get(uid)
            if gone is None or find_hidden([gone.vid]) or not actor.end_user.owns(gone):
                raise NotFound()
            if not gone.deleted:
                raise IllegalTransition(NOT_DELETED)
            require_home(commit, gone)
            found = {self.model: [gone], **find_parts(partial(find_tombstones, gone), self.model, [gone])}
            self.make_room(commit, gone)
            for model, rows in found.items():
                restore_versions(commit, model, rows)
            renew_summaries(commit, [row for rows in found.values() for row in rows])
            commit.targets.append(str(uid))
        return self.complete_rows(commit.list_fresh(self.model)[:1], actor, branch_name)[0]

    def make_room(self, commit: CommitWriter, gone: Any) -> None:
        """Make room for a memory that comes back. Raises Conflict."""

    def complete_rows(self, rows: list[Any], actor: Actor, branch_name: str) -> list[Any]:
        """Return rows with what is counted of them on a branch."""
        return rows

    def _hide(self, uid: UUID, actor: Actor, branch_name: str, expected_version: int | None) -> Deletion:
        actor.require_scope("write", branch_name, grows=False)
        # A memory and its parts go together, however many they are.
        with open_commit(actor, branch_name, f"{self.kind}.delete", bounded=False) as commit:
            rows = self._shown(commit).fetch_by_key("uid", [uid])
            if not rows:
                raise NotFound()
            require_version(rows[0], expected_version)
            counts = delete_rows(commit, rows)
        return Deletion(1, [str(uid)], counts, commit=commit.commit)

    def _erase(self, uid: UUID, actor: Actor, branch_name: str, drop_copies: bool) -> Erasure:
        """Erase a memory with what belongs to it, shown or deleted, on every branch, and hide it on this one
        where it can be.
        """
        forbid_patterns(actor)
        if not project_rows(self.model, actor.project_id).filter(uid=uid).exists():
            raise NotFound()
        erasure = erase_target(actor, Erasure.Scope.MEMORY, str(uid), drop_copies)
        with suppress(*UNCHANGED):
            self._hide(uid, actor, branch_name, None)
        return erasure

    def _shown(self, commit: CommitWriter) -> VersionedQuerySet:
        """Return what a reader of the branch sees: what is in quarantine is not there."""
        return self.model.objects.in_lineage(commit.branch.lineage())


def erase_target(actor: Actor, scope: str, target: str, drop_copies: bool) -> Erasure:
    """Erase by an id that a caller has named: there is nothing more to confirm."""
    confirm = confirm_name(actor.project_id, scope, target)
    return ErasureEngine().erase(
        actor=actor, scope=scope, target=target, confirm=confirm, drop_copies=drop_copies
    )


def require_filter(ids: Sequence[Any], filters: Mapping[str, Any]) -> None:
    """Refuse a deletion of everything, which nobody asks for in passing. Raises Invalid."""
    if not ids and not filters:
        raise Invalid("Say what to delete: ids, or at least one filter.", field="ids")


def require_version(row: BranchedModel, expected: int | None) -> None:
    """Raise StaleVersion unless the memory is at the version that the caller has read."""
    if expected is not None and row.version != expected:
        raise StaleVersion(StaleVersion.memory, current=row.version, expected=expected)


# ---- what belongs together ---------------------------------------------------------------------------


def captured_models() -> list[type[BranchedModel]]:
    """Return the models of what is captured of a session, owners before their parts."""
    captured = [model for model in versioned_models() if model.CAPTURED]
    return sorted(captured, key=lambda model: (bool(model.GOES_WITH), -model.KIND.rank))


def find_parts(find: Any, model: type[BranchedModel], rows: Sequence[BranchedModel]) -> dict[Any, list[Any]]:
    """Return what belongs to memories of a model, by model: ``find`` returns rows by a column."""
    found: dict[Any, list[Any]] = {}
    for part in captured_models():
        for column, kind in part.GOES_WITH.items():
            if kind == model.KIND.name and (parts := find(part, column, [row.uid for row in rows])):
                found[part] = parts
                found |= find_parts(find, part, parts)
    return found


def fetch_rows(rows: Any, column: str, values: Sequence[Any]) -> list[Any]:
    """Return the rows of a queryset by the values of a column."""
    return [
        row
        for batch in batched(values, BATCH_SIZE)
        for row in rows.filter(**{f"{column}__in": batch}).fetch_all()
    ]


def delete_rows(commit: CommitWriter, rows: Sequence[BranchedModel], dry_run: bool = False) -> dict[str, int]:
    """Write tombstones of memories of one model and of what belongs to them; return how many of each kind.

    Raises TooLarge, in a dry run too.
    """
    if not rows:
        return {}

    def find_shown(part: type[BranchedModel], column: str, uids: Sequence[UUID]) -> list[Any]:
        return fetch_rows(commit.visible_rows(part), column, uids)

    model = type(rows[0])
    found = {model: rows, **find_parts(find_shown, model, rows)}
    if sum(map(len, found.values())) > commit.remaining_rows:
        raise TooLarge(what="The deletion", limit=f"{MAX_COMMIT_ROWS} rows")
    if not dry_run:
        for batch in found.values():
            commit.add_versions([(row, {}, True) for row in batch])
        renew_summaries(commit, [row for batch in found.values() for row in batch])
        commit.targets += [str(row.uid) for row in rows]
    return dict(Counter({kind.KIND.name: len(batch) for kind, batch in found.items()}))


def renew_summaries(commit: CommitWriter, rows: Sequence[BranchedModel]) -> None:
    """Make Day1's own summaries of sessions anew, which quote messages that are gone or back."""
    keys = {row.session_id for row in rows if row.session_id}
    for session in Session.objects.filter(branch=commit.branch, key__in=keys, erased_at=None):
        for part in session_parts() if session.summary.startswith(OWN_SUMMARY) else ():
            text = part.summarise(session, commit.branch.lineage(), rows)
            if text is not None:
                Session.objects.filter(pk=session.pk).update(summary=text)


def find_tombstones(
    gone: BranchedModel, part: type[BranchedModel], column: str, uids: Sequence[UUID]
) -> list[Any]:
    """Return the open tombstones of parts that came with one of their owner."""
    rows = part._base_manager.filter(branch=gone.branch_id, seq_from=gone.seq_from, seq_to=OPEN, deleted=True)
    rows = rows.filter(**get_owner(gone).list_columns())
    return [row for batch in batched(uids, BATCH_SIZE) for row in rows.filter(**{f"{column}__in": batch})]


# ---- what comes back ---------------------------------------------------------------------------------


def require_home(commit: CommitWriter, gone: BranchedModel) -> None:
    """Refuse a restore of what belongs to something that is deleted. Raises Conflict."""
    for column, kind in gone.OWNERS.items():
        model = target_model(kind)
        if not commit.visible_rows(model).fetch_by_key("uid", [getattr(gone, column)]):
            raise Conflict(GONE_OWNER, kind=kind)
    named = Session.objects.filter(project=commit.branch.project_id, key=gone.session_id or None)
    if named.exclude(deleted_at=None).exists():
        raise Conflict(GONE_SESSION, key=gone.session_id)


def restore_versions(commit: CommitWriter, model: type[BranchedModel], rows: Sequence[BranchedModel]) -> None:
    """Write new versions over tombstones of one model. Raises Conflict."""
    if erased_uids(commit.branch.project_id, [row.uid for row in rows]):
        raise Conflict(ERASED)
    slots = [f"{commit.branch.pk}:{row.identity()}" for row in rows]
    for batch in batched(slots, BATCH_SIZE):
        if model._base_manager.filter(Q(slot__in=batch)).exists():
            raise Conflict(PLACE_TAKEN)
    fresh = commit.add_versions([(row, {}, False) for row in rows])
    if model.TEXT:
        enqueue_missing(commit, fresh)
