"""Commits: without gaps, with their versions, and as the audit trail has them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.db.models import Count, Max

from memory.engines.audit.trail import chain_hash
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import BATCH_SIZE, walk_rows
from memory.engines.store.check.versions import MISSING_VERSION, RESTORE
from memory.engines.support.readable_rows import UNREADABLE, read_rows
from memory.engines.versions.graph import Point
from memory.engines.versions.kinds import versioned_models
from memory.models import AuditEntry, Branch, Commit, Project

ACTOR, COUNTS = ("actor_kind", "actor_id", "actor_label", "surface"), ("added", "changed", "removed")

MISSING_COMMIT = ProblemKind("missing_commit", "commits that are gone from their branch", advice=RESTORE)
CHANGED_AUDIT = ProblemKind(
    "audit_changed",
    "places of the sealed audit trail at which it is not what was sealed",
    advice="Compare the trail with a backup: somebody or something changed it after it was sealed.",
)
MISSING_AUDIT = ProblemKind(
    "audit_missing",
    "commits that the audit trail does not know",
    advice="Compare with a backup: entries of the trail are gone, or commits were written past Day1.",
)
LOST_COMMIT = ProblemKind(
    "commit_lost", "commits that the audit trail has and their branch has not", advice=RESTORE
)
CHANGED_COMMIT = ProblemKind(
    "commit_changed",
    "commits that say something else than the audit trail",
    advice="Compare with a backup: the trail is sealed, so that the commit is what was changed.",
)


# ---- gaps and versions -----------------------------------------------------------------------------


@add_check("commits", "Commits without gaps, each with the versions that it added")
def check_commits(store: CheckedStore, findings: Findings) -> None:
    whole = store.rows(Branch).filter(project__removed_at=None)  # one that is being removed has gaps
    branches = list(whole.order_by("pk").values_list("pk", "name"))
    for done, (pk, name) in enumerate(branches):
        store.tell(done, len(branches))
        with store.open_moment():
            head = store.rows(Branch).filter(pk=pk).values_list("head", flat=True).first() or 0
        for first in range(1, head + 1, BATCH_SIZE):
            with store.open_moment():
                check_span(store, pk, name, (first, min(first + BATCH_SIZE - 1, head)), findings)


def check_span(store: CheckedStore, pk: int, name: str, span: tuple[int, int], findings: Findings) -> None:
    """Check the commits of a branch from one seq to another."""
    commits = store.rows(Commit).filter(branch=pk, seq__range=span)
    known = {commit.seq: commit for commit in commits.values_list("seq", *COUNTS, named=True)}
    missing = [seq for seq in range(span[0], span[1] + 1) if seq not in known]
    for seq in missing:
        findings.add(MISSING_COMMIT, f"{name}@{seq}")
    written = count_versions(store, pk, span)
    for seq, commit in known.items():
        changes = commit.added + commit.changed + commit.removed
        # A version that its own commit changed again is a row, and counts twice.
        if written[seq] < max(commit.added, int(changes > 0)):
            made = commit.added or changes
            findings.add(
                MISSING_VERSION, f"{name}@{seq} has {written[seq]} of {made}", count=made - written[seq]
            )


def count_versions(store: CheckedStore, pk: int, span: tuple[int, int]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for model in versioned_models():
        rows = store.rows(model).filter(branch=pk, seq_from__range=span).values("seq_from")
        counts.update({row["seq_from"]: row["number"] for row in rows.annotate(number=Count("rid"))})
    return counts


# ---- the audit trail -------------------------------------------------------------------------------


@add_check("audit", "The sealed audit trail, and commits as it has them")
def check_audit(store: CheckedStore, findings: Findings) -> None:
    projects = list(store.rows(Project).filter(removed_at=None).order_by("pk").only("slug"))
    for done, project in enumerate(projects):
        store.tell(done, len(projects))
        check_chain(store, project, findings)
        check_trail(store, project, findings)


def check_chain(store: CheckedStore, project: Project, findings: Findings) -> None:
    """Find the entries of a project's chain that do not fit the one before."""
    before, expected = "", 1
    sealed = store.rows(AuditEntry).filter(project=project).exclude(place=None)
    for batch in walk_places(sealed):
        for entry in batch:
            place = entry.place or 0  # never empty: they are sealed
            if place != expected or entry.hash != chain_hash(before, expected, entry):
                proof = chain_hash("", place, entry)
                findings.add(CHANGED_AUDIT, f"{project.slug}, place {expected}", proof=proof)
            before, expected = entry.hash, place + 1


def walk_places(sealed: Any) -> Iterator[list[AuditEntry]]:
    last, ordered = 0, sealed.order_by("place")
    while keys := list(ordered.filter(place__gt=last).values_list("pk", "place")[:BATCH_SIZE]):
        last = keys[-1][1]
        yield read_rows(ordered, [pk for pk, _ in keys])[0]


def check_trail(store: CheckedStore, project: Project, findings: Findings) -> None:
    """Compare commits and entries, as of the moment in which this begins."""
    entries = store.rows(AuditEntry).filter(project=project)
    with store.open_moment():
        newest = entries.aggregate(last=Max("pk"))["last"] or 0
        branches = list(store.rows(Branch).filter(project=project).values_list("pk", "name", "head"))
    pks = {name: pk for pk, name, _ in branches}
    seen = {pk: np.zeros(head + 1, dtype=bool) for pk, _, head in branches}
    for batch in walk_rows(store, entries.filter(pk__lte=newest), findings):
        compare_entries(store, batch, pks, seen, findings)
    for pk, name, head in branches:
        known = store.rows(Commit).filter(branch=pk, seq__lte=head).values_list("seq", flat=True)
        unknown = sorted(seq for seq in known if not seen[pk][seq])
        for seq in unknown:
            findings.add(MISSING_AUDIT, f"{name}@{seq}")


def compare_entries(
    store: CheckedStore,
    entries: Sequence[AuditEntry],
    pks: dict[str, int],
    seen: dict[int, np.ndarray],
    findings: Findings,
) -> None:
    """Compare the commits that some entries tell of, and mark them as seen."""
    # Where a branch is gone, the check of references tells it.
    known = {
        (pks[entry.detail["branch"]], int(entry.detail["seq"])): entry
        for entry in entries
        if is_commit(entry) and entry.detail["branch"] in pks
    }
    commits = read_commits(store, list(known))
    for (pk, seq), entry in known.items():
        if (pk, seq) not in commits:
            findings.add(LOST_COMMIT, f"{entry.detail['branch']}@{seq}")
        elif (commit := commits[pk, seq]) and differs(commit, entry):
            findings.add(CHANGED_COMMIT, f"{entry.detail['branch']}@{seq}")
        if seq < len(seen[pk]):
            seen[pk][seq] = True


def read_commits(store: CheckedStore, points: Sequence[Point]) -> dict[Point, Commit | None]:
    """Return the commits at these points of branches; None for one that is there and cannot be read."""
    try:
        return dict(Commit.objects.using(store.alias).that_made(points))
    except UNREADABLE:
        if len(points) == 1:
            return {points[0]: None}
    half = len(points) // 2
    return read_commits(store, points[:half]) | read_commits(store, points[half:])


def is_commit(entry: AuditEntry) -> bool:
    """Return whether an entry is that of a commit: others name a branch too, and count nothing."""
    detail = entry.detail
    return isinstance(detail, dict) and {"branch", "seq", "added", "changed", "removed"} <= detail.keys()


def differs(commit: Commit, entry: AuditEntry) -> bool:
    return (
        commit.kind != entry.action
        or any(getattr(commit, name) != getattr(entry, name) for name in ACTOR)
        or any(getattr(commit, name) != entry.detail[name] for name in COUNTS)
        or commit.agent_id != entry.detail.get("agent_id", "")
        or commit.at.isoformat() != entry.detail.get("told_at", entry.at.isoformat())
    )
