"""Imports from other products: begun on a branch apart, filled in portions, finished, proposed for main."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_noop as _

from curation.engines.bundles.conversation_imports import RelationArrival
from curation.engines.bundles.fact_imports import REFUSED, Arriving
from curation.engines.bundles.keys import UNSIGNED, Trust
from curation.engines.fields.imports import (
    BROKEN,
    IMPORT,
    IMPORT_FILTERS,
    LEFT_OUT,
    LINKS,
    MAX_BROKEN,
    RECORDS,
    RELATIONS,
    RUN,
    SKIPPED,
    TITLE,
    WITHOUT,
)
from curation.engines.imports.records import RecordArrival, Tally, list_findings
from curation.engines.orders import IMPORTS
from curation.models import MemoryImport
from memory.actors import Actor
from memory.db.fields import dumps
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.manager import BranchManager
from memory.engines.deletion.memories import delete_rows
from memory.engines.facts.filters import tag_condition
from memory.engines.facts.import_export import DryRunView
from memory.engines.facts.tags import TagEngine
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import MAIN, find_branch, require_live
from memory.exceptions import (
    BranchExists,
    BranchForbidden,
    Conflict,
    IllegalTransition,
    Invalid,
    NotFound,
)
from memory.models import Fact, MergeRequest

KIND = "memory.import"
PREFIX = "import/"
PART_PREFIX = "-part-"  # before the number of a branch, of a file that one has no room for
SLUG_LENGTH = 50
# Records and places that a report names, all of a branch that the command line sent; all are counted.
MAX_NAMED = 3000
CHECKS = IMPORT.field_checks(Use.CREATE)
FILTERS = make_filter_checks(IMPORT_FILTERS)
State = MemoryImport.State
START = ("records", "new", "known", "duplicate", "refused", "links", "relations", "redacted", "broken")
FOREIGN = _("This branch was not made by an import: name another, or none.")
OTHER_PRODUCT = _("This branch has an import from {product}: name another, or none.")
OTHER_RUN = _("Another run of this import has begun since: it goes on, and this one ends.")


@dataclass(frozen=True)
class ImportReport:
    """An import with what a doctor found of its facts: finding -> how many have it now."""

    row: MemoryImport
    findings: Mapping[str, int]
    facts: int  # that its branch shows of it now


@retry_methods
class ImportEngine:
    def begin_import(self, *, product: str, actor: Actor, file: str = "", branch: str = "") -> MemoryImport:
        """Begin an import, or begin the same one again: its counts start anew, its facts stay.

        The branch is made of main, and holds nothing but imports. ``run`` of the counts names this run, which
        ends where another begins. Raises Invalid, Conflict, BranchArchived, scope and branch refusals.
        """
        actor.require_scope("write")
        values = c.validate({"product": product, "file": file, "branch": branch}, CHECKS)
        name = values["branch"] or name_branch(values["product"], values["file"])
        actor.require_scope("write", name)
        with write_transaction():
            row = find_begun(actor, name, values["product"]) or make_import(actor, name, values)
            run = row.counts.get("run", 0) + 1
            row.state, row.counts, row.named = State.READING, {**dict.fromkeys(START, 0), "run": run}, []
            save_import(actor, row)
        return row

    def write_records(
        self,
        *,
        import_id: UUID,
        actor: Actor,
        records: Annotated[Sequence[Any], RECORDS] = (),
        relations: Annotated[Sequence[Any], RELATIONS] = (),
        links: Annotated[Sequence[Any], LINKS] = (),
        run: Annotated[int | None, RUN] = None,
    ) -> MemoryImport:
        """Write records on the branch of an import, in one commit. Those that are there already add nothing;
        one of a wrong form stops no other. Raises NotFound, IllegalTransition, Conflict for a ``run`` that
        another one has followed, scope and branch refusals.
        """
        row = self._find_open(import_id, actor, run)
        arrival = RecordArrival(actor, row)
        lines = arrival.read_records(RECORDS.check("records", records))
        links = LINKS.check("links", links)
        branch = require_live(find_branch(actor, row.branch.name))
        arrival.compare(DryRunView(branch.lineage()), lines)
        with write_transaction():
            with open_commit(actor, branch.name, KIND, f"Import of {row}") as commit:
                arrival.write(commit, lines)
                write_relations(commit, row, relations, arrival.tally)
                arrival.write_links(commit, links)
            row = self._find_open(import_id, actor, run)  # another request may have written since
            add_tally(actor, row, arrival.tally)
        return row

    def finish_import(
        self,
        *,
        import_id: UUID,
        actor: Actor,
        skipped: Annotated[Mapping[str, int] | None, SKIPPED] = None,
        broken: Annotated[Sequence[Any], BROKEN] = (),
        run: Annotated[int | None, RUN] = None,
    ) -> ImportReport:
        """Finish an import with what its reader could not read. Raises NotFound, IllegalTransition, Conflict
        for a ``run`` that another one has followed, scope refusals.
        """
        counts = check_counts("skipped", skipped or {})
        tally = Tally()
        for one in BROKEN.check("broken", list(broken))[:MAX_BROKEN]:
            place = f"{one.get('file', '')}:{one.get('line', 0)}"
            tally.name_part("broken", place, str(one.get("reason", "")))
        with write_transaction():
            row = self._find_open(import_id, actor, run)
            row.state = State.PROPOSED if has_open_request(row) else State.FINISHED
            row.counts = {**row.counts, "skipped": counts}
            add_tally(actor, row, tally)
        return self._report(row, actor)

    def propose_import(
        self,
        *,
        import_id: UUID,
        actor: Actor,
        without: Annotated[Sequence[str] | None, WITHOUT] = None,
        title: Annotated[str, TITLE] = "",
    ) -> MergeRequest:
        """Delete what has one of some findings on the branch, and open a merge request for the rest.

        A revert of that commit brings them back. Raises NotFound, IllegalTransition for one that is not
        finished, Exists while a request is open, scope and branch refusals.
        """
        row = find_import(actor, import_id)
        if row.state == State.READING:
            raise IllegalTransition("This import has not ended: run it again first.")
        names = WITHOUT.check("without", list(LEFT_OUT if without is None else without))
        branch = row.branch.name
        with write_transaction():
            delete_flagged(actor, branch, names)
            request = MergeRequestEngine().create_request(
                source=branch, actor=actor, target=MAIN, title=title or f"Import of {row}"[:200]
            )
            row.state, row.request = State.PROPOSED, request.pk
            save_import(actor, row)
        return request

    # ---- reading -------------------------------------------------------------------------------

    def get_import(self, *, import_id: UUID, actor: Actor) -> ImportReport:
        """Return an import with its report. Raises NotFound, BranchForbidden."""
        actor.require_scope("read")
        return self._report(find_import(actor, import_id), actor)

    def list_parts(self, row: MemoryImport, *, actor: Actor) -> list[MemoryImport]:
        """Return the imports of all branches onto which one file went, in their order."""
        first = row.branch.name.rpartition(PART_PREFIX)[0] or row.branch.name
        rows = list_visible(actor).filter(product=row.product)
        of_file = Q(branch__name=first) | Q(branch__name__startswith=f"{first}{PART_PREFIX}")
        return list(rows.filter(of_file).order_by("pk"))

    def list_imports(
        self, *, actor: Actor, product: str = "", state: str = "", **paging: Unpack[Sorting]
    ) -> Page[MemoryImport]:
        """List the imports of branches that the actor may use, the newest first."""
        actor.require_scope("read")
        values = c.drop_empty(c.validate({"product": product, "state": state}, FILTERS))
        rows = list_visible(actor).filter(**values)
        return paginate(rows, IMPORTS, **paging)

    def count_imports(self, *, actor: Actor) -> dict[str, int]:
        """Return how many imports the actor may see, by state."""
        actor.require_scope("read")
        counts = list_visible(actor).order_by().values_list("state").annotate(n=Count("pk"))
        return dict.fromkeys(State.values, 0) | dict(counts)

    def _report(self, row: MemoryImport, actor: Actor) -> ImportReport:
        branch = row.branch.name
        tags = TagEngine().list_tags(actor=actor, branch_name=branch, prefix=f"{branch}:").tags
        facts = Fact.objects.on(row.branch).filter(tag_condition(dumps(branch))).count()
        return ImportReport(row, list_findings(branch, tags), facts)

    def _find_open(self, import_id: UUID, actor: Actor, run: int | None) -> MemoryImport:
        actor.require_scope("write")
        row = find_import(actor, import_id)
        actor.require_scope("write", row.branch.name)
        if row.state != State.READING:
            raise IllegalTransition("This import has ended: begin it again.")
        if run not in (None, row.counts.get("run")):
            raise Conflict(OTHER_RUN)
        return row


# ---- rows ------------------------------------------------------------------------------------------


def name_branch(product: str, file: str) -> str:
    """Return the branch on which a file arrives where none is named: the same for the same name."""
    stem = slugify(file.rsplit(".", 1)[0])[:SLUG_LENGTH].strip("-_")
    return f"{PREFIX}{product}-{stem}" if stem else f"{PREFIX}{product}"


def find_begun(actor: Actor, name: str, product: str) -> MemoryImport | None:
    """Return the import of a branch. Raises Invalid for one of another product, whose ids mean others."""
    rows = MemoryImport.objects.filter(project=actor.project_id, branch__name=name)
    found = rows.select_related("branch").first()
    if found and found.product != product:
        raise Invalid(OTHER_PRODUCT, product=found.product, field="branch")
    return found


def make_import(actor: Actor, name: str, values: Mapping[str, Any]) -> MemoryImport:
    """Make a branch and its import. Raises Invalid for a branch that something else has made."""
    at = actor.write_time()
    own = {"product": values["product"], "file": values["file"]}
    row = MemoryImport(project_id=actor.project_id, **own, created_at=at, created_by=actor.label)
    try:
        row.branch = BranchManager().create_branch(name=name, purpose=f"Import of {row}"[:500], actor=actor)
    except BranchExists:
        raise Invalid(FOREIGN, field="branch") from None
    record_entry(actor, "import.begin", name, own)
    return row


def save_import(actor: Actor, row: MemoryImport) -> None:
    row.updated_at = actor.write_time()
    row.save()


def has_open_request(row: MemoryImport) -> bool:
    open_ones = MergeRequest.objects.filter(state__in=MergeRequest.PENDING)
    return row.request is not None and open_ones.filter(pk=row.request).exists()


def add_tally(actor: Actor, row: MemoryImport, tally: Tally) -> None:
    """Add what became of the parts of one request to what is known of the others."""
    counts = {name: row.counts.get(name, 0) + number for name, number in tally.counts.items()}
    row.counts = {**row.counts, **counts}
    row.named = [*row.named, *tally.named][:MAX_NAMED]
    save_import(actor, row)


def write_relations(commit: Any, row: MemoryImport, items: Sequence[Any], tally: Tally) -> None:
    """Write the edges between entities that are new, and name those that are refused."""
    arriving = Arriving(commit.actor, row.branch.name, str(row), 0, Trust(UNSIGNED))
    arrival = RelationArrival(arriving)
    arrival.sort_items(commit, RELATIONS.check("relations", list(items)), {})
    arrival.write(commit)
    for one in arrival.outcomes:
        if one.state == REFUSED:
            tally.name_part(REFUSED, one.line, one.reason)
    tally.counts["relations"] += sum(one.state != REFUSED for one in arrival.outcomes)


def delete_flagged(actor: Actor, branch: str, findings: Sequence[str]) -> None:
    """Delete the facts of an import that have one of some findings, in one commit."""
    if not findings:
        return
    flagged = Q()
    for name in findings:
        flagged |= tag_condition(dumps(f"{branch}:{name}"))
    with open_commit(actor, branch, "fact.delete", "Left out of the import") as commit:
        delete_rows(commit, commit.visible_rows(Fact).filter(flagged).fetch_all())


def check_counts(name: str, value: Any) -> dict[str, int]:
    """Return reasons with how many records each kept away. Raises Invalid."""
    found = SKIPPED.check(name, value)
    if not all(isinstance(number, int) and number >= 0 for number in found.values()):
        raise Invalid("{field} must hold numbers.", field=name)
    return dict(found)


def list_visible(actor: Actor) -> QuerySet[MemoryImport]:
    """Return the project's imports on branches that the actor may use."""
    rows = MemoryImport.objects.filter(project=actor.project_id).select_related("branch")
    return filter_allowed_branches(rows, actor)


def find_import(actor: Actor, import_id: UUID) -> MemoryImport:
    """Return an import of the actor's project. Raises NotFound, BranchForbidden."""
    rows = MemoryImport.objects.filter(project=actor.project_id, pk=c.parse_uuid("id", import_id))
    found = rows.select_related("branch").first()
    if found is None:
        raise NotFound("There is no import with this id.")
    if not actor.may_use(found.branch.name):
        raise BranchForbidden("This import is on a branch that this key may not use.")
    return found
