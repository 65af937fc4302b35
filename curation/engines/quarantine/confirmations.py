"""Confirmations of a source: they count no more while it is in quarantine, wherever merges brought them."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from curation.engines.quarantine.sources import Source, is_by_source, select_commits
from curation.models import Quarantine
from memory.engines.support.batches import filter_in, gather_in
from memory.engines.versions.erased import CONFIRMATION
from memory.models import Branch, Confirmation, HiddenVersion, Session

BATCH_SIZE = 500


def hide_confirmations(quarantine: Quarantine) -> None:
    """Hide what a source has confirmed, in the whole project."""
    branches = Branch.objects.filter(project=quarantine.project_id).values_list("pk", flat=True)
    every = Confirmation.objects.filter(branch_id__in=list(branches))
    own = load_own(quarantine, every)
    pairs = {(row.uid, row.source) for row in own}
    hide_confirmation_rows(quarantine, [*own, *list_copies(every, pairs)])


def hide_given(quarantine: Quarantine, commit: Any) -> None:
    """Hide the confirmations of a commit that are the source's, or copies of its own."""
    rows = list(Confirmation.objects.filter(branch_id=commit.branch.pk, seq=commit.seq))
    names, is_own = list_names(quarantine), is_by_source(quarantine, commit)
    pairs = list_hidden_pairs(quarantine, {row.uid for row in rows})
    hide_confirmation_rows(
        quarantine, [r for r in rows if is_own or r.source in names or (r.uid, r.source) in pairs]
    )


def load_own(quarantine: Quarantine, every: QuerySet[Confirmation]) -> list[Confirmation]:
    """Return what a source confirmed itself: by its name, or in its commits.

    Each branch is asked for alone: MatrixOne finds nothing by ``branch IN`` and, further in, ``branch =``.
    """
    own = list(every.filter(source__in=list_names(quarantine)))
    commits = defaultdict[int, set[int]](set)
    for branch, seq in select_commits(quarantine).order_by().values_list("branch", "seq"):
        commits[branch].add(seq)
    for branch, seqs in commits.items():
        for part in filter_in(Confirmation.objects.filter(branch_id=branch), "seq", seqs):
            own += part
    return own


def list_names(quarantine: Quarantine) -> set[str]:
    """Return the names under which a session or an agent confirms."""
    if quarantine.source == Source.SESSION:
        return {f"session:{quarantine.target}"}
    if quarantine.source != Source.AGENT:
        return set()
    sessions = Session.objects.filter(project=quarantine.project_id, agent_id=quarantine.target)
    return {
        f"agent:{quarantine.target}",
        *(f"session:{key}" for key in sessions.values_list("key", flat=True)),
    }


def list_copies(every: QuerySet[Confirmation], pairs: set[tuple[UUID, str]]) -> list[Confirmation]:
    """Return the confirmations of the same facts by the same sources, which merges copied."""
    parts = filter_in(every, "uid", {uid for uid, _ in pairs})
    return [row for part in parts for row in part if (row.uid, row.source) in pairs]


def list_hidden_pairs(quarantine: Quarantine, uids: Iterable[UUID]) -> set[tuple[UUID, str]]:
    """Return which sources' confirmations of some facts a quarantine hides."""
    hidden = HiddenVersion.objects.filter(quarantine=quarantine.pk, kind=CONFIRMATION).values("uid")
    return gather_in(Confirmation.objects.filter(pk__in=hidden), "uid", uids, "uid", "source")


def hide_confirmation_rows(quarantine: Quarantine, rows: Iterable[Confirmation]) -> None:
    """Hide confirmations, each by its own id: it has no vid, and no version has the vid 0."""
    of = {"quarantine": quarantine.pk, "project_id": quarantine.project_id, "kind": CONFIRMATION, "vid": 0}
    ids = sorted({row.pk for row in rows})
    HiddenVersion.objects.bulk_create([HiddenVersion(**of, uid=pk) for pk in ids], batch_size=BATCH_SIZE)
