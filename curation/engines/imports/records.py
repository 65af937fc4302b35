"""Records of another product as facts: what each keeps of its source, and what became of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.utils.text import slugify

from curation.engines.bundles.fact_imports import MAX_CONFIDENCE, ForeignFacts, load_edges
from curation.engines.fields.imports import FACT_FIELDS, FINDINGS, LINK, RECORD
from curation.engines.imports.comparison import find_pairs
from curation.engines.imports.doctor import examine_record
from curation.models import MemoryImport
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.facts.import_export import BROKEN, ERASED, NEW, Outcome
from memory.engines.facts.import_lines import Line, edge_key
from memory.engines.support import validation as c
from memory.engines.support.batches import gather_in
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.erased import as_uuid
from memory.engines.versions.lookup import select_tombstones
from memory.exceptions import Day1Error, Invalid
from memory.models import Fact, FactLink
from memory.redaction import count_marks, redact_all, redact_text

CHECKS = {one.name: one.check for one in RECORD}
LINK_CHECKS = {one.name: one.check for one in LINK.fields}
KNOWN, DUPLICATE, REFUSED, REDACTED = "known", "duplicate", "refused", "redacted"
MAX_TAGS = 40  # of the product's own: the others are of the import
SOURCE_FIELDS = ("author", "session", "origin", "updated_at", "kind")
OWNER = ("user_id", "app_id")
SAME_TEXT = "It says what this fact says."
CHANGED = "It came earlier with another text, which stands. Edit the fact where this text holds: {}"
NO_END = "not_found: a link names a record that is not on this branch."
SAME_END = "Both of its ends are one fact here."
Record = Mapping[str, Any]


@dataclass
class Tally:
    """What became of the parts of one request: counts, and those that are no fact of their own."""

    counts: Counter[str] = field(default_factory=Counter)
    named: list[dict[str, str]] = field(default_factory=list)

    def name_part(self, state: str, uid: Any, reason: str, fact: Any = "") -> None:
        self.counts[state] += 1
        own = {"id": str(uid)[:200], "state": state, "reason": reason[:300], "fact": str(fact)}
        self.named.append(own)


class ProductFacts(ForeignFacts):
    """The import of the facts of one product: known by the ids that are asked for, not by all."""

    def __init__(self, actor: Actor, branch_name: str) -> None:
        super().__init__(actor, branch_name)
        self.restores = False

    def load_imported(self, view: Any, requested: Collection[UUID]) -> None:
        missing = [str(name) for name in requested if name not in self.ids]
        rows = view.visible_rows(Fact).filter(source_type__in=Fact.IMPORTED)
        for uid, source in gather_in(rows, "source_id", missing, "uid", "source_id"):
            self.ids.setdefault(UUID(source), uid)


def derive_id(product: str, uid: str) -> UUID:
    """Return the id by which a record is known again: its own where that is one of all the world."""
    return as_uuid(uid) or uuid5(NAMESPACE_URL, f"{product}:{uid}")


class RecordArrival:
    """The records of one request. ``read_records`` and ``compare`` read only."""

    def __init__(self, actor: Actor, source: MemoryImport) -> None:
        self.source, self.tally = source, Tally()
        self.label = source.branch.name
        self.facts = ProductFacts(actor, self.label)
        self.records: dict[int, Record] = {}
        self.pairs: dict[int, tuple[str, str]] = {}
        self.findings: dict[int, list[str]] = {}

    def read_records(self, records: Sequence[Any]) -> list[tuple[int, Record]]:
        """Return the lines of the records that have the right form; the others are named."""
        lines: list[tuple[int, Record]] = []
        for number, record in enumerate(records):
            self.tally.counts["records"] += 1
            try:
                checked = self.records[number] = check_record(record)
                raw = str(record["text"])
                text = redact_text(raw)
                self.findings[number] = list(examine_record(checked, had_secret=text != raw))
                lines.append((number, self.build_line(checked, text, raw)))
            except Day1Error as error:
                uid = record.get("id", "") if isinstance(record, Mapping) else ""
                self.tally.name_part(REFUSED, uid, f"{error.code}: {error.text}")
        return lines

    def build_line(self, record: Record, text: str, raw: str) -> dict[str, Any]:
        """Return a record as a line of a file of facts, with its text without secrets."""
        self.tally.counts[REDACTED] += count_marks(text) - count_marks(raw)
        line = {name: record[name] for name in FACT_FIELDS if record.get(name) not in (None, "")}
        line["confidence"] = min(line.get("confidence", MAX_CONFIDENCE), MAX_CONFIDENCE)
        return line | {
            "id": str(derive_id(self.source.product, record["id"])),
            "fact_text": text,
            "category": slugify(record.get("kind", ""), allow_unicode=True)[:100] or "general",
            "source": str(self.source)[:200],
            "tags": record.get("tags", ())[:MAX_TAGS],
            "metadata": self.describe_source(record),
        }

    def describe_source(self, record: Record) -> dict[str, Any]:
        kept = {name: str(record[name]) for name in SOURCE_FIELDS if record.get(name) not in (None, "")}
        origin = {"product": self.source.product, "id": record["id"], **kept}
        return redact_all({**record.get("metadata", {}), "import": origin})

    def compare(self, view: Any, lines: Sequence[tuple[int, Record]]) -> None:
        """Find near duplicates and contradictions, before any lock is taken."""
        good, _outcomes, fresh = self.facts.sort_lines(view, lines)
        self.pairs = find_pairs(view.visible_rows(Fact), fresh) if good else {}

    def write(self, commit: CommitWriter, lines: Sequence[tuple[int, Record]]) -> None:
        """Write the new records, and count what becomes of each."""
        self.facts = ProductFacts(self.facts.actor, self.label)
        good, outcomes, fresh = self.facts.sort_lines(commit, lines)
        gone = find_deleted(commit.lineage, fresh)
        good, fresh = ([line for line in found if line.uid not in gone] for found in (good, fresh))
        self.facts.ids = {name: uid for name, uid in self.facts.ids.items() if uid not in gone}
        for line in fresh:
            self.flag(line)
        self.facts.write_lines(commit, good, fresh)
        stored, texts = load_stored(commit, good), {line.number: line.row.fact_text for line in good}
        for outcome in outcomes:
            if outcome.fact_id in gone:
                self.tally.counts[KNOWN] += 1
            else:
                self.count_outcome(outcome, texts.get(outcome.number, ""), stored.get(outcome.fact_id))

    def flag(self, line: Line) -> None:
        """Tag a fact with the import, and with each finding; only now, as redaction would take what stands
        behind the colon of "import/mem0-password:hostile" for a password.
        """
        finding, other = self.pairs.get(line.number, ("", ""))
        if finding:
            line.row.metadata["import"] |= {finding: other}
        findings = [*self.findings[line.number], *filter(None, [finding])]
        line.row.tags = [*line.row.tags, self.label, *(f"{self.label}:{one}" for one in findings)]

    def count_outcome(self, outcome: Outcome, text: str, stored: tuple[str, str] | None) -> None:
        """Count what became of a record, whose text may be another than that of the ``stored`` fact."""
        uid, (source, known) = self.records[outcome.number]["id"], stored or ("", text)
        if outcome.state == NEW:
            self.tally.counts[NEW] += 1
        elif outcome.state == BROKEN:
            reason = "erased: it was erased here, and does not come back." if outcome.reason == ERASED else ""
            self.tally.name_part(REFUSED, uid, reason or outcome.reason)
        elif source != str(derive_id(self.source.product, uid)):
            self.tally.name_part(DUPLICATE, uid, SAME_TEXT, outcome.fact_id)
        elif known != text:
            self.tally.name_part(REFUSED, uid, CHANGED.format(text), outcome.fact_id)
        else:
            self.tally.counts[KNOWN] += 1

    def write_links(self, commit: CommitWriter, links: Sequence[Any]) -> None:
        """Write the links whose ends have come, and are not there yet."""
        ends = [self.read_link(link) for link in links]
        self.facts.ids |= self.list_duplicates()
        self.facts.load_imported(commit, {uid for pair in ends if pair for uid in pair})
        edges: dict[tuple, FactLink] = {}
        for link, pair in zip(links, ends, strict=True):
            start, end = map(self.facts.ids.get, pair) if pair else (None, None)
            if not start or not end:
                self.tally.name_part(REFUSED, describe_link(link), NO_END)
            elif start == end:
                self.tally.name_part(REFUSED, describe_link(link), SAME_END, start)
            else:
                self.tally.counts["links"] += 1
                row = FactLink(from_id=start, to_id=end, link_type=FactLink.Type.ASSOCIATED)
                edges.setdefault(edge_key(row), row)
        stored = load_edges(commit, {row.from_id for row in edges.values()})
        commit.add_rows([row for key, row in edges.items() if key not in stored])

    def list_duplicates(self) -> dict[UUID, UUID]:
        """Return the facts that stand for records which say the same, by the ids of those."""
        named = (one for one in self.source.named if one["state"] == DUPLICATE)
        return {derive_id(self.source.product, one["id"]): UUID(one["fact"]) for one in named}

    def read_link(self, link: Any) -> tuple[UUID, UUID] | None:
        if not isinstance(link, Mapping):
            return None
        checked = c.validate(link, LINK_CHECKS)
        if not {"from", "to"} <= checked.keys():
            return None
        start, end = (derive_id(self.source.product, checked[name]) for name in ("from", "to"))
        return start, end


def describe_link(link: Any) -> str:
    return f"{link.get('from')} → {link.get('to')}" if isinstance(link, Mapping) else str(link)


def check_record(record: Any) -> Record:
    """Return a record in the form of its fields. Raises Invalid, UnknownField, TooLarge."""
    if not isinstance(record, Mapping):
        raise Invalid("A record must be an object.")
    found = c.validate({name: value for name, value in record.items() if value is not None}, CHECKS)
    for name in ("id", "text"):
        if not str(found.get(name, "")).strip():
            raise Invalid("{field} is needed.", field=name)
    return found


def find_deleted(lineage: Lineage, lines: Sequence[Line]) -> set[UUID | None]:
    """Return the ids of new lines whose fact, or another of their text and owner, was deleted on the branch:
    what somebody left out of an import does not come back with the next run.
    """
    rows = select_tombstones(lineage, Fact)
    sources = gather_in(rows, "source_id", {str(name) for line in lines for name in line.names}, "source_id")
    texts = gather_in(rows, "norm_hash", {line.row.norm_hash for line in lines}, "norm_hash", *OWNER)
    return {
        line.uid
        for line in lines
        if sources.intersection(map(str, line.names))
        or (line.row.norm_hash, line.row.user_id, line.row.app_id) in texts
    }


def load_stored(view: Any, lines: Sequence[Line]) -> dict[UUID | None, tuple[str, str]]:
    """Return the ids that the facts of some lines had at their source, and their texts."""
    ids = {line.uid for line in lines if line.uid}
    rows = view.visible_rows(Fact).select_by_key(("uid", "source_id", "fact_text"), "uid", ids)
    return {uid: (source, text) for uid, source, text in rows}


def list_findings(label: str, tags: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return how many facts have each finding, from the counts of their tags."""
    counts = dict(tags)
    return {name: counts.get(f"{label}:{name}", 0) for name in FINDINGS}
