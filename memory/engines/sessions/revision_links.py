"""Statements whose place a newer one takes: linked without a change of either, and put to a curator."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from memory.engines.sessions.revisions import Revision
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.pair_answers import get_pair_answers
from memory.models import FactLink
from memory.models.links import JUDGED_WEIGHT


def store_revisions(commit: CommitWriter, revisions: Sequence[Revision]) -> None:
    """Link each older fact to the newer one, and ask a curator once about the two, in the commit.

    A pair that is linked already keeps its link; one that was said again has a new time. A pair of which a
    curator decided that both hold is left alone.
    """
    kept = get_pair_answers().find_kept([one.key for one in revisions], dict(commit.lineage))
    revisions = [one for one in revisions if one.key not in kept]
    if not revisions:
        return
    known = load_contests(commit, revisions)
    commit.add_rows([one.link() for one in revisions if one.key not in known])
    for one in revisions:
        link = known.get(one.key)
        if link is not None and (changed := update_link(link, one)):
            commit.change_row(link, **changed)
        opposite = known.get(one.key[::-1])
        if opposite is not None and opposite.valid_from == one.since:
            commit.remove_row(opposite)  # both were said at once: what came last holds
    # A pair with a review item, open or answered, is not asked about again.
    get_pair_answers().ask_about(commit.branch, [(one.newer, one.older) for one in revisions])


def update_link(link: FactLink, revision: Revision) -> dict[str, Any]:
    """Return what a revision changes of the link that its pair has: its time, and that a model judged it."""
    if link.valid_from is None:  # both were kept in a merge
        return {}
    weight = JUDGED_WEIGHT if revision.weight == JUDGED_WEIGHT else link.weight
    changed = {"valid_from": max(link.valid_from, revision.since), "weight": weight}
    return {name: value for name, value in changed.items() if value != getattr(link, name)}


def load_contests(commit: CommitWriter, revisions: Iterable[Revision]) -> dict[tuple, FactLink]:
    """Return the links of the pairs that the branch shows, in either direction."""
    uids = sorted({uid for one in revisions for uid in one.key})
    rows = commit.visible_rows(FactLink).filter(from_id__in=uids, link_type=FactLink.Type.CONTESTED_BY)
    return {(link.from_id, link.to_id): link for link in rows.fetch_all()}


def remove_revisions(commit: CommitWriter, pair: tuple[UUID, UUID]) -> None:
    """Remove the links of a pair of which a curator decides that both hold."""
    rows = commit.visible_rows(FactLink).filter(
        from_id__in=pair, to_id__in=pair, link_type=FactLink.Type.CONTESTED_BY
    )
    for link in rows.fetch_all():
        if link.valid_from is not None:
            commit.remove_row(link)
