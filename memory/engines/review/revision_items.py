"""Statements whose place a newer one takes: linked without a change of either, and put to a curator."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory.engines.review.near_duplicates import build_pair_key
from memory.engines.sessions.revisions import Revision
from memory.engines.support.batches import batched
from memory.engines.support.revision_rules import share_words
from memory.engines.versions.commits import CommitWriter
from memory.models import FactLink, ReviewItem

KEEP_BOTH = "keep_both"  # the decision that neither fact takes the other's place
BATCH_SIZE = 500


def store_revisions(commit: CommitWriter, revisions: Sequence[Revision]) -> None:
    """Link each older fact to the newer one, and ask a curator once about the two, in the commit.

    A pair that is linked already keeps its link; one that was said again has a new time. A pair of which a
    curator decided that both hold is left alone.
    """
    kept = find_kept(commit, revisions)
    revisions = [one for one in revisions if one.key not in kept]
    if not revisions:
        return
    known = load_contests(commit, revisions)
    commit.add_rows([one.link() for one in revisions if one.key not in known])
    for one in revisions:
        link = known.get(one.key)
        if link is not None and link.valid_from is not None and link.valid_from < one.since:
            commit.change_row(link, valid_from=one.since)
        opposite = known.get(one.key[::-1])
        if opposite is not None and opposite.valid_from == one.since:
            commit.remove_row(opposite)  # both were said at once: what came last holds
    # A pair with a review item, open or answered, is not asked about again.
    ReviewItem.objects.bulk_create([build_item(commit, one) for one in revisions], ignore_conflicts=True)


def load_contests(commit: CommitWriter, revisions: Iterable[Revision]) -> dict[tuple, FactLink]:
    """Return the links of the pairs that the branch shows, in either direction."""
    uids = sorted({uid for one in revisions for uid in one.key})
    rows = commit.visible_rows(FactLink).filter(from_id__in=uids, link_type=FactLink.Type.CONTESTED_BY)
    return {(link.from_id, link.to_id): link for link in rows.fetch_all()}


def find_kept(commit: CommitWriter, revisions: Iterable[Revision]) -> set[tuple[UUID, UUID]]:
    """Return the pairs of which a curator decided, on the lineage, that both hold."""
    keys = {
        build_pair_key(branch, *one.key): (one.key, limit)
        for one in revisions
        for branch, limit in commit.lineage
    }
    kept = set()
    for batch in batched(list(keys), BATCH_SIZE):
        items = ReviewItem.objects.filter(status=ReviewItem.Status.RESOLVED, resolution=KEEP_BOTH)
        for name, seq in items.filter(pair__in=batch).values_list("pair", "seq"):
            key, limit = keys[name]
            if seq <= limit:
                kept.add(key)
    return kept


def remove_revisions(commit: CommitWriter, item: ReviewItem) -> None:
    """Remove the links of a pair of which a curator decides that both hold."""
    pair = (item.fact_id, item.other_id)
    rows = commit.visible_rows(FactLink).filter(
        from_id__in=pair, to_id__in=pair, link_type=FactLink.Type.CONTESTED_BY
    )
    for link in rows.fetch_all():
        if link.valid_from is not None:
            commit.remove_row(link)


def build_item(commit: CommitWriter, one: Revision) -> ReviewItem:
    branch, facts = commit.branch, (one.newer, one.older)
    return ReviewItem(
        project_id=branch.project_id,
        branch=branch,
        kind=ReviewItem.Kind.CONTESTED,
        fact_id=one.newer.uid,
        other_id=one.older.uid,
        pair=build_pair_key(branch.pk, one.newer.uid, one.older.uid),
        score=share_words(one.newer.fact_text, one.older.fact_text),
        details={"versions": {str(fact.uid): fact.version for fact in facts}},
    )
