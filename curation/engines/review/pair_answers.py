"""What memory asks of the review queue: answers of a commit, pairs that were kept, revised statements."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from curation.models import ReviewItem
from memory.db.raw_select import select_by_key
from memory.engines.statements.revision_rules import share_words
from memory.engines.versions.pair_answers import Pair
from memory.models import Branch, Fact

KEEP_BOTH, DISMISS = "keep_both", "dismiss"  # both facts stay; the question has become pointless
OPEN, RESOLVED = ReviewItem.Status.OPEN, ReviewItem.Status.RESOLVED


class ReviewAnswers:
    """The review queue, as memory's PairAnswers."""

    def find_answers(self, branch_id: int, seqs: Collection[int]) -> Any:
        """Return the items that commits of a branch answered, or opened again."""
        return ReviewItem.objects.filter(branch=branch_id, seq__in=seqs)

    def undo_answers(self, branch_id: int, seq: int, undone_by: int) -> int:
        """Open the items again that a commit answered, resolve those that it opened; keep the answers."""
        items = list(self.find_answers(branch_id, [seq]))
        for item in items:
            item.status = OPEN if item.status == RESOLVED else RESOLVED
            item.resolved_at = timezone.now() if item.status == RESOLVED else None
            item.seq = undone_by
        return ReviewItem.objects.bulk_update(items, ["status", "resolved_at", "seq"]) if items else 0

    def find_kept(self, pairs: Collection[Pair], points: Mapping[int, int]) -> set[Pair]:
        """Return the pairs of which a curator decided, on branches up to these commits, that both stay."""
        keys = {build_pair_key(branch, *pair): pair for pair in pairs for branch in points}
        answered = ReviewItem.objects.filter(status=RESOLVED, resolution=KEEP_BOTH)
        rows = select_by_key(answered, ("pair", "branch", "seq"), "pair", keys)
        return {keys[pair] for pair, branch, seq in rows if seq <= points[branch]}

    def ask_about(self, branch: Branch, pairs: Iterable[tuple[Fact, Fact]]) -> None:
        """Add an item for each pair of a newer and an older fact; only one is made per pair, ever."""
        scored = [(pair, share_words(*(fact.fact_text for fact in pair))) for pair in pairs]
        items = [build_item(branch, ReviewItem.Kind.CONTESTED, pair, score) for pair, score in scored]
        ReviewItem.objects.bulk_create(items, ignore_conflicts=True)

    def blank_questions(self, project_id: UUID, uids: Collection[UUID]) -> list[tuple[int, int]]:
        """Dismiss the open items about facts, and blank the details of all; return their commits."""
        items = ReviewItem.objects.filter(Q(fact_id__in=uids) | Q(other_id__in=uids), project=project_id)
        closed = {"status": RESOLVED, "resolution": DISMISS, "resolved_at": timezone.now()}
        items.filter(status=OPEN).update(**closed)
        items.update(details={})
        return list(items.values_list("branch_id", "seq"))


def build_item(
    branch: Branch, kind: str, pair: tuple[Fact, Fact], score: float, **details: Any
) -> ReviewItem:
    """Return a question on a newer and an older fact."""
    newer, older = pair
    return ReviewItem(
        project_id=branch.project_id,
        branch=branch,
        kind=kind,
        fact_id=newer.uid,
        other_id=older.uid,
        pair=build_pair_key(branch.pk, newer.uid, older.uid),
        score=score,
        details={**details, "versions": {str(fact.uid): fact.version for fact in pair}},
    )


def build_pair_key(branch_id: int, one: UUID, other: UUID) -> str:
    """Return the key of the item of two facts on a branch; their order does not matter."""
    low, high = sorted((one.hex, other.hex))
    return f"{branch_id}:{low}:{high}"
