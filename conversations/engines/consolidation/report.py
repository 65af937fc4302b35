"""What a run did, read from its commits: what became of which evidence."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from conversations.engines.consolidation.answers import list_answers
from conversations.models import ConsolidationRun
from memory.engines.facts.links import describe_memories
from memory.models import Branch, Commit, Confirmation, Fact, FactLink
from memory.models.links import DERIVING

MAX_CHANGES = 200  # that an answer lists; the counts are of all
CREATED, CONFIRMED, REPEATED, MERGED = "created", "confirmed", "repeated", "merged"


@dataclass(frozen=True)
class Evidence:
    """A memory that a fact comes from, with the beginning of its text where the branch shows it."""

    kind: str
    id: UUID
    text: str


@dataclass(frozen=True)
class RunChange:
    """One fact that a run made, confirmed, saw repeated, or kept of several; with its evidence.

    ``answer`` is what a curator said of it: accepted, rejected or nothing.
    """

    action: str
    fact: Fact
    evidence: Sequence[Evidence] = ()
    superseded: Sequence[UUID] = ()
    answer: str = ""


@dataclass(frozen=True)
class ConsolidationReport:
    """A run with the first of what it changed."""

    run: ConsolidationRun
    changes: Sequence[RunChange] = ()
    durable: Sequence[UUID] = ()


@dataclass
class CommitChanges:
    """What one commit of a run did, by the facts that it touched."""

    created: set[UUID] = field(default_factory=set)
    confirmed: set[UUID] = field(default_factory=set)
    superseded: set[UUID] = field(default_factory=set)
    links: dict[UUID, list[FactLink]] = field(default_factory=lambda: defaultdict(list))

    def choose_action(self, uid: UUID) -> str:
        if uid in self.created:
            return CREATED
        if self.list_superseded(uid):
            return MERGED
        return CONFIRMED if uid in self.confirmed else REPEATED

    def list_superseded(self, uid: UUID) -> list[UUID]:
        """Return the facts whose place a fact took."""
        return [link.to_id for link in self.links.get(uid, ()) if link.to_id in self.superseded]

    @property
    def uids(self) -> list[UUID]:
        return sorted({*self.created, *self.confirmed, *self.links})


def build_report(run: ConsolidationRun) -> ConsolidationReport:
    """Return a run with what it did, as its branch showed it then: erased and hidden texts are not in it."""
    return ConsolidationReport(run, list(islice(iterate_changes(run), MAX_CHANGES)))


def iterate_changes(run: ConsolidationRun) -> Iterator[RunChange]:
    """Yield all that a run did, commit by commit."""
    ids = [UUID(uid) for uid in run.commits]
    answers = list_answers(run)
    # Those of dreaming are on a branch of their own.
    for commit in Commit.objects.filter(pk__in=ids).order_by("seq").select_related("branch"):
        yield from list_changes(commit.branch, commit.seq, answers)


def list_changes(branch: Branch, seq: int, answers: Mapping[UUID, str]) -> list[RunChange]:
    """Return what a commit of a run did."""
    made = read_commit(branch, seq)
    rows = Fact.objects.on(branch, seq).filter(uid__in=made.uids).fetch_all()
    shown = [row for row in rows if row.status != Fact.Status.SUPERSEDED]
    texts = describe_evidence(branch, seq, made.links.values())
    return [
        RunChange(
            made.choose_action(row.uid),
            row,
            list_evidence(made.links.get(row.uid, ()), texts),
            made.list_superseded(row.uid),
            answers.get(row.uid, ""),
        )
        for row in sorted(shown, key=lambda row: row.uid)
    ]


def read_commit(branch: Branch, seq: int) -> CommitChanges:
    """Return what a commit of a run did, without texts."""
    own = {"branch": branch, "seq_from": seq}
    made, parents = CommitChanges(), {}
    facts = Fact._base_manager.filter(**own, deleted=False).values_list(
        "uid", "version", "status", "parent_id"
    )
    for uid, version, status, parent_id in facts:
        if version == 1:
            made.created.add(uid)
        elif status == Fact.Status.SUPERSEDED:
            made.superseded.add(uid)
        elif parent_id:
            parents[uid] = parent_id
    for uid, parent_id in parents.items():
        if parent_id in made.superseded:  # and not one of an earlier commit
            made.links[uid].append(FactLink(to_id=parent_id, to_type=FactLink.Target.FACT))
    for link in FactLink._base_manager.filter(**own, deleted=False, link_type__in=DERIVING):
        made.links[link.from_id].append(link)
    confirmed = Confirmation.objects.filter(branch_id=branch.pk, seq=seq)
    made.confirmed = set(confirmed.values_list("uid", flat=True))
    return made


def describe_evidence(branch: Branch, seq: int, links: Iterable[Sequence[FactLink]]) -> dict[UUID, str]:
    keys = {(link.to_type, link.to_id) for several in links for link in several}
    return describe_memories(branch.lineage(seq), keys)


def list_evidence(links: Sequence[FactLink], texts: dict[UUID, str]) -> list[Evidence]:
    return [Evidence(str(link.to_type), link.to_id, texts.get(link.to_id, "")) for link in links]
