"""What a run did, read from its commits: what became of which evidence."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from conversations.models import ConsolidationRun
from memory.engines.facts.links import describe_memories
from memory.models import Branch, Commit, Confirmation, Fact, FactLink
from memory.models.links import DERIVING

MAX_PROPOSALS = 200  # that an answer lists; the counts are of all
CREATED, CONFIRMED, REPEATED, MERGED = "created", "confirmed", "repeated", "merged"


@dataclass(frozen=True)
class Evidence:
    """A memory that a fact comes from, with the beginning of its text where the branch shows it."""

    kind: str
    id: UUID
    text: str


@dataclass(frozen=True)
class Proposal:
    """One fact that a run made, confirmed, saw repeated, or kept of several; with its evidence."""

    action: str
    fact: Fact
    evidence: Sequence[Evidence] = ()


@dataclass(frozen=True)
class ConsolidationReport:
    """A run with its first proposals."""

    run: ConsolidationRun
    proposals: Sequence[Proposal] = ()
    durable: Sequence[UUID] = ()


@dataclass
class _Made:
    """What one commit of a run did, by the facts that it touched."""

    created: set[UUID] = field(default_factory=set)
    confirmed: set[UUID] = field(default_factory=set)
    merged: set[UUID] = field(default_factory=set)
    links: dict[UUID, list[FactLink]] = field(default_factory=lambda: defaultdict(list))

    def choose_action(self, uid: UUID) -> str:
        if uid in self.created:
            return CREATED
        if uid in self.merged:
            return MERGED
        return CONFIRMED if uid in self.confirmed else REPEATED

    @property
    def uids(self) -> list[UUID]:
        return sorted({*self.created, *self.confirmed, *self.merged, *self.links})


def build_report(run: ConsolidationRun) -> ConsolidationReport:
    """Return a run with what it did, as its branch showed it then: erased and hidden texts are not in it."""
    commits = Commit.objects.filter(pk__in=[UUID(uid) for uid in run.commits]).order_by("seq")
    found: list[Proposal] = []
    for commit in commits:
        if len(found) < MAX_PROPOSALS:
            found += list_proposals(run.branch, commit.seq)
    return ConsolidationReport(run, found[:MAX_PROPOSALS])


def list_proposals(branch: Branch, seq: int) -> list[Proposal]:
    """Return what a commit of a run did."""
    made = _read_commit(branch, seq)
    rows = Fact.objects.on(branch, seq).filter(uid__in=made.uids).fetch_all()
    shown = [row for row in rows if row.status != Fact.Status.SUPERSEDED]
    texts = describe_evidence(branch, seq, made.links.values())
    return [
        Proposal(made.choose_action(row.uid), row, list_evidence(made.links.get(row.uid, ()), texts))
        for row in sorted(shown, key=lambda row: row.uid)
    ]


def _read_commit(branch: Branch, seq: int) -> _Made:
    own = {"branch": branch, "seq_from": seq}
    made = _Made()
    facts = Fact._base_manager.filter(**own, deleted=False).values_list(
        "uid", "version", "status", "parent_id"
    )
    for uid, version, status, parent_id in facts:
        if version == 1:
            made.created.add(uid)
        elif status != Fact.Status.SUPERSEDED and parent_id:
            made.links[uid].append(FactLink(to_id=parent_id, to_type=FactLink.Target.FACT))
    for link in FactLink._base_manager.filter(**own, deleted=False, link_type__in=DERIVING):
        made.links[link.from_id].append(link)
    made.merged = {uid for uid, links in made.links.items() if any(one.to_type == "fact" for one in links)}
    confirmed = Confirmation.objects.filter(branch_id=branch.pk, seq=seq)
    made.confirmed = set(confirmed.values_list("uid", flat=True))
    return made


def describe_evidence(branch: Branch, seq: int, links: Iterable[Sequence[FactLink]]) -> dict[UUID, str]:
    keys = {(link.to_type, link.to_id) for several in links for link in several}
    return describe_memories(branch.lineage(seq), keys)


def list_evidence(links: Sequence[FactLink], texts: dict[UUID, str]) -> list[Evidence]:
    return [Evidence(str(link.to_type), link.to_id, texts.get(link.to_id, "")) for link in links]
