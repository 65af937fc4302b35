"""The questions that wait for a person, and their answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines import fact_rules as rules
from memory.engines.actions import REASON, archived
from memory.engines.belief import sources
from memory.engines.branches import find_branch
from memory.engines.commits import CommitWriter, committing
from memory.engines.comparing import read_since
from memory.engines.fact_batch import FactBatch, source_of
from memory.engines.pages import Page, page_of
from memory.engines.reach import within_reach
from memory.engines.replacing import check_keeper, replace_by
from memory.engines.several import facts_on
from memory.exceptions import Conflict, Invalid, NotFound
from memory.models import Commit, Confirmation, Fact, ReviewItem

S = Fact.Status
# The answers to whether two facts say the same; all but the first and the last name the one to keep.
KEEP_BOTH, SUPERSEDE, SAME, ARCHIVE, COMBINE, DISMISS = DECISIONS = (
    "keep_both", "supersede", "same", "archive", "combine", "dismiss",
)  # fmt: skip
KEEPING = frozenset({SUPERSEDE, SAME, ARCHIVE})
IN_USE = Q(branch__archived_at=None)  # an archived branch takes no answers: its questions do not wait


@dataclass(frozen=True)
class Resolved:
    """A question with its answer, and the commit that made it: reverting that one opens it again."""

    item: ReviewItem
    commit: Commit
    new_fact: Fact | None = None


@rerunning
class ReviewEngine:
    def list_items(
        self,
        *,
        actor: Actor,
        branch_name: str = "",
        status: str = "",
        kind: str = "",
        fact_id: UUID | None = None,
        limit: int = 50,
        cursor: str = "",
    ) -> Page[ReviewItem]:
        """The questions on the branches that the actor may use, newest first, each with its two facts as
        ``fact`` and ``other`` (None where the branch does not show it), and as ``best`` the one that is
        proposed to stay.

        ``fact_id`` asks for those about one fact. Open questions of an archived branch, which takes no
        answers, are told only when the branch is named. Needs the scope curate. Raises Invalid,
        BranchNotFound, and BranchForbidden for a branch that is out of reach.
        """
        actor.require("curate", branch_name or None)
        items = _of_project(actor)
        if branch_name:
            items = items.filter(branch=find_branch(actor, branch_name))
        elif status == ReviewItem.Status.OPEN:
            items = items.filter(IN_USE)
        if status:
            items = items.filter(status=c.one_of(ReviewItem.Status.values)("status", status))
        if kind:
            items = items.filter(kind=c.one_of(ReviewItem.Kind.values)("kind", kind))
        if fact_id:
            items = items.filter(Q(fact_id=fact_id) | Q(other_id=fact_id))
        page = page_of(within_reach(items, actor), key="-id", limit=limit, cursor=cursor, of=items)
        with_facts(page.results, actor.project_id)
        return page

    def count_open(self, *, actor: Actor, most: int) -> int:
        """How many questions wait on the branches in use that the actor may use, counted up to ``most``.

        Needs the scope curate.
        """
        actor.require("curate")
        items = _of_project(actor).filter(IN_USE, status=ReviewItem.Status.OPEN)
        return within_reach(items, actor)[:most].count()

    def get_item(self, *, item_id: UUID, actor: Actor) -> ReviewItem:
        """One question with its two facts. Needs the scope curate. Raises NotFound."""
        actor.require("curate")
        item = self._find(item_id, actor)
        with_facts([item], actor.project_id)
        return item

    def resolve(
        self,
        *,
        item_id: UUID,
        decision: str,
        actor: Actor,
        keep: UUID | None = None,
        new_fact_text: str = "",
        reason: str = "",
        expected_versions: Mapping[UUID, int] | None = None,
    ) -> Resolved:
        """Answer whether two facts say the same, in one commit:

        keep_both: they do not, both stay. supersede: the one in ``keep`` takes the place of the other.
        same: so does it, and whoever said the other has confirmed it. archive: the other is archived.
        combine: a new fact, ``new_fact_text``, takes the place of both. dismiss: the question has become
        pointless. ``expected_versions`` are those that the caller has read; those that the question was
        asked about, when it is not given. keep_both and dismiss hold whatever has changed.

        Needs the scope curate. Raises NotFound, Invalid, Conflict (answered already), StaleVersion with
        what has changed, IllegalTransition, BranchArchived.
        """
        actor.require("curate")
        answer = Answer.of(decision, keep, new_fact_text, reason)
        found = self._find(item_id, actor)
        actor.require("curate", found.branch.name)
        with committing(actor, found.branch.name, "review.resolve", answer.reason[:500]) as commit:
            item = ReviewItem.objects.get(pk=found.pk)  # as it is now that nobody else can answer it
            if item.status != ReviewItem.Status.OPEN:
                raise Conflict("This question was answered with {resolution} already, by {by}.",
                               resolution=item.resolution, by=item.resolved_by)  # fmt: skip
            new = answer.apply(commit, item, expected_versions)
            _close(commit, item, answer)
        with_facts([item], actor.project_id)
        return Resolved(item, commit.commit, new)  # type: ignore[arg-type]  # the item alone makes one

    @staticmethod
    def _find(item_id: UUID, actor: Actor) -> ReviewItem:
        if (item := within_reach(_of_project(actor), actor).filter(pk=item_id).first()) is None:
            raise NotFound()
        return item


def _of_project(actor: Actor) -> QuerySet[ReviewItem]:
    return ReviewItem.objects.filter(project=actor.project_id).select_related("branch")


def with_facts(items: Sequence[ReviewItem], project_id: UUID) -> None:
    """Give each question its two facts as its branch shows them now, and as ``best`` the one that is proposed
    to stay.
    """
    asked = {(item.branch, uid) for item in items for uid in (item.fact_id, item.other_id)}
    known = facts_on(asked, project_id)
    for item in items:
        item.fact = known.get((item.branch_id, item.fact_id))  # type: ignore[attr-defined]
        item.other = known.get((item.branch_id, item.other_id))  # type: ignore[attr-defined]
        item.best = max(filter(None, (item.fact, item.other)), key=_weight, default=None)  # type: ignore[attr-defined]


def _weight(fact: Fact) -> tuple[bool, bool, int, int]:
    """One that searches find rather than another, a verified one, one that more have said, the newer."""
    verified = fact.verification_status == "verified"
    return fact.status in Fact.SEARCHED, verified, fact.confirmation_count, fact.rid


def _close(commit: CommitWriter, item: ReviewItem, answer: "Answer") -> None:
    item.status, item.resolution = ReviewItem.Status.RESOLVED, answer.decision
    item.resolved_at, item.resolved_by, item.seq = timezone.now(), commit.actor.label, commit.seq
    item.save()
    commit.beside += 1
    commit.targets.insert(0, str(item.pk))


@dataclass(frozen=True)
class Answer:
    """A decision with what it needs, checked."""

    decision: str
    keep: UUID | None
    text: str
    reason: str

    @classmethod
    def of(cls, decision: str, keep: UUID | None, text: str, reason: str) -> "Answer":
        c.one_of(list(DECISIONS))("decision", decision)
        if (decision in KEEPING) != (keep is not None):
            raise Invalid("keep names the fact that stays, with {which}.",
                          which=", ".join(sorted(KEEPING)), field="keep")  # fmt: skip
        if decision == COMBINE:
            text = rules.CHECKS["fact_text"]("new_fact_text", text)
        elif text:
            raise Invalid("Only combine takes new_fact_text.", field="new_fact_text")
        return cls(decision, keep, text, c.text(REASON)("reason", reason))

    def apply(
        self, commit: CommitWriter, item: ReviewItem, expected: Mapping[UUID, int] | None
    ) -> Fact | None:
        """Returns the fact that was newly written, where one was."""
        pair = (item.fact_id, item.other_id)
        if strangers := [uid for uid in (self.keep, *(expected or {})) if uid and uid not in pair]:
            raise Invalid("{id} is none of the two facts of this question.", id=strangers[0], field="keep")
        if self.decision in (KEEP_BOTH, DISMISS):
            return None
        read = expected or {UUID(uid): n for uid, n in item.details.get("versions", {}).items()}
        facts = {uid: commit.get(Fact, uid) for uid in pair}
        for uid, fact in facts.items():
            read_since(commit, fact, read.get(uid))
        if self.keep is None:
            return self._combine(commit, list(facts.values()))
        self._keep(commit, facts.pop(self.keep), *facts.values())
        return None

    def _keep(self, commit: CommitWriter, keeper: Fact, other: Fact) -> None:
        if self.decision == ARCHIVE:
            commit.change(other, **archived(other))
            return
        check_keeper(keeper)
        commit.change(other, **rules.moved(other, S.SUPERSEDED))
        if self.decision == SAME:
            confirm(commit, keeper, other)
        replace_by(commit, keeper, [other])

    def _combine(self, commit: CommitWriter, facts: Sequence[Fact]) -> Fact:
        for fact in facts:
            commit.change(fact, **rules.moved(fact, S.SUPERSEDED))
        older = facts[1]
        given = rules.inherited(older) | {"fact_text": self.text}
        batch = FactBatch([given], commit.actor, S.ACTIVE, deduplicate=False, parent=older)
        (written,) = batch.write(commit)
        replace_by(commit, written.fact, facts)
        return written.fact


def confirm(commit: CommitWriter, keeper: Fact, other: Fact) -> None:
    """Whoever said the other fact, or confirmed it, has confirmed this one; each source counts once."""
    said: Iterable[str] = {source for _, source in sources([other.uid], commit.lineage)} | {source_of(other)}
    known = {source for _, source in sources([keeper.uid], commit.lineage)} | {source_of(keeper), ""}
    new = sorted(set(said) - known)
    where = {"uid": keeper.uid, "branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
    Confirmation.objects.bulk_create(Confirmation(source=source, **where) for source in new)
    commit.beside += len(new)
