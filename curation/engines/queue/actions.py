"""Actions on the queue's facts: those of every list, and answers and moves besides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_noop as _

from curation.engines.review import review_queue
from curation.engines.review.pair_answers import KEEP_BOTH
from curation.models import ReviewItem
from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts import bulk_actions
from memory.engines.facts.bulk_actions import DONE, REASON, REFUSED, Outcome, Report, check_ids
from memory.engines.merging.checked_merge import MergeResult, merge_checked
from memory.engines.merging.strategies import CHERRY_PICK, MergeOptions, find_branches
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.policies import Write
from memory.exceptions import Conflict, Day1Error, NotFound, StaleVersion
from memory.models import Branch, Commit, Fact

MERGE, KEEP = "merge_duplicates", "keep_both"
LABELS = {MERGE: "Merged.", KEEP: "Kept both."}
NO_QUESTION = _("No question on this fact and another is open.")
ANSWERED_WITH = _("Another answer of this action changed one of the two already.")


@retry_methods
class BulkAnswerEngine:
    def answer_questions(
        self,
        *,
        action: str,
        fact_ids: Iterable[UUID],
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Mapping[UUID, int] | None = None,
        reason: str = "",
    ) -> Report:
        """Answer the open questions on up to 1,000 facts and others, in one commit.

        merge_duplicates: of two that say the same the better one stays, confirmed by the other's sources; of
        a contested pair the newer one takes the older one's place. keep_both: both stay. A refusal of one
        fact does not stop the others. ``expected_versions`` are those that the caller has read. Needs the
        scope curate. Raises Invalid, TooLarge, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require_scope("curate", branch_name)
        action = c.one_of([MERGE, KEEP])("action", action)
        reason = c.redact_stored(c.text_check(REASON))("reason", reason)
        ids = check_ids(fact_ids)
        with open_commit(actor, branch_name, "review.resolve", reason[:500], write=Write.EXEMPT) as commit:
            answers = Answers(commit, action, reason, expected_versions or {})
            answers.load_essences(ids)
            for uid in ids:
                answers.answer_fact(uid)
        return Report([answers.build_outcome(uid) for uid in ids], commit.commit)


class Answers:
    """The questions on some facts, answered one after another in a commit."""

    def __init__(self, commit: CommitWriter, action: str, reason: str, expected: Mapping[UUID, int]) -> None:
        self.commit, self.action, self.reason, self.expected = commit, action, reason, expected
        self.refused: dict[UUID, Day1Error] = {}
        self.changed: set[UUID] = set()
        self.essences: dict[UUID, str] = {}

    def load_essences(self, ids: Sequence[UUID]) -> None:
        """Read what the facts are called, for the results: also of those on which nothing is asked."""
        shown = self.commit.visible_rows(Fact).select_by_key(("uid", "essence"), "uid", ids)
        self.essences = dict(shown)

    def answer_fact(self, uid: UUID) -> None:
        """Answer the open questions on a fact, or remember why none of them could be."""
        try:
            items = self._load_items(uid)
        except Day1Error as error:
            self.refused[uid] = error
            return
        answered = [self._try_answer(uid, item) for item in items]
        if any(answered):
            self.refused.pop(uid, None)

    def _try_answer(self, uid: UUID, item: ReviewItem) -> bool:
        try:
            self._answer_item(item)
        except Day1Error as error:
            self.refused[uid] = error
            return False
        return True

    def _load_items(self, uid: UUID) -> Sequence[ReviewItem]:
        open_items = ReviewItem.objects.filter(branch=self.commit.branch, status=ReviewItem.Status.OPEN)
        own = open_items.filter(Q(fact_id=uid) | Q(other_id=uid))
        items = list(own.select_related("branch").order_by("pk"))
        review_queue.with_facts(items, self.commit.actor.project_id)
        if not items:
            raise Conflict(ANSWERED_WITH if uid in self.changed else NO_QUESTION)
        return items

    def _answer_item(self, item: ReviewItem) -> None:
        pair = {item.fact_id, item.other_id}
        if self.action == MERGE and self.changed & pair:
            raise Conflict(ANSWERED_WITH)
        decision = self._decide(item)
        read = {uid: self.expected[uid] for uid in pair if self.expected.get(uid)}
        versions = {UUID(uid): n for uid, n in item.details.get("versions", {}).items()} | read
        decision.apply(self.commit, item, versions)
        review_queue.close_item(self.commit, item, decision)
        self.changed |= pair

    def _decide(self, item: ReviewItem) -> review_queue.Decision:
        if self.action == KEEP:
            return review_queue.Decision(KEEP_BOTH, None, "", self.reason)
        if item.fact is None or item.other is None or item.best is None:
            raise NotFound()
        merge = review_queue.SUPERSEDE if item.kind == ReviewItem.Kind.CONTESTED else review_queue.SAME
        return review_queue.Decision(merge, item.best.uid, "", self.reason)

    def build_outcome(self, uid: UUID) -> Outcome:
        return describe_outcome(uid, self.essences.get(uid, ""), LABELS[self.action], self.refused.get(uid))


def describe_outcome(uid: UUID, essence: str, done: str, error: Day1Error | None) -> Outcome:
    """Return what became of a fact: done, in these words, or refused."""
    if error is not None:
        return Outcome(uid, REFUSED, error.code, error.text, essence, error)
    return Outcome(uid, DONE, "", done, essence)


MERGE_DUPLICATES, MOVE = MERGE, "move"
MOVED, TOOK = "Moved.", "Brought there; it stays here too, since this branch is on its way there."
CONFLICTS = _("{name} says otherwise about it: a merge request decides that.")


@dataclass(frozen=True)
class MoveReport(bulk_actions.Report):
    """The report, with the commit on the other branch: undoing both moves the facts back."""

    arrival: Commit | None = None


class QueueActionEngine:
    def apply_action(
        self,
        *,
        action: str,
        fact_ids: Iterable[UUID],
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Mapping[UUID, int] | None = None,
        reason: str = "",
        to_branch: str = "",
        **parameters: Any,
    ) -> MoveReport:
        """Apply one action to up to 1,000 facts, each by the engine that has its rules.

        merge_duplicates and keep_both answer the open questions on them, move brings them to ``to_branch``;
        the others are those of ActionEngine, with its ``parameters``. Raises as those engines do.
        """
        where: dict[str, Any] = {"fact_ids": fact_ids, "actor": actor, "branch_name": branch_name}
        read: dict[str, Any] = {"expected_versions": expected_versions, "reason": reason}
        if action == MOVE:
            moved: MoveReport = MoveEngine().move_facts(to_branch=to_branch, **where, **read)
            return moved
        if action in (MERGE_DUPLICATES, KEEP_BOTH):
            report = BulkAnswerEngine().answer_questions(action=action, **where, **read)
        else:
            report = bulk_actions.ActionEngine().apply_action(action=action, **where, **read, **parameters)
        return MoveReport(report.results, report.commit, report.new_fact, report.created)


# ---- moves -------------------------------------------------------------------------------------------


@retry_methods
class MoveEngine:
    def move_facts(
        self,
        *,
        fact_ids: Iterable[UUID],
        to_branch: str,
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Mapping[UUID, int] | None = None,
        reason: str = "",
    ) -> MoveReport:
        """Bring up to 1,000 facts to another branch as a cherry-pick does, and archive them on this one.

        The gates and approvals of the other branch's policy hold. To a branch that this one comes from they
        are only brought: archived here they would be archived there by the next merge. A refusal of one fact
        does not stop the others. Needs the scope curate on both. Raises Invalid, TooLarge, BranchNotFound,
        BranchArchived, Conflict for a gate that fails or the same branch, scope and branch refusals.
        """
        for name in (branch_name, to_branch):
            actor.require_scope("curate", name)
        reason = c.redact_stored(c.text_check(bulk_actions.REASON))("reason", reason)
        ids = bulk_actions.check_ids(fact_ids)
        source, target = find_branches(actor, branch_name, to_branch)
        move = Move(actor, branch_name, to_branch, reason, expected_versions or {})
        move.stays = comes_from(source, target)
        picked = move.choose(ids)
        if picked:
            options = MergeOptions(source, target, CHERRY_PICK, tuple(picked))
            merge_checked(options, actor, reason[:500], keep=move.finish)
        return move.build_report(ids)


def comes_from(branch: Branch, other: Branch) -> bool:
    """Return whether a branch was forked from another, or from one that was."""
    parent = branch.parent
    while parent is not None and parent.pk != other.pk:
        parent = parent.parent
    return parent is not None


@dataclass
class Move:
    """One move: what is refused, and what its two commits did."""

    actor: Actor
    source: str
    target: str
    reason: str
    expected: Mapping[UUID, int]
    stays: bool = False
    refused: dict[UUID, Day1Error] = field(default_factory=dict)
    essences: dict[UUID, str] = field(default_factory=dict)
    arrival: Commit | None = None
    departure: Commit | None = None

    def choose(self, ids: Sequence[UUID]) -> list[UUID]:
        """Return the facts that this branch shows as the caller has read them; refuse the others."""
        shown = {fact.uid: fact for fact in self._load(self.source, ids)}
        self.essences = {uid: fact.essence for uid, fact in shown.items()}
        for uid in ids:
            if uid not in shown:
                self.refused[uid] = NotFound()
            elif (read := self.expected.get(uid)) and read != shown[uid].version:
                self.refused[uid] = StaleVersion(expected=read, current=shown[uid].version)
        return [uid for uid in ids if uid not in self.refused]

    def finish(self, result: MergeResult) -> None:
        """Archive here what arrived there, in the transaction of the merge; what conflicts stays."""
        self.arrival = result.commit
        picked = [uid for uid in self.essences if uid not in self.refused]
        shown = self._load(self.target, picked)
        arrived = {fact.uid for fact in shown if fact.status != Fact.Status.ARCHIVED}
        clashing = {item.uid for item in result.check.plan.open_conflicts}
        for uid in picked:
            if uid not in arrived or uid in clashing:
                self.refused[uid] = Conflict(CONFLICTS, name=self.target)
        gone = [uid for uid in picked if uid not in self.refused]
        if gone and not self.stays:
            done = bulk_actions.ActionEngine().apply_action(
                action="archive",
                fact_ids=gone,
                actor=self.actor,
                branch_name=self.source,
                reason=self.reason or f"Moved to {self.target}.",
            )
            self.departure = done.commit
            self.refused |= {one.fact_id: one.error for one in done.results if one.error}

    def build_report(self, ids: Sequence[UUID]) -> MoveReport:
        done = TOOK if self.stays else MOVED
        results = [
            describe_outcome(uid, self.essences.get(uid, ""), done, self.refused.get(uid)) for uid in ids
        ]
        return MoveReport(results, self.departure or self.arrival, arrival=self.arrival)

    def _load(self, name: str, ids: Sequence[UUID]) -> list[Fact]:
        return Fact.objects.on(find_branch(self.actor, name)).fetch_by_key("uid", ids)
