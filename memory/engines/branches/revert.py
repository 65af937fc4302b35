"""Reverts: a new commit undoes an earlier one, as long as nothing that it touched has changed since."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.raw_select import select_equal
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.branches.reverted_requests import find_merge, mark_requests
from memory.engines.embedding.enqueue import enqueue_missing
from memory.engines.facts.links import target_model
from memory.engines.support.batches import batched
from memory.engines.versions.commits import REVERT, CommitWriter, open_commit
from memory.engines.versions.kinds import versioned_models
from memory.engines.versions.lookup import nearest_versions
from memory.engines.versions.pair_answers import get_pair_answers
from memory.engines.versions.policies import Write, require_curator
from memory.exceptions import Conflict, NotFound
from memory.models import OPEN, BranchedModel, Commit, Confirmation, Fact, FactAssessment, FactLink

BATCH_SIZE = 500
OF_SESSIONS = ("session.delete", "session.restore")
MAX_NAMED_IDS = 20  # ids listed in a refusal


@retry_methods
class RevertEngine:
    def revert_commit(self, *, commit_id: UUID, actor: Actor) -> Commit:
        """Revert a commit by a new one: what it changed, verdicts, confirmations and review answers included,
        is as before; what it added is gone from the branch.

        An actor's own commit needs the scope that it took to make it, another's needs ``merge``; where direct
        writes are guarded, both need ``curate``. Raises NotFound, BranchArchived, and Conflict with the ids
        when something of it has changed since.
        """
        with write_transaction():
            commit = self._revert_commit(commit_id, actor)
            mark_requests(commit, actor)
        return commit

    def _revert_commit(self, commit_id: UUID, actor: Actor) -> Commit:
        found = self._get_commit(commit_id, actor)
        if found.kind in OF_SESSIONS:
            raise Conflict("A session is deleted and restored as a whole: do that.")
        name = found.branch.name
        actor.require_scope("write" if is_own_commit(found, actor) else "merge", name, grows=False)
        require_curator(actor, name)
        where = (actor, name, REVERT, f"Undo of commit {found.seq}.")
        with open_commit(*where, write=Write.EXEMPT, bounded=False) as commit:
            done = CommitEffects.from_commit(found)
            if done.needs_curate:
                actor.require_scope("curate", name)
            if changed := done.changed_since(commit):
                raise build_conflict(changed)
            commit.targets.append(str(found.pk))
            commit.reverts = found.pk
            done.undo_effects(commit)
        if commit.commit is None:
            raise Conflict("There is nothing to undo in this commit.")
        return commit.commit

    def revert_facts(
        self, *, found: Commit, fact_ids: Collection[UUID], kind: str, actor: Actor
    ) -> Commit | None:
        """Revert what a commit did to some facts, in a commit of its own; None where it did nothing to them.

        The rest of the commit stays, and a revert of the new one brings this part back. To be called in a
        transaction. Raises BranchArchived, scope and branch refusals, and Conflict with the ids when
        something of it has changed since.
        """
        with open_commit(actor, found.branch.name, kind, write=Write.EXEMPT, bounded=False) as commit:
            done = CommitEffects.from_commit(found).narrow(set(fact_ids))
            if changed := done.changed_since(commit):
                raise build_conflict(changed)
            done.undo_effects(commit)
            commit.targets += sorted(map(str, fact_ids))
        return commit.commit

    def get_commit(self, *, commit_id: UUID, actor: Actor) -> Commit:
        """Return a commit with its branch. Raises NotFound, BranchForbidden."""
        found = self._get_commit(commit_id, actor)
        actor.require_scope("read", found.branch.name)
        return found

    @staticmethod
    def _get_commit(commit_id: UUID, actor: Actor) -> Commit:
        commits = Commit.objects.select_related("branch").filter(branch__project=actor.project_id)
        if (found := commits.filter(pk=commit_id).first()) is None:
            raise NotFound()
        return found


def is_own_commit(commit: Commit, actor: Actor) -> bool:
    return (commit.actor_kind, commit.actor_id) == actor.identity


def build_conflict(ids: Sequence[str]) -> Conflict:
    return Conflict(
        "This cannot be undone any more: {count} of the memories that it touched changed since.",
        count=len(ids),
        changed=list(ids[:MAX_NAMED_IDS]),
    )


@dataclass
class CommitEffects:
    """Effects of a commit: the versions that it made, and what its branch showed before."""

    commit: Commit
    made: dict[type[BranchedModel], list[BranchedModel]]
    before: dict[type[BranchedModel], dict[UUID, BranchedModel]] = field(default_factory=dict)
    fact_ids: Collection[UUID] | None = None  # only the effects on these

    def narrow(self, fact_ids: Collection[UUID]) -> "CommitEffects":
        """Return the effects on some facts: their versions, their links, and all links to those it added."""
        added = {row.uid for row in self.made[Fact] if row.uid not in self.before[Fact]}
        gone = added.intersection(fact_ids)

        def belongs(row: BranchedModel) -> bool:
            return _get_fact_uid(row) in fact_ids or (isinstance(row, FactLink) and row.to_id in gone)

        made = {model: [row for row in rows if belongs(row)] for model, rows in self.made.items()}
        return CommitEffects(self.commit, made, self.before, fact_ids)

    @classmethod
    def from_commit(cls, commit: Commit) -> "CommitEffects":
        made = {
            model: _standing_versions(
                commit, list(model._base_manager.filter(branch=commit.branch, seq_from=commit.seq))
            )
            for model in versioned_models()
        }
        done = cls(commit, made)
        for model, rows in made.items():
            done.before[model] = done._shown_before(model, [row.uid for row in rows])
        return done

    def _shown_before(self, model: type[BranchedModel], uids: Sequence[UUID]) -> dict[UUID, BranchedModel]:
        rows = model.objects.in_lineage(self.commit.branch.full_lineage(self.commit.seq - 1))
        return {row.uid: row for row in rows.fetch_by_key("uid", uids)}

    # ---- checks before the revert --------------------------------------------------------------

    @property
    def needs_curate(self) -> bool:
        """Return whether reverting needs ``curate``: verdicts, review answers, archiving and restoring."""
        rows = [*self.made[Fact], *self.before[Fact].values()]
        statuses = {row.status for row in rows if isinstance(row, Fact)}
        return (
            bool(self.made[FactAssessment])
            or Fact.Status.ARCHIVED in statuses
            or get_pair_answers().find_answers(self.commit.branch_id, [self.commit.seq]).exists()
        )

    def changed_since(self, commit: CommitWriter) -> list[str]:
        """Return the ids of the facts with changes since the commit, each once."""
        since = [_get_fact_uid(row) for rows in self.made.values() for row in rows if row.seq_to != OPEN]
        since += self._built_on() + self._slots_taken() + self._owners_gone(commit)
        return [str(uid) for uid in dict.fromkeys(since)]

    def _built_on(self) -> list[UUID]:
        """Return what the commit added and a later commit judged, linked, confirmed or extended."""
        found: list[UUID] = []
        for model, rows in self.made.items():
            added = [row.uid for row in rows if row.uid not in self.before[model]]
            for batch in batched(added, BATCH_SIZE):
                found += self._owners_among(model, batch)
                found += self._confirmed_among(batch) if model is Fact else []
        return found

    def _owners_among(self, model: type[BranchedModel], uids: Sequence[UUID]) -> list[UUID]:
        """Return the memories of a model that have parts or statements from a later commit."""
        later = {"branch": self.commit.branch_id, "seq_from__gt": self.commit.seq, "seq_to": OPEN}
        found: list[UUID] = []
        for part in versioned_models():
            own = {row.rid for row in self.made[part]}  # brought back by a revert since
            for column, owner in part.OWNERS.items():
                if owner == model._meta.model_name:
                    rows = part._base_manager.filter(**later, deleted=False, **{f"{column}__in": uids})
                    found += [uid for uid, rid in rows.values_list(column, "rid") if rid not in own]
        return found

    def _confirmed_among(self, uids: Sequence[UUID]) -> list[UUID]:
        later = {"branch_id": self.commit.branch_id, "seq__gt": self.commit.seq, "seq_to": OPEN}
        return list(Confirmation.objects.filter(uid__in=uids, **later).values_list("uid", flat=True))

    def _slots_taken(self) -> list[UUID]:
        """Return reverted links or edges whose slot has been taken by another memory since."""
        found: list[UUID] = []
        for model, rows in self.made.items():
            slots = {f"{self.commit.branch_id}:{row.identity()}": row for row in self._moved_back(model)}
            own = {row.uid for row in rows}
            for batch in batched(list(slots), BATCH_SIZE):
                taken = model._base_manager.filter(slot__in=batch).values_list("slot", "uid")
                found += [_get_fact_uid(slots[slot]) for slot, uid in taken if slot and uid not in own]
        return found

    def _moved_back(self, model: type[BranchedModel]) -> list[BranchedModel]:
        """Return the versions before the commit whose slots it freed."""
        pairs = [(row, self.before[model].get(row.uid)) for row in self.made[model]]
        return [then for row, then in pairs if then and (row.deleted or row.identity() != then.identity())]

    def _owners_gone(self, commit: CommitWriter) -> list[UUID]:
        """Return owners that are gone since: a message cannot return without its conversation."""
        found: list[UUID] = []
        for model, rows in self.made.items():
            before = self.before[model]
            back = [before[row.uid] for row in rows if row.deleted and row.uid in before]
            for column, owner in model.OWNERS.items():
                owners = {getattr(row, column) for row in back}
                found += self._gone_since(commit, target_model(owner), owners)
        return found

    def _gone_since(self, commit: CommitWriter, model: type[BranchedModel], uids: set[UUID]) -> list[UUID]:
        """Return memories shown before the commit that neither are shown now nor return by the revert."""
        earlier = self._shown_before(model, sorted(uids - self.before[model].keys()))
        shown = model.objects.in_lineage(commit.lineage).select_by_key(("uid",), "uid", earlier)
        return sorted(earlier.keys() - {uid for (uid,) in shown})

    # ---- the revert ----------------------------------------------------------------------------

    def undo_effects(self, commit: CommitWriter) -> None:
        merge, stands = find_merge(self.commit)
        write: Callable[..., Sequence[Any]] = self._undo_versions
        if merge is not None:
            write = partial(self._turn_merged, _build_undone if stands else _build_redone)
        for model, rows in self.made.items():
            fresh = write(commit, rows, self.before[model])
            enqueue_missing(commit, [row for row in fresh if row.TEXT])
        self._undo_confirmations(commit)
        if self.fact_ids is None:
            undone = (self.commit.branch_id, self.commit.seq)
            commit.side_rows += get_pair_answers().undo_answers(*undone, undone_by=commit.seq)

    @staticmethod
    def _undo_versions(
        commit: CommitWriter, rows: Sequence[Any], before: dict[UUID, BranchedModel]
    ) -> Sequence[Any]:
        # Removals first: a restored memory may need the slot of one that was written later.
        commit.add_versions([(row, {}, True) for row in rows if row.uid not in before])
        return commit.add_versions(
            [(row, before[row.uid].content_values(), False) for row in rows if row.uid in before]
        )

    def _turn_merged(
        self,
        build: Callable[..., Any],
        commit: CommitWriter,
        rows: Sequence[Any],
        before: dict[UUID, BranchedModel],
    ) -> Sequence[Any]:
        """Take a merge back or bring it back: ``build`` says which versions the new ones follow."""
        former = self._load_former(rows)
        pairs = [(row, build(row, before.get(row.uid), former.get(row.uid))) for row in rows]
        # Removals first, as above.
        return commit.merge_versions(sorted(pairs, key=lambda pair: not pair[1].deleted))

    def _load_former(self, rows: Sequence[Any]) -> dict[UUID, Any]:
        """Return the versions before the commit, tombstones included."""
        lineage = self.commit.branch.lineage(self.commit.seq - 1)
        return nearest_versions(lineage, type(rows[0]), [row.uid for row in rows]) if rows else {}

    def _undo_confirmations(self, commit: CommitWriter) -> None:
        """Withdraw the confirmations that the commit gave, and renew those that it withdrew."""
        confirmations = Confirmation.objects.filter(branch_id=self.commit.branch_id)
        if self.fact_ids is not None:
            confirmations = confirmations.filter(uid__in=self.fact_ids)
        again = list(confirmations.filter(seq_to=self.commit.seq))
        self._withdraw_renewed(commit, confirmations)
        commit.side_rows += confirmations.filter(seq=self.commit.seq, seq_to=OPEN).update(seq_to=commit.seq)
        Confirmation.objects.bulk_create(
            Confirmation(
                uid=old.uid, branch_id=old.branch_id, seq=commit.seq, source=old.source, at=commit.at
            )
            for old in again
        )
        commit.side_rows += len(again)

    def _withdraw_renewed(self, commit: CommitWriter, confirmations: Any) -> None:
        """Withdraw confirmations of the commit that one revert withdrew and another one renewed."""
        withdrawn = confirmations.filter(seq=self.commit.seq).exclude(seq_to=OPEN)
        pairs = set(withdrawn.values_list("uid", "source"))
        later = confirmations.filter(seq__gt=self.commit.seq, seq_to=OPEN, uid__in={uid for uid, _ in pairs})
        reverts = _reverts_among(self.commit, sorted(set(later.values_list("seq", flat=True))))
        renewed = [one.pk for one in later if (one.uid, one.source) in pairs and one.seq in reverts]
        commit.side_rows += confirmations.filter(pk__in=renewed).update(seq_to=commit.seq)


def _build_undone(row: Any, before: Any, former: Any) -> Any:
    """Return a version with the content before a merge, a tombstone where there was none.

    It follows the ``former`` version, which may be a tombstone itself: the source's changes are none of its
    past.
    """
    undone = copy(row if before is None else before)
    undone.deleted, undone.vid, undone.merged_vid = before is None, None, None
    undone.prev_vid = None if former is None else former.vid
    undone.version = row.version + 1
    return undone


def _build_redone(row: Any, before: Any, former: Any) -> Any:
    """Return a version with the content of a merge that was taken back.

    Both are its parents: the source's changes are in its past once more.
    """
    redone = _build_undone(row, before, row)
    redone.merged_vid = None if former is None else former.vid
    return redone


def _standing_versions(commit: Commit, rows: list[BranchedModel]) -> list[BranchedModel]:
    """Return the versions of a commit; where all later changes were undone, the present one instead."""
    chains: dict[UUID, list[BranchedModel]] = {row.uid: [] for row in rows if row.seq_to != OPEN}
    for batch in batched(list(chains), BATCH_SIZE):
        later = type(rows[0])._base_manager.filter(branch=commit.branch, uid__in=batch)
        for row in later.filter(seq_from__gt=commit.seq).order_by("seq_from"):
            chains[row.uid].append(row)
    seqs = {row.seq_from for chain in chains.values() for row in chain}
    reverts = _reverts_among(commit, sorted(seqs))
    return [_present_version(row, chains.get(row.uid, []), reverts) for row in rows]


def _reverts_among(commit: Commit, seqs: Sequence[int]) -> set[int]:
    found = select_equal(Commit, ("seq",), branch=[commit.branch_id], kind=[REVERT], seq=seqs)
    return {seq for (seq,) in found}


def _present_version(row: BranchedModel, chain: Sequence[BranchedModel], reverts: set[int]) -> BranchedModel:
    """Return the last version of a chain in which each change was undone by a revert, else the row itself."""
    standing = [row]
    for one in chain:
        if one.seq_from not in reverts:
            standing.append(one)
        elif len(standing) > 1 and _is_same(one, standing[-2]):
            standing[-2:] = [one]
        else:
            return row  # the commit itself was undone
    return standing[0] if len(standing) == 1 else row


def _is_same(one: BranchedModel, two: BranchedModel) -> bool:
    return one.deleted == two.deleted and one.content_values() == two.content_values()


def _get_fact_uid(row: BranchedModel) -> UUID:
    return row.from_id if isinstance(row, FactLink) else row.uid
