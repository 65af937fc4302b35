"""Answers to many questions at once: one commit, and a result for each fact."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_noop as _

from curation.engines.review import review_queue
from curation.engines.review.pair_answers import KEEP_BOTH
from curation.models import ReviewItem
from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts.bulk_actions import DONE, REASON, REFUSED, Outcome, Report, check_ids
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import Write
from memory.exceptions import Conflict, Day1Error, NotFound
from memory.models import Fact

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
