"""What is written while something is in quarantine: a source's new memory is hidden too, and what follows."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from curation.engines.quarantine.confirmations import hide_given
from curation.engines.quarantine.derivation import COPIED, Derivation, Edge, Statement
from curation.engines.quarantine.documents import hide_brought, mark_documents
from curation.engines.quarantine.sources import BUNDLE_IMPORT, is_by_source, is_own, list_active
from curation.models import Quarantine
from memory.engines.versions.erased import as_uuid
from memory.engines.versions.kinds import models_by_kind
from memory.models import BranchedModel, Fact, FactLink, Session
from memory.models.links import DERIVING


class QuarantineMasker:
    """The CommitMasker of quarantines, which DAY1["commit_maskers"] names."""

    def mask_commit(self, commit: Any, rows: Sequence[BranchedModel]) -> None:
        active = list_active(commit.branch.project_id)
        reaches_back = [mask_for(quarantine, commit, rows) for quarantine in active]
        if any(reaches_back):
            mark_documents(commit.branch.project_id)  # an older version came to be hidden
        for quarantine in active:
            if commit.kind == BUNDLE_IMPORT and is_by_source(quarantine, commit):
                hide_brought(quarantine, commit.message)  # the commit is not stored yet


def mask_for(quarantine: Quarantine, commit: Any, rows: Sequence[BranchedModel]) -> bool:
    """Hide what a quarantine hides of a commit; return whether that reaches what was there before."""
    if commit.side_rows:
        hide_given(quarantine, commit)
    own, reaches_back = mask_rows(quarantine, commit, rows)
    if own:
        keys = {commit.actor.session_id, *(row.session_id for row in own)} - {""}
        Session.objects.filter(project=commit.branch.project_id, key__in=keys).update(hidden=True)
    return reaches_back


def mask_rows(
    quarantine: Quarantine, commit: Any, rows: Sequence[BranchedModel]
) -> tuple[list[BranchedModel], bool]:
    """Hide what of a commit is the source's or derived.

    Return what is the source's, and whether links or copies hide more.
    """
    derivation, hidden = Derivation(quarantine), set[int]()
    derivation.reverts |= {(commit.branch.pk, commit.seq)} if commit.reverts else set()
    own = [row for row in rows if row.rid == row.vid and is_own(quarantine, commit, row)]
    hide_each(derivation, own, hidden)
    while fresh := list(find_following(derivation, rows, hidden)):
        hide_each(derivation, fresh, hidden)
    links = list_edges(derivation, [row for row in rows if row.vid not in hidden and row.rid == row.vid])
    if reaches_back := bool(derivation.hide_edges(links)):
        derivation.spread()  # what came of them may be on any branch
    return own, reaches_back


def hide_each(derivation: Derivation, rows: Sequence[BranchedModel], hidden: set[int]) -> None:
    for kind, model in models_by_kind().items():
        derivation.hide(kind, [row for row in rows if type(row) is model])
    hidden |= {row.vid for row in rows}


def find_following(
    derivation: Derivation, rows: Sequence[BranchedModel], hidden: set[int]
) -> Iterator[BranchedModel]:
    """Yield rows that follow hidden versions of the same memory and are not hidden yet."""
    for model in models_by_kind().values():
        if not model.DERIVES_FROM_PREVIOUS:
            continue
        own = [row for row in rows if type(row) is model and row.vid not in hidden]
        vids = (
            {one.vid for one in derivation.follow_versions(model, [row.uid for row in own])} if own else set()
        )
        yield from (row for row in own if row.vid in vids)


def list_edges(derivation: Derivation, rows: Sequence[BranchedModel]) -> list[Edge]:
    """Return what rows that are not hidden are the first to say of the sources of facts."""
    facts = [row for row in rows if isinstance(row, Fact)]
    replacing = [state(row, row.uid, row.parent_id) for row in facts if row.parent_id]
    copies = [state(row, row.uid, row.source_id) for row in facts if row.source_type in COPIED]
    links = [
        row for row in rows if isinstance(row, FactLink) and row.link_type in DERIVING and not row.deleted
    ]
    made = [state(row, row.from_id, row.to_id, row.to_type) for row in links]
    named = derivation.drop_repeated(Fact, "parent_id", replacing)
    named += derivation.drop_repeated(FactLink, "to_id", made)
    copied = derivation.drop_repeated(Fact, "source_id", [one for one in copies if as_uuid(one.source)])
    edges = [one.build_edge(one.source) for one in named]
    return edges + [one.build_edge(UUID(str(as_uuid(one.source))), copied=True) for one in copied]


def state(row: Any, uid: UUID, source: Any, kind: str = "fact") -> Statement:
    return Statement(uid, kind, source, row.branch_id, row.seq_from, row.prev_vid, row.merged_vid)
