"""Statements whose place a newer one takes: linked without a change of either, and put to a curator."""

from collections.abc import Iterable, Sequence

from memory.engines.review.near_duplicates import build_pair_key
from memory.engines.sessions.revisions import Revision
from memory.engines.support.revision_rules import share_words
from memory.engines.versions.commits import CommitWriter
from memory.models import FactLink, ReviewItem


def store_revisions(commit: CommitWriter, revisions: Sequence[Revision]) -> None:
    """Link each older fact to the newer one, and ask a curator once about the two, in the commit.

    A pair that is linked already keeps its link; one that was said again has a new time.
    """
    if not revisions:
        return
    known = load_contests(commit, revisions)
    commit.add_rows([one.link() for one in revisions if one.key not in known])
    for one in revisions:
        link = known.get(one.key)
        if link is not None and link.valid_from is not None and link.valid_from < one.since:
            commit.change_row(link, valid_from=one.since)
    # A pair with a review item, open or answered, is not asked about again.
    ReviewItem.objects.bulk_create([build_item(commit, one) for one in revisions], ignore_conflicts=True)


def load_contests(commit: CommitWriter, revisions: Iterable[Revision]) -> dict[tuple, FactLink]:
    """Return the links between the pairs that the branch shows."""
    olds = sorted({one.older.uid for one in revisions})
    rows = commit.visible_rows(FactLink).filter(from_id__in=olds, link_type=FactLink.Type.CONTESTED_BY)
    return {(link.from_id, link.to_id): link for link in rows.fetch_all()}


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
