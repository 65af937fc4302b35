"""Facts as lines of a file: taken in so that a second time changes nothing, and given out again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines import cleaning as c
from memory.engines import fact_rules as rules
from memory.engines.belief import attach
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.embedding_run import chunks
from memory.engines.fact_batch import CURRENT, FactBatch, Written
from memory.engines.links import CHECKS as LINK_CHECKS
from memory.exceptions import BranchArchived, Day1Error, Invalid
from memory.models import Fact, FactLink

BATCH = 1000  # lines in one commit
PAGE = 500
S = Fact.Status

NEW, KNOWN, BROKEN = "new", "known", "broken"

# What a line may say beside the fields that every new fact may have.
OWN: dict[str, c.Check] = {
    "id": c.identifier,
    "status": c.one_of(S.values),
    "held_status": c.one_of(["", *S.values]),
    "created_at": c.moment,
}
# What an export tells and an import leaves to the store: it is worked out, counted or judged there.
TOLD = frozenset(
    (
        "verification_status", "verified_at", "verified_by", "verification_method", "verification_reason",
        "confirmation_count", "access_count", "last_accessed_at", "embedding_state", "embedding_model",
        "content_hash", "updated_at", "version", "branch", "source_type",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of one line: new, known or broken, with the fact's id or the reason."""

    number: int
    state: str
    fact_id: UUID | None = None
    reason: str = ""


@dataclass
class Line:
    """One line as it was read: the fact it becomes, and the ids by which it is recognised."""

    number: int
    row: Fact
    names: tuple[UUID, ...] = ()
    parent: UUID | None = None
    links: list[Mapping[str, Any]] = field(default_factory=list)
    uid: UUID | None = None  # of the stored fact

    @property
    def current(self) -> bool:
        expires = self.row.expires_at
        return self.row.status in CURRENT and (expires is None or expires > timezone.now())


@dataclass(frozen=True)
class Link:
    number: int
    from_uid: UUID
    fields: dict[str, Any]


class View:
    """A branch as a dry run sees it: what CommitWriter offers for reading, without a commit."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage, self.at = lineage, timezone.now()

    def visible(self, model: Any) -> Any:
        return model.objects.along(self.lineage)


class FactImport:
    """One run over a file. A line is known by its ``id``, from this store or from an earlier import, or by
    its text, as with every write; so a run that was cut off is simply started again. The scope admin
    brings back all that an export holds, also what only Day1 itself makes.
    """

    def __init__(self, *, actor: Actor, branch_name: str = MAIN, message: str = "") -> None:
        actor.require("write", branch_name)
        self.actor, self.branch_name, self.message = actor, branch_name, message[:500]
        self.restores = actor.can("admin")
        self.batch = FactBatch((), actor, S.ACTIVE, deduplicate=True)
        self.ids: dict[UUID, UUID] = {}  # id in the file or of an earlier import -> id here
        self.texts: dict[tuple[str, str], UUID] = {}  # (norm_hash, status) of this run
        self.open_links: list[Link] = []
        self._loaded = False

    # ---- one batch -----------------------------------------------------------------------------

    def take(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """Store up to 1,000 numbered lines in one commit; a broken line does not keep the others out.

        Raises BranchNotFound, BranchArchived.
        """
        with committing(self.actor, self.branch_name, "fact.import", self.message) as commit:
            good, outcomes, fresh = self._sorted(commit, lines)
            self._write(commit, good, fresh)
            self._write_links(commit)
        return outcomes

    def look(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """What ``take`` would do; nothing is written. Raises BranchNotFound, BranchArchived."""
        branch = find_branch(self.actor, self.branch_name)
        if branch.archived_at:
            raise BranchArchived(name=branch.name)
        view = View(branch.lineage())
        _, outcomes, _ = self._sorted(view, lines)
        self.open_links = [link for link in self.open_links if self._target(view, link) is None]
        return outcomes

    def unresolved(self) -> list[Outcome]:
        """The links whose other end never came."""
        reason = "not_found: a link's to_id names no fact of the file or of this branch"
        return [Outcome(link.number, BROKEN, reason=reason) for link in self.open_links]

    # ---- sorting -------------------------------------------------------------------------------

    def _sorted(
        self, view: Any, lines: Sequence[tuple[int, Any]]
    ) -> tuple[list[Line], list[Outcome], list[Line]]:
        """The lines that can be stored, what becomes of every line, and those that are new."""
        broken: list[Outcome] = []
        good: list[Line] = []
        for number, given in lines:
            try:
                good.append(self._line(number, given))
            except Day1Error as error:
                broken.append(Outcome(number, BROKEN, reason=f"{error.code}: {error.text}"))
        _in_order(good)
        self._load(view, good)
        good = self._with_parents(good, broken)
        fresh = self._recognise(view, good)
        new = {line.number for line in fresh}
        done = [Outcome(line.number, NEW if line.number in new else KNOWN, line.uid) for line in good]
        return good, sorted([*done, *broken], key=lambda outcome: outcome.number), fresh

    def _line(self, number: int, given: Any) -> Line:
        if not isinstance(given, Mapping):
            raise Invalid("A line must hold one JSON object.")
        given = {name: value for name, value in given.items() if value is not None}
        own = c.clean({name: value for name, value in given.items() if name in OWN}, OWN)
        links = _links(given.get("links", []))
        rest = {n: v for n, v in given.items() if n not in OWN and n not in TOLD and n != "links"}
        row = self.batch.fact(rest, reserved=self.restores)
        line = Line(number, row, _names(own.get("id"), given), row.parent_id, links)
        _dress(row, own)
        return line

    def _load(self, view: Any, lines: Sequence[Line]) -> None:
        """Learn which of the ids are here already: as facts, or as what an import was made from."""
        if not self._loaded:
            imported = view.visible(Fact).filter(source_type=Fact.SourceType.IMPORT).exclude(source_id="")
            for uid, source in imported.values_list("uid", "source_id"):
                if name := _as_uuid(source):
                    self.ids.setdefault(name, uid)
            self._loaded = True
        wanted = {name for line in lines for name in (*line.names, *_ends(line)) if name not in self.ids}
        for some in chunks(sorted(wanted), PAGE):
            for fact in view.visible(Fact).filter(uid__in=some).gather():
                self.ids[fact.uid] = fact.uid

    def _with_parents(self, lines: list[Line], broken: list[Outcome]) -> list[Line]:
        """Without the lines whose parent is neither stored nor in this batch, nor their children."""
        while True:
            here = {name for line in lines for name in line.names} | self.ids.keys()
            lost = [line for line in lines if line.parent and line.parent not in here]
            if not lost:
                return lines
            for line in lost:
                reason = f"invalid: There is no fact {line.parent} before this line or on this branch."
                broken.append(Outcome(line.number, BROKEN, reason=reason))
            gone = {line.number for line in lost}
            lines = [line for line in lines if line.number not in gone]

    def _recognise(self, view: Any, lines: Sequence[Line]) -> list[Line]:
        """Give each line the fact that it is, its own or the one stored; returns those that are new."""
        here = self._same_texts(view, lines)
        fresh = []
        for line in lines:
            key = _text_key(line)
            found = next((self.ids[name] for name in line.names if name in self.ids), None)
            found = found or (key and (self.texts.get(key) or here.get(key)))
            line.uid = found or line.row.uid
            if not found:
                fresh.append(line)
            if key:
                self.texts.setdefault(key, line.uid)
            self.ids |= dict.fromkeys(line.names, line.uid)
            self.open_links += [Link(line.number, line.uid, dict(link)) for link in line.links]
        return fresh

    def _same_texts(self, view: Any, lines: Sequence[Line]) -> dict[tuple[str, str], UUID]:
        """Stored facts with one of these texts: current ones as one kind, others by their status."""
        self.batch.rows = [line.row for line in lines if line.current]
        here = {(norm, "current"): fact.uid for (norm, _), fact in self.batch.known(view).items()}
        others = sorted({key[0] for line in lines if (key := _text_key(line)) and not line.current})
        for some in chunks(others, PAGE):
            for fact in view.visible(Fact).filter(norm_hash__in=some).gather():
                here.setdefault((fact.norm_hash, str(fact.status)), fact.uid)
        return here

    # ---- writing -------------------------------------------------------------------------------

    def _write(self, commit: CommitWriter, lines: Sequence[Line], fresh: Sequence[Line]) -> None:
        rows = [line.row for line in fresh]
        for line in fresh:
            line.row.parent_id = self.ids[line.parent] if line.parent else None
        active = {(line.uid, line.row.norm_hash) for line in lines if line.row.status == S.ACTIVE}
        for row in rows:
            if _was_proposed(row, active):
                row.status = S.ACTIVE
        commit.add(rows)
        self._confirm(commit, lines, {row.uid for row in rows}, active)
        self.batch.rows = rows
        self.batch.open_sessions(commit)
        self.batch.announce(commit, rows)
        commit.targets += [str(row.uid) for row in rows]

    def _confirm(
        self, commit: CommitWriter, lines: Sequence[Line], new: set[UUID], active: set[tuple]
    ) -> None:
        """As with every write: a text that another session or agent had stored is confirmed, and one that
        was only proposed is activated.
        """
        known = {line.uid: line for line in lines if line.current and line.uid not in new}
        stored = [
            fact
            for some in chunks(list(known), PAGE)
            for fact in commit.visible(Fact).filter(uid__in=some).gather()
        ]
        stored = [self.batch.activate(commit, f) if _was_proposed(f, active) else f for f in stored]
        here = [fact for fact in stored if fact.norm_hash == known[fact.uid].row.norm_hash]
        self.batch.rows = [known[fact.uid].row for fact in here]
        self.batch.confirm(commit, [Written(fact, False) for fact in here])

    def _write_links(self, commit: CommitWriter) -> None:
        """The links whose both ends are there now; the others wait for a later batch."""
        waiting, ready = [], []
        for link in self.open_links:
            target = self._target(commit, link)
            (waiting.append(link) if target is None else ready.append((link, target)))
        edges: dict[tuple, FactLink] = {}
        for link, target in ready:
            row = FactLink(
                from_id=link.from_uid, **{**link.fields, "to_id": target}, session_id=self.actor.session_id
            )
            if row.from_id != target:
                edges.setdefault(_edge(row), row)
        sources = sorted({row.from_id for row in edges.values()})
        for some in chunks(sources, PAGE):
            for stored in commit.visible(FactLink).filter(from_id__in=some).gather():
                edges.pop(_edge(stored), None)
        commit.add(list(edges.values()))
        self.open_links = waiting

    def _target(self, view: Any, link: Link) -> UUID | None:
        return self.ids.get(link.fields["to_id"])


# ---- giving out ------------------------------------------------------------------------------------


def export_facts(
    *, actor: Actor, branch_name: str = MAIN, at: Any = None, include_private: bool = False
) -> Iterator[tuple[Fact, list[FactLink]]]:
    """What a branch shows, the oldest first, each fact with its links, as of one moment.

    Private facts stay, and nothing that is given out points to them. Raises BranchNotFound, Invalid.
    """
    actor.require("read", branch_name)
    branch = find_branch(actor, branch_name)
    seq = point_of(branch, at)
    lineage = branch.lineage(seq)
    rows = Fact.objects.along(lineage)
    if not include_private:
        rows = rows.exclude(visibility=Fact.Visibility.PRIVATE)
    last = UUID(int=0)
    while facts := rows.newest(PAGE, after=last)[::-1]:
        last = facts[-1].uid
        attach(facts, lineage, actor.project_id)
        yield from _with_links(facts, rows, lineage)


def _with_links(facts: Sequence[Fact], rows: Any, lineage: Lineage) -> Iterator[tuple[Fact, list[FactLink]]]:
    links: dict[UUID, list[FactLink]] = {fact.uid: [] for fact in facts}
    found = FactLink.objects.along(lineage).filter(from_id__in=list(links)).gather()
    ends = {link.to_id for link in found} | {fact.parent_id for fact in facts if fact.parent_id}
    shown = {f.uid for some in chunks(sorted(ends), PAGE) for f in rows.filter(uid__in=some).gather()}
    for link in sorted(found, key=lambda link: link.uid):
        if link.to_type == FactLink.Target.FACT and link.to_id in shown:
            links[link.from_id].append(link)
    for fact in facts:
        fact.parent_id = fact.parent_id if fact.parent_id in shown else None
        yield fact, links[fact.uid]


def count_facts(*, actor: Actor, branch_name: str = MAIN, at: Any = None) -> int:
    """How many facts a branch shows, of every status."""
    actor.require("read", branch_name)
    branch = find_branch(actor, branch_name)
    return Fact.objects.on(branch, point_of(branch, at)).count()


# ---- small ones ------------------------------------------------------------------------------------


def _in_order(lines: Sequence[Line]) -> None:
    """Ids made within one millisecond have no order of their own: give them that of the lines."""
    for line, uid in zip(lines, sorted(line.row.uid for line in lines), strict=True):
        line.row.uid = uid


def _dress(row: Fact, own: Mapping[str, Any]) -> None:
    """What an import keeps and a plain write may not say: the status, and since when it is known."""
    row.source_type = Fact.SourceType.IMPORT
    row.source_id = str(own["id"]) if "id" in own else row.source_id
    row.status = own.get("status", S.ACTIVE)
    row.held_status = own.get("held_status", "") if row.status == S.ARCHIVED else ""
    if S.DONE in (row.status, row.held_status) and row.kind != Fact.Kind.TASK:
        raise Invalid("Only a fact of kind TASK can be done.", field="status")
    if row.held_status == S.ARCHIVED:
        raise Invalid("held_status is the status before archived.", field="held_status")
    if since := own.get("created_at"):
        row.created_at = _past(since)


def _past(moment: datetime) -> datetime:
    if moment > timezone.now():
        raise Invalid("created_at is in the future.", field="created_at")
    return moment


def _names(own: UUID | None, given: Mapping[str, Any]) -> tuple[UUID, ...]:
    """The ids of a line: its own, and of what it was itself imported from."""
    from_import = given.get("source_type") == Fact.SourceType.IMPORT
    before = _as_uuid(given.get("source_id")) if from_import else None
    return tuple(name for name in (own, before) if name)


def _ends(line: Line) -> Iterable[UUID]:
    return [*([line.parent] if line.parent else []), *(link["to_id"] for link in line.links)]


def _links(given: Any) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(link, Mapping) for link in given):
        raise Invalid("links must be a list of objects.", field="links")
    return [_link(link) for link in given]


def _link(given: Mapping[str, Any]) -> dict[str, Any]:
    told = ("id", "from_id", "created_at", "updated_at", "version")
    found = c.clean({n: v for n, v in given.items() if n not in told and v is not None}, LINK_CHECKS)
    if "to_id" not in found or "link_type" not in found:
        raise Invalid("A link needs to_id and link_type.", field="links")
    if found.setdefault("to_type", FactLink.Target.FACT) != FactLink.Target.FACT:
        raise Invalid("A link in a file leads to a fact.", field="links")
    rules.check_interval(found.get("valid_from"), found.get("valid_until"))
    return found


def _was_proposed(fact: Fact, active: set[tuple]) -> bool:
    """Whether a line has as active, by id and text, what is only a proposal."""
    return fact.status == S.CREATED and (fact.uid, fact.norm_hash) in active


def _edge(link: FactLink) -> tuple:
    return link.from_id, link.to_id, link.to_type, link.link_type


def _text_key(line: Line) -> tuple[str, str] | None:
    """By what text a line is recognised. One with an id that is not current is recognised by that alone."""
    if line.current:
        return line.row.norm_hash, "current"
    return None if line.names else (line.row.norm_hash, str(line.row.status))


def _as_uuid(text: Any) -> UUID | None:
    try:
        return UUID(text)
    except (TypeError, ValueError, AttributeError):
        return None
