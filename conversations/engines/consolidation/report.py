"""What a run did, read from its commits, and what curators answer to it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from django.utils.translation import gettext_noop as _

from conversations.engines.consolidation.answers import ACCEPTED, REJECTED, list_answers, store_answers
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import MAX_FACTS, ActionEngine
from memory.engines.facts.links import describe_memories
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Identifier, ListOf, Number
from memory.exceptions import Conflict, IllegalTransition, Invalid, NotFound
from memory.models import Branch, Commit, Confirmation, Fact, FactLink
from memory.models.links import DERIVING

MAX_CHANGES = 200  # that an answer lists; the counts are of all
CREATED, CONFIRMED, REPEATED, MERGED = "created", "confirmed", "repeated", "merged"


@dataclass(frozen=True)
class Evidence:
    """A memory that a fact comes from."""

    kind: Literal["message", "observation", "fact"]
    id: UUID
    text: Annotated[str, "How it begins; empty where the branch shows it no more."]


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
            [
                Evidence(cast(Any, str(link.to_type)), link.to_id, texts.get(link.to_id, ""))
                for link in made.links.get(row.uid, ())
            ],
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


ACCEPT_REASON = "Accepted in the report of a consolidation."
CHANGED = _("Changed since the run: {count} of these facts. Look at them again.")
NONE_SURE = _("Nothing of the run that is left to answer has a confidence of {least} or more.")
REJECT = "consolidate.reject"
State = ConsolidationRun.State
FACT_IDS = Field(
    "fact_ids",
    ListOf(Identifier(), max_items=MAX_FACTS),
    option=Option("this fact of the run", "--fact", "ID"),
)
CONFIDENT = Field(
    "min_confidence",
    Number(),
    "And all of at least this confidence that nobody answered yet.",
    option=Option("all of at least this confidence", metavar="SHARE"),
)


def accept(run: ConsolidationRun, changes: Collection[RunChange], actor: Actor) -> None:
    """Verify the facts as the run left them. Raises Conflict with the ids that changed since."""
    require_present(run, changes)
    uids = [one.fact.uid for one in changes]
    with write_transaction():
        report = ActionEngine().apply_action(
            action="verify", fact_ids=uids, actor=actor, branch_name=run.branch.name, reason=ACCEPT_REASON
        )
        if refused := [str(one.fact_id) for one in report.results if one.error]:
            raise Conflict(CHANGED, count=len(refused), changed=refused)
        keep_answers(run, uids, ACCEPTED, [report.commit] if report.commit else [], actor)


def reject(
    run: ConsolidationRun, changes: Collection[RunChange], commits: Iterable[Commit], actor: Actor
) -> None:
    """Undo what the commits of a run, and of answers to it, did to the facts, the last one first.

    Raises Conflict for facts that were rejected before, and with what was built on them.
    """
    if done := [str(one.fact.uid) for one in changes if one.answer == REJECTED]:
        raise Conflict("Rejected already: {count} of these facts.", count=len(done), changed=done)
    uids = {uid for one in changes for uid in (one.fact.uid, *one.superseded)}
    with write_transaction():
        made = [
            RevertEngine().revert_facts(found=one, fact_ids=uids, kind=REJECT, actor=raise_scopes(actor))
            for one in commits
        ]
        stored = [commit for commit in made if commit is not None]
        keep_answers(run, [one.fact.uid for one in changes], REJECTED, stored, actor)


def keep_answers(
    run: ConsolidationRun, uids: Collection[UUID], answer: str, commits: Sequence[Commit], actor: Actor
) -> None:
    """Store the answers in the row of the run, which is locked, and tell the audit trail."""
    row = ConsolidationRun.objects.select_for_update().get(pk=run.pk)
    store_answers(row, uids, answer, commits, actor)
    run.answers = row.answers
    record_entry(actor, f"consolidation.{answer}", str(run.pk), {"facts": len(uids)})


def choose_changes(
    run: ConsolidationRun, uids: Collection[UUID], min_confidence: float | None
) -> list[RunChange]:
    """Return the changes to these facts and those of at least a confidence that nobody answered yet.

    Raises NotFound for facts that the run did not change, Invalid for none or too many.
    """
    last = {one.fact.uid: one for one in iterate_changes(run)}
    if missing := [str(uid) for uid in uids if uid not in last]:
        raise NotFound("The run did not change {ids}.", ids=", ".join(missing[:5]))
    chosen = {uid: last[uid] for uid in uids}
    if min_confidence is not None:
        sure = [one for one in last.values() if not one.answer and one.fact.confidence >= min_confidence]
        known = find_present(run, sure)
        chosen |= {one.fact.uid: one for one in sure if is_present(one, known)}
    if not chosen and min_confidence is not None:
        raise Invalid(NONE_SURE, least=min_confidence, field="min_confidence")
    if not chosen:
        raise Invalid("Name at least one fact of the run.", field="fact_ids")
    if len(chosen) > MAX_FACTS:
        raise Invalid("{field} may have {most} ids.", field="fact_ids", most=MAX_FACTS)
    return list(chosen.values())


def find_present(run: ConsolidationRun, changes: Collection[RunChange]) -> Mapping[UUID, str]:
    """Return what the facts in use say now, as hashes."""
    run.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Fact.objects.on(run.branch).filter(
        uid__in=[one.fact.uid for one in changes], status=Fact.Status.ACTIVE
    )
    return {row.uid: row.content_hash for row in rows.fetch_all()} if changes else {}


def is_present(one: RunChange, known: Mapping[UUID, str]) -> bool:
    return known.get(one.fact.uid) == one.fact.content_hash


def require_present(run: ConsolidationRun, changes: Collection[RunChange]) -> None:
    """Refuse facts that say something else by now, or are gone. Raises Conflict."""
    known = find_present(run, changes)
    if gone := [str(one.fact.uid) for one in changes if not is_present(one, known)]:
        raise Conflict(CHANGED, count=len(gone), changed=gone)


def require_ended(run: ConsolidationRun) -> None:
    """Refuse a run that still runs or was undone. Raises IllegalTransition."""
    if run.state in (State.QUEUED, State.RUNNING):
        raise IllegalTransition("This run has not ended yet.")
    if run.state == State.UNDONE:
        raise IllegalTransition("This run was undone already.")


def raise_scopes(actor: Actor) -> Actor:
    """Return an actor who may revert a run's commits, which are the server's own: that the person curates
    was checked.
    """
    return replace(actor, scopes=frozenset({"admin"}))
