"""Imports of bundles: one commit on a branch, or the report of what it would write."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from curation.engines.bundles.conversation_imports import ConversationArrival, RelationArrival
from curation.engines.bundles.document import MAX_NAMED, Document
from curation.engines.bundles.fact_imports import (
    DUPLICATE,
    REFUSED,
    STATES,
    Arrival,
    Arriving,
    FactArrival,
    ItemOutcome,
    LinkArrival,
)
from curation.engines.bundles.keys import Trust, judge_signature
from curation.engines.bundles.reading import check_content
from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.branches.manager import BranchManager, check_name
from memory.engines.facts.import_export import DryRunView
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import MAIN, find_branch, require_live
from memory.engines.versions.policies import Write, check_direct_write
from memory.exceptions import Conflict
from memory.models import Branch, Commit

KIND = "bundle.import"
PREFIX = "bundle/"
MAX_LISTED = 100  # items that a report names, of those that are not new
UNTRUSTED = "Nobody whom this project trusts has signed the bundle: its facts are unverified here."
DROPPED = "These fields are not known here and were dropped: {names}."
ARRIVALS = (FactArrival, ConversationArrival, LinkArrival, RelationArrival)  # links are between the others
ALL_KINDS = ("facts", "conversations", "messages", "links", "relations")


@dataclass(frozen=True)
class ImportReport:
    """What an import did, or would do: counts by kind and state, and the items that are not new.

    ``name`` is what the bundle is called here, which an upload may choose.
    """

    name: str
    version: int
    sha256: str
    branch_name: str
    creates_branch: bool
    dry_run: bool
    trust: Trust
    counts: dict[str, dict[str, int]]
    verified: int = 0
    reset: int = 0
    listed: Sequence[ItemOutcome] = ()
    warnings: Sequence[str] = ()
    dropped: Sequence[str] = ()  # the first fields that nobody knows
    commit: Commit | None = None
    lines: Sequence[str] = field(default_factory=list)  # of the first new facts

    @property
    def duplicates(self) -> list[ItemOutcome]:
        return [one for one in self.listed if one.state == DUPLICATE][:MAX_LISTED]

    @property
    def refused(self) -> list[ItemOutcome]:
        return [one for one in self.listed if one.state == REFUSED][:MAX_LISTED]

    @property
    def new_count(self) -> int:
        return sum(states["new"] for states in self.counts.values())


def name_import_branch(name: str, version: int) -> str:
    """Return the branch on which a bundle arrives where none is named: apart from all others."""
    return f"{PREFIX}{name}/v{version}"


def import_document(
    document: Document, actor: Actor, *, branch_name: str, name: str, dry_run: bool, require_trusted: bool
) -> ImportReport:
    """Import a checked document, or tell what that would do.

    Raises Conflict where trust is required and there is none, BranchNotFound, BranchArchived, BranchReadOnly,
    DirectWritesRefused, TooLarge, scope and branch refusals.
    """
    check_content(document.content)
    trust = judge_signature(actor.project_id, document)
    if require_trusted and not trust.is_trusted:
        raise Conflict("The bundle is not signed by a key that this project trusts.", field="signature")
    target = branch_name or name_import_branch(name, document.version)
    actor.require_scope("write", check_name(target))
    arriving = Arriving(actor, target, name, document.version, trust)
    is_new = not branch_name and not Branch.objects.filter(project=actor.project_id, name=target).exists()
    if dry_run:
        return preview_import(document, arriving, is_new)
    return write_import(document, arriving, is_new)


def preview_import(document: Document, arriving: Arriving, is_new: bool) -> ImportReport:
    """Sort all items as the branch is now; nothing is written."""
    branch = require_live(find_branch(arriving.actor, MAIN if is_new else arriving.branch_name))
    check_direct_write(arriving.actor, arriving.branch_name, Write.CHANGE)
    arrivals = sort_items(document, arriving, DryRunView(branch.lineage()))
    return build_report(document, arriving, arrivals, is_new)


def write_import(document: Document, arriving: Arriving, is_new: bool) -> ImportReport:
    """Sort all items under the branch's lock, and write the new ones in one commit."""
    actor, name = arriving.actor, arriving.branch_name
    with write_transaction():
        if is_new:
            BranchManager().create_branch(name=name, purpose=f"Import of the {arriving.label}", actor=actor)
        with open_commit(actor, name, KIND, f"Import of the {arriving.label}") as commit:
            commit.detail = {"bundle": arriving.label, "sha256": document.sha256}
            commit.detail["trust"] = arriving.trust.state
            arrivals = sort_items(document, arriving, commit)
            for arrival in arrivals.values():
                arrival.write(commit)
    return replace(build_report(document, arriving, arrivals, is_new), dry_run=False, commit=commit.commit)


def sort_items(document: Document, arriving: Arriving, view: Any) -> dict[str, Arrival]:
    arrivals: dict[str, Arrival] = {}
    for kind in ARRIVALS:
        arrival = kind(arriving)
        arrival.sort_items(view, document.content[kind.kind], arrivals)
        arrivals[kind.kind] = arrival
    return arrivals


def list_warnings(document: Document, arriving: Arriving) -> list[str]:
    """Return what the importer is to know: that nobody trusted signed it, and what was dropped."""
    warnings = [] if arriving.trust.is_trusted else [UNTRUSTED]
    if document.dropped:
        more = len(document.dropped) - MAX_NAMED
        names = ", ".join(document.named_dropped) + (f" and {more} more" if more > 0 else "")
        warnings.append(DROPPED.format(names=names))
    return warnings


def build_report(
    document: Document,
    arriving: Arriving,
    arrivals: dict[str, Arrival],
    is_new: bool,
) -> ImportReport:
    """Return the report of a dry run."""
    outcomes = [one for arrival in arrivals.values() for one in arrival.outcomes]
    tally = Counter((one.kind, one.state) for one in outcomes)
    facts = arrivals["facts"]
    assert isinstance(facts, FactArrival)
    verified, reset = facts.count_verified()
    return ImportReport(
        name=arriving.name,
        version=arriving.version,
        sha256=document.sha256,
        branch_name=arriving.branch_name,
        creates_branch=is_new,
        dry_run=True,
        trust=arriving.trust,
        counts={kind: {state: tally[kind, state] for state in STATES} for kind in ALL_KINDS},
        verified=verified,
        reset=reset,
        listed=[one for one in outcomes if one.state in (DUPLICATE, REFUSED)],
        warnings=list_warnings(document, arriving),
        dropped=document.named_dropped,
        lines=[line.row.essence for line in facts.fresh],
    )
