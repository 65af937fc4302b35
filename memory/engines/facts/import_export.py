"""Import and export of facts as lines of a file; a repeated import changes nothing."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.budget import take_within
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import annotate_facts
from memory.engines.facts.batch import FactBatch, WriteResult
from memory.engines.facts.import_lines import (
    DERIVED,
    LINE_FIELDS,
    Line,
    Link,
    edge_key,
    get_text_key,
    list_ids,
    list_link_ends,
    parse_links,
    place_items,
    read_verdict,
    set_metadata,
    set_path,
    sort_ids,
    was_proposed,
)
from memory.engines.facts.known_texts import ByRepository, TextKey
from memory.engines.facts.verdicts import NewVerdict, record_verdicts
from memory.engines.support import validation as c
from memory.engines.support.pagination import PAGE_BYTES
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import as_uuid, split_erased
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import BranchArchived, Day1Error, Invalid
from memory.models import Fact, FactLink

BATCH_SIZE = 1000  # lines in one commit
PAGE_SIZE = 500
Status = Fact.Status
NEW, KNOWN, BROKEN, ERASED = "new", "known", "broken", "conflict: This fact was erased."


@dataclass(frozen=True)
class Outcome:
    """Result of one line: new, known or broken, with the fact's id or the reason."""

    number: int
    state: str
    fact_id: UUID | None = None
    reason: str = ""


class DryRunView:
    """Branch as a dry run reads it: the reading part of CommitWriter, without a commit."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage, self.at = lineage, timezone.now()

    def visible_rows(self, model: Any) -> Any:
        return model.objects.in_lineage(self.lineage)


class FactImport:
    """Import run over a file. A line is identified by its ``id``, from this store or from an earlier import,
    or by its text, as with every write; so an interrupted run is simply repeated. The scope admin restores
    everything in an export, reserved values included.
    """

    source_type = Fact.SourceType.IMPORT
    accepts_proposals = True  # as every write of their text does

    def __init__(self, *, actor: Actor, branch_name: str = MAIN, message: str = "") -> None:
        actor.require_scope("write", branch_name)
        self.actor, self.branch_name, self.message = actor, branch_name, message[:500]
        self.restores = actor.has_scope("admin")
        self.batch = FactBatch((), actor, Status.ACTIVE, deduplicate=True)
        self.ids: dict[UUID, UUID] = {}  # id in the file or of an earlier import -> id in this store
        self.texts: ByRepository[TextKey, UUID] = ByRepository()  # of this run
        self.open_links: list[Link] = []
        self._loaded = False

    # ---- one batch -----------------------------------------------------------------------------

    def apply_lines(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """Store up to 1,000 numbered lines in one commit; a broken line does not stop the others. Links
        beyond the commit's limit follow in commits of their own.

        Raises BranchNotFound, BranchArchived.
        """
        where = (self.actor, self.branch_name, "fact.import", self.message)
        with open_commit(*where) as commit:
            good, outcomes, fresh = self.sort_lines(commit, lines)
            self.write_lines(commit, good, fresh)
            self._write_links(commit)
        while any(self._resolve_target(commit, link) for link in self.open_links):
            with open_commit(*where) as commit:
                self._write_links(commit)
        return outcomes

    def preview_lines(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """Preview ``apply_lines`` without writing. Raises BranchNotFound, BranchArchived."""
        branch = find_branch(self.actor, self.branch_name)
        if branch.archived_at:
            raise BranchArchived(name=branch.name)
        view = DryRunView(branch.lineage())
        _, outcomes, _ = self.sort_lines(view, lines)
        self.open_links = [link for link in self.open_links if self._resolve_target(view, link) is None]
        return outcomes

    def list_unresolved(self) -> list[Outcome]:
        """Return the links whose other end never appeared."""
        reason = "not_found: a link's to_id names no fact of the file or of this branch"
        return [Outcome(link.number, BROKEN, reason=reason) for link in self.open_links]

    # ---- sorting -------------------------------------------------------------------------------

    def sort_lines(
        self, view: Any, lines: Sequence[tuple[int, Any]]
    ) -> tuple[list[Line], list[Outcome], list[Line]]:
        """Return the storable lines, the outcome of every line, and the new lines."""
        broken: list[Outcome] = []
        good: list[Line] = []
        for number, fields in lines:
            try:
                good.append(self._parse_line(number, fields))
            except Day1Error as error:
                broken.append(Outcome(number, BROKEN, reason=f"{error.code}: {error.text}"))
        taken = place_items(Fact.objects.in_lineage(view.lineage), self.actor.project_id, good)
        self.ids |= {uid: uid for uid in taken}
        good, gone = split_erased(self.actor.project_id, good, lambda line: line.names)
        broken += [Outcome(line.number, BROKEN, reason=ERASED) for line in gone]
        sort_ids(good)
        self._load_known(view, good)
        good = self._with_parents(good, broken)
        fresh = self._match_existing(view, good)
        new = {line.number for line in fresh}
        done = [Outcome(line.number, NEW if line.number in new else KNOWN, line.uid) for line in good]
        return good, sorted([*done, *broken], key=lambda outcome: outcome.number), fresh

    def _parse_line(self, number: int, fields: Any) -> Line:
        if not isinstance(fields, Mapping):
            raise Invalid("A line must hold one JSON object.")
        fields = {name: value for name, value in fields.items() if value is not None}
        own = c.validate({name: value for name, value in fields.items() if name in LINE_FIELDS}, LINE_FIELDS)
        links = parse_links(fields.get("links", []))
        rest = {n: v for n, v in fields.items() if n not in {*LINE_FIELDS, *DERIVED, "links"}}
        row = self.batch.build_fact(rest, reserved=self.restores)
        set_path(row, own)
        line = Line(number, row, list_ids(own.get("id"), fields), row.parent_id, links)
        line.verdict = read_verdict(fields)
        set_metadata(row, own)
        row.source_type = self.source_type
        return line

    def _load_known(self, view: Any, lines: Sequence[Line]) -> None:
        """Find which ids are stored already: as facts, or as the source of imported facts."""
        requested = {name for line in lines for name in (*line.names, *list_link_ends(line))}
        self.load_imported(view, requested)
        requested -= self.ids.keys()
        shown = view.visible_rows(Fact).select_by_key(("uid",), "uid", sorted(requested))
        self.ids |= {uid: uid for (uid,) in shown}

    def load_imported(self, view: Any, requested: Collection[UUID]) -> None:
        """Find which ids are those that imported facts had where they come from: of a file all at once."""
        if self._loaded:
            return
        imported = view.visible_rows(Fact).filter(source_type__in=Fact.IMPORTED).exclude(source_id="")
        for uid, source in imported.values_list("uid", "source_id"):
            if name := as_uuid(source):
                self.ids.setdefault(name, uid)
        self._loaded = True

    def _with_parents(self, lines: list[Line], broken: list[Outcome]) -> list[Line]:
        """Drop lines whose parent is neither stored nor in this batch, and their children."""
        while True:
            existing = {name for line in lines for name in line.names} | self.ids.keys()
            lost = [line for line in lines if line.parent and line.parent not in existing]
            if not lost:
                return lines
            for line in lost:
                reason = f"invalid: There is no fact {line.parent} before this line or on this branch."
                broken.append(Outcome(line.number, BROKEN, reason=reason))
            gone = {line.number for line in lost}
            lines = [line for line in lines if line.number not in gone]

    def _match_existing(self, view: Any, lines: Sequence[Line]) -> list[Line]:
        """Set the fact id of each line, stored or new; return the new lines."""
        existing = self._same_texts(view, lines)
        fresh = []
        for line in lines:
            key = get_text_key(line)
            found = next((self.ids[name] for name in line.names if name in self.ids), None)
            where = line.row.repository or ""
            found = found or (key and (self.texts.find_value(key, where) or existing.find_value(key, where)))
            line.uid = found or line.row.uid
            if not found:
                fresh.append(line)
            if key:
                self.texts.add_value(key, where, line.uid)
            self.ids |= dict.fromkeys(line.names, line.uid)
            self.open_links += [Link(line.number, line.uid, dict(link)) for link in line.links]
        return fresh

    def _same_texts(self, view: Any, lines: Sequence[Line]) -> ByRepository[TextKey, UUID]:
        """Return ids of stored facts with these texts."""
        self.batch.rows = [line.row for line in lines if line.current]
        existing: ByRepository[TextKey, UUID] = ByRepository()
        for known in self.batch.find_existing(view).list_facts():
            existing.add_value((known.norm_hash, "current"), known.repository, known.uid)
        others = sorted({key[0] for line in lines if (key := get_text_key(line)) and not line.current})
        for fact in view.visible_rows(Fact).fetch_by_key("norm_hash", others):
            existing.add_value((fact.norm_hash, str(fact.status)), fact.repository, fact.uid)
        return existing

    # ---- writing -------------------------------------------------------------------------------

    def write_lines(self, commit: CommitWriter, lines: Sequence[Line], fresh: Sequence[Line]) -> None:
        rows = [line.row for line in fresh]
        for line in fresh:
            line.row.parent_id = self.ids[line.parent] if line.parent else None
        stated = [line for line in lines if line.row.status == Status.ACTIVE and not line.verdict]
        active = {(line.uid, line.row.norm_hash) for line in stated if self.accepts_proposals}
        for row in rows:
            if was_proposed(row, active):
                row.status = Status.ACTIVE
        self.batch.rows = rows
        self.batch.open_sessions(commit)
        commit.add_rows(rows)
        judged = [(line.row, line.verdict) for line in fresh if line.verdict]
        record_verdicts(commit, [NewVerdict(row, by=self.actor.label, **one) for row, one in judged])
        self._confirm_lines(commit, lines, {row.uid for row in rows}, active)
        self.batch.enqueue_embedding(commit, rows)
        commit.targets += [str(row.uid) for row in rows]

    def _confirm_lines(
        self, commit: CommitWriter, lines: Sequence[Line], new: set[UUID], active: set[tuple]
    ) -> None:
        """Confirm stored texts that came from another session or agent, and activate proposals, as every
        write does.
        """
        known = {line.uid: line for line in lines if line.current and line.uid not in new}
        stored = commit.visible_rows(Fact).fetch_by_key("uid", known)
        stored = [self.batch.activate_proposal(commit, f) if was_proposed(f, active) else f for f in stored]
        existing = [fact for fact in stored if fact.norm_hash == known[fact.uid].row.norm_hash]
        self.batch.rows = [known[fact.uid].row for fact in existing]
        self.batch.confirm_facts(commit, [WriteResult(fact, False) for fact in existing])

    def _write_links(self, commit: CommitWriter) -> None:
        """Write links whose ends both exist, up to the commit's limit; the others wait for a later commit."""
        waiting, ready = [], []
        for link in self.open_links:
            target = self._resolve_target(commit, link)
            (waiting.append(link) if target is None else ready.append((link, target)))
        waiting += [link for link, _ in ready[commit.remaining_rows :]]
        edges: dict[tuple, FactLink] = {}
        for link, target in ready[: commit.remaining_rows]:
            fields = {**link.fields, "to_id": target, "session_id": self.actor.session_id}
            row = FactLink(from_id=link.from_uid, **fields)
            if row.from_id != target:
                edges.setdefault(edge_key(row), row)
        from_ids = sorted({row.from_id for row in edges.values()})
        for stored in commit.visible_rows(FactLink).fetch_by_key("from_id", from_ids):
            edges.pop(edge_key(stored), None)
        commit.add_rows(list(edges.values()))
        self.open_links = waiting

    def _resolve_target(self, view: Any, link: Link) -> UUID | None:
        return self.ids.get(link.fields["to_id"])


# ---- export ----------------------------------------------------------------------------------------


def export_facts(
    *, actor: Actor, branch_name: str = MAIN, at: Any = None, include_private: bool = False
) -> Iterator[tuple[Fact, list[FactLink]]]:
    """Yield the facts that a branch shows, oldest first, each with its links, as of one moment.

    Private facts are left out by default, with all references to them. Raises BranchNotFound, Invalid.
    """
    actor.require_scope("read", branch_name)
    branch = find_branch(actor, branch_name)
    lineage = branch.lineage(resolve_point(branch, at))
    rows = Fact.objects.in_lineage(lineage)
    if not include_private:
        rows = rows.exclude(visibility=Fact.Visibility.PRIVATE)
    last = UUID(int=0)
    while facts := take_within(rows.stream(PAGE_SIZE, "uid", down=False, beyond=last), PAGE_SIZE, PAGE_BYTES):
        last = facts[-1].uid
        annotate_facts(facts, lineage, actor.project_id)
        yield from _with_links(facts, rows, lineage)


def _with_links(facts: Sequence[Fact], rows: Any, lineage: Lineage) -> Iterator[tuple[Fact, list[FactLink]]]:
    links: dict[UUID, list[FactLink]] = {fact.uid: [] for fact in facts}
    found = FactLink.objects.in_lineage(lineage).filter(from_id__in=list(links)).fetch_all()
    ends = {link.to_id for link in found} | {fact.parent_id for fact in facts if fact.parent_id}
    shown = {uid for (uid,) in rows.select_by_key(("uid",), "uid", sorted(ends))}
    for link in sorted(found, key=lambda link: link.uid):
        if link.to_type == FactLink.Target.FACT and link.to_id in shown:
            links[link.from_id].append(link)
    for fact in facts:
        fact.parent_id = fact.parent_id if fact.parent_id in shown else None
        yield fact, links[fact.uid]


def count_facts(*, actor: Actor, branch_name: str = MAIN, at: Any = None) -> int:
    """Count the facts that a branch shows, of every status."""
    actor.require_scope("read", branch_name)
    branch = find_branch(actor, branch_name)
    return Fact.objects.on(branch, resolve_point(branch, at)).count()
