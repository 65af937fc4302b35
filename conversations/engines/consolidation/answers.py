"""What curators say of single changes of a run: kept in its row, and what was taken away stays away."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.engines.versions.lookup import find_reverted
from memory.models import Branch, Commit, Fact, FactLink

ACCEPTED, REJECTED = "accepted", "rejected"
Level, State = ConsolidationRun.Level, ConsolidationRun.State
FACT_LEVELS = (Level.AGENT.value, Level.TASK.value)


def list_answers(run: ConsolidationRun) -> dict[UUID, str]:
    """Return what was said of the facts of a run, without what was taken back."""
    undone = find_reverted(list_answer_commits(run))
    return {
        UUID(uid): one["answer"]
        for uid, one in run.answers.items()
        if undone.isdisjoint(map(UUID, one["commits"]))
    }


def list_answer_commits(run: ConsolidationRun) -> list[UUID]:
    ids = dict.fromkeys(uid for one in run.answers.values() for uid in one["commits"])
    return [UUID(uid) for uid in ids]


def store_answers(
    run: ConsolidationRun, uids: Collection[UUID], answer: str, commits: Sequence[Commit], actor: Actor
) -> None:
    """Keep what was said of some facts of a run, with the commits that did it."""
    made = [str(one.pk) for one in commits]  # none where a fact was verified already
    row = {"answer": answer, "by": actor.label[:200], "at": timezone.now().isoformat()}
    before = {uid: run.answers.get(str(uid), {}).get("commits", []) for uid in uids}
    rows = {str(uid): {**row, "commits": [*before[uid], *made]} for uid in uids}
    run.answers = {**run.answers, **rows}
    run.save(update_fields=["answers"])


# ---- what was taken away -------------------------------------------------------------------------------


class Withdrawal:
    """The commits of a run of which all was undone, or only what they did to some facts."""

    def __init__(self, run: ConsolidationRun) -> None:
        ids = [UUID(uid) for uid in run.commits]
        self.branch_id = run.branch_id
        self.seqs = list(Commit.objects.filter(pk__in=ids).values_list("seq", flat=True))
        is_whole = run.state == State.UNDONE
        self.uids = None if is_whole else {uid for uid, one in list_answers(run).items() if one == REJECTED}

    def filter_links(self) -> Iterator[FactLink]:
        """Yield the links that are gone."""
        links = FactLink._base_manager.filter(branch=self.branch_id, seq_from__in=self.seqs, deleted=False)
        yield from (link for link in links if self.includes(link.from_id))

    def filter_facts(self, **fields: object) -> Iterator[Fact]:
        """Yield the versions of facts that are gone."""
        own = {"branch": self.branch_id, "seq_from__in": self.seqs, "deleted": False}
        yield from (fact for fact in Fact._base_manager.filter(**own, **fields) if self.includes(fact.uid))

    def includes(self, uid: UUID) -> bool:
        return self.uids is None or uid in self.uids


def list_withdrawals(branch: Branch, levels: Sequence[str], target: str = "") -> list[Withdrawal]:
    """Return what curators took away of the runs on a branch, those of a target where one is given."""
    runs = ConsolidationRun.objects.filter(branch=branch, level__in=levels)
    runs = runs.filter(target=target) if target else runs
    answered = runs.filter(~Q(answers={}) | Q(state=State.UNDONE))
    return [Withdrawal(run) for run in answered.order_by("pk")]


def find_withdrawn_sources(withdrawals: Sequence[Withdrawal], sources: Collection[UUID]) -> set[UUID]:
    """Return the sources of which facts were made that are gone."""
    if not withdrawals:
        return set()
    requested = set(sources)
    links = (link for one in withdrawals for link in one.filter_links())
    return {link.to_id for link in links} & requested


def find_withdrawn_groups(withdrawals: Sequence[Withdrawal]) -> Mapping[UUID, set[int]]:
    """Return for each fact the numbers of the groups in which it was merged and is no more."""
    found: dict[UUID, set[int]] = {}
    keepers: dict[tuple[int, UUID], int] = {}
    for at, one in enumerate(withdrawals):
        for keeper, other in list_merged(one):
            number = keepers.setdefault((at, keeper), len(keepers))
            for uid in (keeper, other):
                found.setdefault(uid, set()).add(number)
    return found


def list_merged(withdrawal: Withdrawal) -> Iterator[tuple[UUID, UUID]]:
    """Yield the pairs of a fact and another whose place it took, and has no more."""
    facts = Fact._base_manager.filter(branch=withdrawal.branch_id, seq_from__in=withdrawal.seqs)
    gone = set(facts.filter(status=Fact.Status.SUPERSEDED).values_list("uid", flat=True))
    for link in withdrawal.filter_links():
        if link.to_id in gone:
            yield link.from_id, link.to_id
    for fact in withdrawal.filter_facts(parent_id__in=gone):
        if fact.parent_id is not None and fact.uid not in gone:
            yield fact.uid, fact.parent_id
