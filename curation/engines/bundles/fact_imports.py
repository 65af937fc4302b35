"""What an import does with each kind of memory: sorts the items of a bundle, and writes the new ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from curation.engines.bundles import reading
from curation.engines.bundles.keys import Trust
from memory.actors import Actor
from memory.engines.facts.import_export import BROKEN, ERASED, NEW, FactImport
from memory.engines.facts.import_lines import Line, edge_key, parse_link
from memory.engines.facts.verdicts import NewVerdict, record_verdicts
from memory.engines.support import validation as c
from memory.engines.support.batches import gather_in
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Day1Error
from memory.models import Fact, FactAssessment, FactLink

ARRIVES, DUPLICATE, REFUSED = "new", "duplicate", "refused"
STATES = (ARRIVES, DUPLICATE, REFUSED)
MAX_CONFIDENCE = 0.7  # of a fact that nobody here vouches for
LINE_LENGTH = 120
ERASED_HERE = "erased: it was erased here, and does not come back."
TWICE = "twice: another item of the bundle has the same id."
CHANGED = "changed: it is here with another text, which stays."
PROPOSED = "proposed: it waits here for an answer, and stays a proposal."
INVALIDATED = FactAssessment.Status.INVALIDATED.value
OF_HERE = (
    "untrusted: it would say something of a fact that was here before, and nobody trusted has signed it."
)
NO_END = "not_found: what it links is not in the bundle or was refused."


@dataclass(frozen=True)
class ItemOutcome:
    """What becomes of one item; ``existing_id`` is that of the memory on the branch, ``id`` the bundle's."""

    kind: str
    state: str
    id: str = ""
    existing_id: str = ""
    line: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Arriving:
    """Who imports what: the name that the bundle has here, its version, and the trust in who signed it."""

    actor: Actor
    branch_name: str
    name: str
    version: int
    trust: Trust

    @property
    def label(self) -> str:
        return f"bundle {self.name} v{self.version}"


class Arrival:
    """The items of one kind. ``sort_items`` reads only, so that a dry run does the same."""

    kind = ""

    def __init__(self, arriving: Arriving) -> None:
        self.arriving = arriving
        self.outcomes: list[ItemOutcome] = []

    def sort_items(self, view: Any, items: Sequence[reading.Item], others: Mapping[str, "Arrival"]) -> None:
        """Decide on each item, as the view shows the branch; ``others`` are the kinds before."""
        raise NotImplementedError

    def write(self, commit: CommitWriter) -> None:
        """Write what is new."""
        raise NotImplementedError

    def add_outcome(
        self, state: str, item: reading.Item, existing: Any = "", line: str = "", reason: str = ""
    ) -> None:
        line = " ".join(str(line).split())[:LINE_LENGTH]
        uid = str(item.get("id", ""))[:LINE_LENGTH]
        self.outcomes.append(ItemOutcome(self.kind, state, uid, str(existing), line, reason))

    def refuse(self, item: reading.Item, error: Day1Error, line: str = "") -> None:
        self.add_outcome(REFUSED, item, line=line, reason=f"{error.code}: {error.text}")


# ---- facts -----------------------------------------------------------------------------------------


class ForeignFacts(FactImport):
    """The import of facts of elsewhere. They confirm nothing: a file is no independent source."""

    accepts_proposals = False

    def __init__(self, actor: Actor, branch_name: str) -> None:
        # They were learned in no session, by no agent and in no repository of here.
        nobody = replace(actor, session_id="", task_id="", agent_id="", bound_agent="", repository="")
        super().__init__(actor=nobody, branch_name=branch_name)


class BundleFacts(ForeignFacts):
    """The import of a bundle's facts."""

    source_type = Fact.SourceType.BUNDLE_IMPORT

    def __init__(self, arriving: Arriving) -> None:
        super().__init__(arriving.actor, arriving.branch_name)
        self.restores = self.restores or arriving.trust.is_trusted


class FactArrival(Arrival):
    kind = "facts"

    def __init__(self, arriving: Arriving) -> None:
        super().__init__(arriving)
        self.facts = BundleFacts(arriving)
        self.items: Sequence[reading.Item] = ()
        self.good: list[Line] = []
        self.fresh: list[Line] = []

    def sort_items(self, view: Any, items: Sequence[reading.Item], others: Mapping[str, Arrival]) -> None:
        self.items = items
        lines = [(number, self.build_line(item)) for number, item in self.list_single(items)]
        good, outcomes, self.fresh = self.facts.sort_lines(view, lines)
        notes = self.compare_known(view, good)
        self.good = [line for line in good if notes.get(line.number) != CHANGED]
        for one in outcomes:
            item, reason = items[one.number], notes.get(one.number, one.reason)
            state = ARRIVES if one.state == NEW else DUPLICATE
            if one.state == BROKEN or reason == CHANGED:
                state = REFUSED
            reason = ERASED_HERE if reason == ERASED else reason
            self.add_outcome(state, item, one.fact_id or "", self.find_line(item), reason)

    def list_single(self, items: Sequence[reading.Item]) -> list[tuple[int, reading.Item]]:
        """Return the numbered items, without those whose id another one has."""
        found: dict[Any, tuple[int, reading.Item]] = {}
        for number, item in enumerate(items):
            uid = as_uuid(item.get("id"))
            if uid and uid in found:
                self.add_outcome(REFUSED, item, line=self.find_line(item), reason=TWICE)
            else:
                found[uid or number] = (number, item)
        return list(found.values())

    @staticmethod
    def find_line(item: reading.Item) -> Any:
        return item.get("essence") or item.get("fact_text") or ""

    def compare_known(self, view: Any, lines: Sequence[Line]) -> dict[int, str]:
        """Return what is to be told of lines whose fact is here, as a proposal or never with their text."""
        new = {line.number for line in self.fresh}
        known = [line for line in lines if line.number not in new]
        ids = {line.uid for line in known if line.uid}
        stored = {fact.uid: fact for fact in view.visible_rows(Fact).fetch_by_key("uid", ids)}
        texts = gather_in(Fact.objects.all_versions(), "uid", ids, "uid", "norm_hash")
        found = {}
        for line in known:
            if (fact := stored.get(line.uid)) is None:
                continue
            # What this store made may differ: secrets are taken out of a bundle.
            if fact.uid not in line.names and (fact.uid, line.row.norm_hash) not in texts:
                found[line.number] = CHANGED
            elif fact.status == Fact.Status.CREATED != line.row.status:
                found[line.number] = PROPOSED
        return found

    def build_line(self, item: reading.Item) -> reading.Item:
        """Return an item as a line of a file of facts: what it says of its own trust is left out."""
        line = {
            name: item[name] for name in ("id", *reading.FACT_FIELDS, *reading.ITEM_NAMES) if name in item
        }
        line["source"] = self.arriving.label
        if item.get(reading.VERDICT) == INVALIDATED:
            line |= {name: item[name] for name in (reading.VERDICT, reading.METHOD) if name in item}
        confidence = line.get("confidence")
        if isinstance(confidence, int | float) and not self.arriving.trust.is_trusted:
            line["confidence"] = min(confidence, MAX_CONFIDENCE)
        return line

    def write(self, commit: CommitWriter) -> None:
        self.facts.write_lines(commit, self.good, self.fresh)
        if self.arriving.trust.is_trusted:
            record_verdicts(commit, self.list_verdicts())

    def list_verdicts(self) -> list[NewVerdict]:
        """Return the verdicts that a trusted signature brings: of new facts alone."""
        by = f"{self.arriving.trust.name}, {self.arriving.label}"[:200]
        stated = ((line.row, *reading.read_verdict(self.items[line.number])) for line in self.fresh)
        return [
            NewVerdict(row, status, method, f"Signed by {by}.", by)
            for row, status, method in stated
            if status in (reading.VERIFIED, reading.PLAUSIBLE)
        ]

    def count_verified(self) -> tuple[int, int]:
        """Return how many new facts stay verified, and how many are reset to unverified."""
        stated = sum(
            reading.read_verdict(self.items[line.number])[0] == reading.VERIFIED for line in self.fresh
        )
        return (stated, 0) if self.arriving.trust.is_trusted else (0, stated)


# ---- links -----------------------------------------------------------------------------------------


class LinkArrival(Arrival):
    kind = "links"

    def sort_items(self, view: Any, items: Sequence[reading.Item], others: Mapping[str, Arrival]) -> None:
        facts, messages = map_facts(others), map_messages(others)
        rows: dict[tuple, tuple[reading.Item, FactLink]] = {}
        for item in items:
            try:
                row = build_link(item, facts, messages)
            except Day1Error as error:
                self.refuse(item, error)
                continue
            if row is None:
                self.add_outcome(REFUSED, item, reason=NO_END)
            elif edge_key(row) in rows or row.from_id == row.to_id:
                self.add_outcome(DUPLICATE, item)
            else:
                rows[edge_key(row)] = (item, row)
        stored = load_edges(view, {row.from_id for _, row in rows.values()})
        own = set[UUID]() if self.arriving.trust.is_trusted else find_own(view, others)
        self.rows = []
        for key, (item, row) in rows.items():
            if key in stored:
                self.add_outcome(DUPLICATE, item)
            elif row.from_id in own:
                self.add_outcome(REFUSED, item, row.from_id, reason=OF_HERE)
            else:
                self.add_outcome(ARRIVES, item)
                self.rows.append(row)

    def write(self, commit: CommitWriter) -> None:
        commit.add_rows(self.rows)


def map_facts(others: Mapping[str, Arrival]) -> dict[UUID, UUID]:
    """Return the ids of a bundle's facts, and those that they have here."""
    facts, found = others["facts"], dict[UUID, UUID]()
    assert isinstance(facts, FactArrival)
    for line in facts.good:
        found |= dict.fromkeys(line.names, line.uid or line.row.uid)
    return found


def map_messages(others: Mapping[str, Arrival]) -> dict[UUID, UUID]:
    """Return the ids of a bundle's messages, and those that they have here."""
    found: dict[UUID, UUID] = {}
    for arrival in others.values():
        found |= getattr(arrival, "message_ids", {})
    return found


def find_own(view: Any, others: Mapping[str, Arrival]) -> set[UUID]:
    """Return those of the bundle's facts that were here before it, and that no bundle brought.

    A link says what its first end is made of or contested by, which decides on the trust in that fact: of
    a fact of here only somebody of here, or whom the project trusts, may say it.
    """
    facts = others["facts"]
    assert isinstance(facts, FactArrival)
    fresh = {line.number for line in facts.fresh}
    known = {line.uid for line in facts.good if line.uid and line.number not in fresh}
    rows = view.visible_rows(Fact).select_by_key(("uid", "source_type"), "uid", known)
    return {uid for uid, source_type in rows if source_type != Fact.SourceType.BUNDLE_IMPORT}


def build_link(
    item: reading.Item, facts: Mapping[UUID, UUID], messages: Mapping[UUID, UUID]
) -> FactLink | None:
    """Return the link of an item between memories of here; None where an end is missing. Raises Invalid."""
    kind = c.one_of(FactLink.Target.values)("to_type", item.get("to_type", FactLink.Target.FACT.value))
    names = ("to_id", "link_type", "weight", "valid_from", "valid_until")
    fields = parse_link({name: item[name] for name in names if name in item})
    ends = {FactLink.Target.FACT.value: facts, FactLink.Target.MESSAGE.value: messages}.get(kind, {})
    start, end = facts.get(c.parse_uuid("from_id", item.get("from_id"))), ends.get(fields["to_id"])
    if start is None or end is None:
        return None
    return FactLink(from_id=start, **{**fields, "to_id": end, "to_type": kind})


def load_edges(view: Any, ids: set[UUID]) -> set[tuple]:
    return {edge_key(row) for row in view.visible_rows(FactLink).fetch_by_key("from_id", ids)}
