"""Consolidation of an agent's facts and of a task's: one fact of each group stays, one fact sums up."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.engines.consolidation.answers import (
    FACT_LEVELS,
    Withdrawal,
    find_withdrawn_groups,
    list_withdrawals,
)
from conversations.engines.consolidation.grouping import Apart, group_facts, rank_member
from conversations.engines.consolidation.matching import read_texts
from conversations.engines.consolidation.runs import set_values, store_commit
from conversations.engines.consolidation.writing import confirm_facts
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.db.lineage import EVERYBODY
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.facts import rules
from memory.engines.facts.assessment import annotate_facts, searchable_rows
from memory.engines.facts.batch import FactBatch, get_source
from memory.engines.facts.links import link_superseded
from memory.engines.support.batches import batched
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.pair_answers import get_pair_answers
from memory.engines.versions.repositories import name_repositories
from memory.models import Branch, Fact, FactLink
from memory.models.end_users import get_owner
from memory.models.facts import SUMMARY_PREFIX

MAX_FACTS = 5000  # the newest of an agent or a task that are compared
MAX_COMMIT_FACTS = 500  # of one commit, so that other writers wait for one piece only
NOTHING: frozenset[int] = frozenset()
MIN_SUMMARISED = 3  # facts that are summed up: fewer are read as quickly themselves
MAX_SUMMARISED = 12  # facts that a summary names
MAX_SUMMARY_LINE = 120  # characters of each
TOO_MANY = "Only the newest {most} facts were compared."
DERIVED = FactLink.Type.CONSOLIDATED_FROM


@dataclass(frozen=True)
class FactSource:
    """The active facts of an agent or a task on a branch, and the groups that say the same."""

    branch: Branch
    agent_id: str
    facts: Sequence[Fact]
    groups: Sequence[Sequence[Fact]]
    withdrawals: Sequence[Withdrawal] = ()

    @property
    def own(self) -> list[Fact]:
        """Return the facts that the branch itself has; the others are its parent's."""
        return [fact for fact in self.facts if fact.branch_id == self.branch.pk]


def read_facts(branch: Branch, agent_id: str = "") -> FactSource:
    """Read what a run needs: the active facts, of an agent where one is given, and their groups.

    Groups of inherited facts alone are left to the branch that has them. No provider is asked.
    """
    branch.refresh_from_db(fields=["head", "head_at"])
    lineage = branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter(status=Fact.Status.ACTIVE)
    rows = rows.exclude(kind=Fact.Kind.REFLECTION)  # it is like its members by design
    rows = rows.filter(agent_id=agent_id) if agent_id else rows
    facts = [fact for fact in rows.newest(MAX_FACTS) if not fact.source_id.startswith(SUMMARY_PREFIX)]
    name_repositories(facts, branch.project_id)
    annotate_facts(facts, lineage, branch.project_id)
    texts = read_texts(branch.project_id, [fact.fact_text for fact in facts], embed=False)
    taken = list_withdrawals(branch, FACT_LEVELS)
    groups = group_facts(facts, texts, keep_apart(find_withdrawn_groups(taken)))
    groups = keep_decided_apart(branch, groups)
    own = [one for one in groups if any(row.branch_id == branch.pk for row in one)]
    return FactSource(branch, agent_id, facts, own, taken)


def keep_apart(withdrawn: Mapping[UUID, set[int]]) -> Apart:
    """Return which facts were merged once, and taken apart by a person."""

    def are_apart(one: UUID, other: UUID) -> bool:
        return not withdrawn.get(one, NOTHING).isdisjoint(withdrawn.get(other, NOTHING))

    return are_apart


def keep_decided_apart(branch: Branch, groups: Sequence[Sequence[Fact]]) -> list[list[Fact]]:
    """Return the groups without the facts of which a curator decided that both they and the best stay."""
    pairs = {(group[0].uid, fact.uid) for group in groups for fact in group[1:]}
    if not pairs:
        return []
    both = pairs | {pair[::-1] for pair in pairs}
    kept = get_pair_answers().find_kept(both, dict(branch.lineage()))
    left = [
        [keeper, *(one for one in others if {(keeper.uid, one.uid), (one.uid, keeper.uid)}.isdisjoint(kept))]
        for keeper, *others in groups
    ]
    return [group for group in left if len(group) > 1]


def consolidate_facts(source: FactSource, run: ConsolidationRun, actor: Actor) -> None:
    """Supersede the facts of each group by its best; of an agent also write the summary."""
    actor = replace(actor, agent_id=source.agent_id)
    run.observations = len(source.facts)
    if len(source.facts) >= MAX_FACTS:
        run.note = TOO_MANY.format(most=MAX_FACTS)
    for groups in split_groups(source.groups):
        set_values(run, _commit_groups(source.branch, groups, run, actor))
    if source.agent_id:
        own = [fact for fact in list_left(source) if fact.branch_id == source.branch.pk]
        shared = [fact for fact in own if is_shared(fact)]
        if len(shared) >= MIN_SUMMARISED:
            set_values(run, _commit_summary(source, shared, run, actor))


def is_shared(fact: Fact) -> bool:
    """Return whether a summary that others read may name a fact."""
    return fact.visibility != Fact.Visibility.PRIVATE and get_owner(fact) == EVERYBODY


def list_left(source: FactSource) -> list[Fact]:
    """Return the facts that are still in use; those of groups, which may have changed, are read anew."""
    uids = sorted({fact.uid for group in source.groups for fact in group})
    source.branch.refresh_from_db(fields=["head", "head_at"])
    lineage = source.branch.lineage()
    rows = Fact.objects.in_lineage(lineage).filter(status=Fact.Status.ACTIVE)
    now = {fact.uid: fact for fact in rows.fetch_by_key("uid", uids)}
    annotate_facts(list(now.values()), lineage, source.branch.project_id)
    grouped = set(uids)
    known = ((now.get(fact.uid) if fact.uid in grouped else fact) for fact in source.facts)
    return [fact for fact in known if fact is not None]


def split_groups(groups: Iterable[Sequence[Fact]]) -> Iterator[list[list[Fact]]]:
    """Yield groups with about MAX_COMMIT_FACTS facts together; of a larger one parts, each with its best."""
    piece: list[list[Fact]] = []
    for keeper, *others in groups:
        for batch in batched(others, MAX_COMMIT_FACTS):
            if piece and sum(map(len, piece)) + len(batch) > MAX_COMMIT_FACTS:
                yield piece
                piece = []
            piece.append([keeper, *batch])
    if piece:
        yield piece


@retry_transaction
def _commit_groups(
    branch: Branch, groups: Sequence[Sequence[Fact]], run: ConsolidationRun, actor: Actor
) -> dict[str, object]:
    with write_transaction():
        with open_commit(actor, branch.name, f"consolidate.{run.level}") as commit:
            kept = _recheck(commit, groups)
            merged = sum(_supersede_group(commit, group) for group in kept)
            updated = confirm_facts(commit, _list_statements(kept)) if kept else 0
        return store_commit(run, commit.commit, {"deduplicated": merged, "updated": updated})


def _recheck(commit: CommitWriter, groups: Sequence[Sequence[Fact]]) -> list[list[Fact]]:
    """Return the groups of which every fact still is what was compared."""
    uids = sorted({fact.uid for group in groups for fact in group})
    rows = commit.visible_rows(Fact).filter(uid__in=uids, status=Fact.Status.ACTIVE).fetch_all()
    annotate_facts(rows, commit.lineage, commit.branch.project_id)
    now = {(row.uid, describe_state(row)): row for row in rows}
    keys = [[(fact.uid, describe_state(fact)) for fact in group] for group in groups]
    return [[now[key] for key in group] for group in keys if all(key in now for key in group)]


def describe_state(fact: Fact) -> tuple[Any, ...]:
    """Return what of a fact decided that it is one of a group, and which of the group stays."""
    valid = (fact.valid_from, fact.valid_until, fact.expires_at)
    return (fact.content_hash, fact.kind, fact.visibility, *valid, fact.pinned, fact.verification_status)


def _supersede_group(commit: CommitWriter, group: Sequence[Fact]) -> int:
    """Supersede all facts of a group but the first; return how many."""
    keeper, *others = group
    for fact in others:
        commit.change_row(fact, **rules.change_status(fact, Fact.Status.SUPERSEDED))
    link_superseded(commit, keeper, others)
    commit.targets += [str(fact.uid) for fact in group]
    return len(others)


def _list_statements(groups: Iterable[Sequence[Fact]]) -> list[tuple[Fact, str]]:
    """Return the best of each group with the source of each other: they have stated the same."""
    return [(group[0], get_source(fact)) for group in groups for fact in group[1:]]


# ---- the summary -----------------------------------------------------------------------------------


@retry_transaction
def _commit_summary(
    source: FactSource, facts: Sequence[Fact], run: ConsolidationRun, actor: Actor
) -> dict[str, object]:
    """Write the one summary of an agent on a branch, or its new text."""
    key = f"{SUMMARY_PREFIX}{source.branch.pk}:{source.agent_id}"[:200]
    with write_transaction():
        with open_commit(actor, source.branch.name, f"consolidate.{run.level}") as commit:
            rows = commit.visible_rows(Fact).filter(source_id=key, status=Fact.Status.ACTIVE)
            known = [row for row in rows.fetch_all() if row.branch_id == commit.branch.pk]
            left = _reread_named(commit, facts)
            text = describe_facts(source.agent_id, left)
            if len(left) < MIN_SUMMARISED or was_taken_away(source.withdrawals, key, text):
                return store_commit(run, None, {})
            named = choose_named(left)
            counts = _write_summary(commit, known[0] if known else None, key, text, named, actor)
        return store_commit(run, commit.commit, counts)


def _reread_named(commit: CommitWriter, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts with those that a summary names as they are now.

    What was erased, made private or taken out of use meanwhile is left out, and others take its place.
    """
    left, checked = {fact.uid: fact for fact in facts}, set[UUID]()
    while unread := {fact.uid for fact in choose_named([*left.values()])} - checked:
        now = _read_shared(commit, unread)
        left = {uid: now.get(uid, fact) for uid, fact in left.items() if uid in now or uid not in unread}
        checked |= unread
    return [*left.values()]


def _read_shared(commit: CommitWriter, uids: Collection[UUID]) -> dict[UUID, Fact]:
    left = set(uids) - erased_uids(commit.branch.project_id, uids)
    rows = commit.visible_rows(Fact).filter(uid__in=sorted(left), status=Fact.Status.ACTIVE)
    facts = rows.exclude(visibility=Fact.Visibility.PRIVATE).fetch_all()
    return {fact.uid: fact for fact in annotate_facts(facts, commit.lineage, commit.branch.project_id)}


def was_taken_away(withdrawals: Sequence[Withdrawal], key: str, text: str) -> bool:
    """Return whether a person took this very summary away."""
    return any(fact.fact_text == text for one in withdrawals for fact in one.filter_facts(source_id=key))


def _write_summary(
    commit: CommitWriter, known: Fact | None, key: str, text: str, named: Sequence[Fact], actor: Actor
) -> dict[str, int]:
    if known is None:
        fields = {"fact_text": text, "category": "general", "kind": Fact.Kind.NOTE.value, "source_id": key}
        fields["source_type"] = Fact.SourceType.CONSOLIDATION.value
        batch = FactBatch([fields], actor, Fact.Status.ACTIVE, deduplicate=False)
        (written,) = batch.write_facts(commit)
        _link_summary(commit, written.fact, named)
        return {"created": 1}
    if known.fact_text == text:
        return {}
    fact = commit.change_row(
        known, **rules.rewrite_fields(known, {"fact_text": text, "essence": rules.compute_essence(text)})
    )
    FactBatch.enqueue_embedding(commit, [fact])
    _link_summary(commit, fact, named)
    return {"updated": 1}


def _link_summary(commit: CommitWriter, fact: Fact, named: Sequence[Fact]) -> None:
    """Link a summary to the facts that it names, and to no other."""
    links = commit.visible_rows(FactLink).filter(from_id=fact.uid, link_type=DERIVED).fetch_all()
    uids = {one.uid for one in named}
    for link in links:
        if link.to_id not in uids:
            commit.remove_row(link)
    missing = uids - {link.to_id for link in links}
    edge = {"from_id": fact.uid, "to_type": FactLink.Target.FACT, "link_type": DERIVED}
    origin = commit.actor.origin_fields()
    commit.add_rows([FactLink(**edge, **origin, to_id=uid) for uid in sorted(missing)])


def choose_named(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that a summary names: the most trusted, of equal ones the older."""
    return sorted(facts, key=rank_member)[:MAX_SUMMARISED]


def describe_facts(agent_id: str, facts: Sequence[Fact]) -> str:
    """Return the text of a summary: how many facts of which category, and the most trusted of each."""
    counts = Counter(fact.category for fact in facts)
    lines = defaultdict[str, list[str]](list)
    for fact in choose_named(facts):
        lines[fact.category].append(fact.essence[:MAX_SUMMARY_LINE].rstrip("."))
    parts = [f"{name} ({counts[name]}): {'; '.join(texts)}." for name, texts in sorted(lines.items())]
    return f"{agent_id} knows {len(facts)} facts. {' '.join(parts)}"
