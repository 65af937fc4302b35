"""Merges that were taken back and brought back again, and the merge requests that they belong to."""

from collections.abc import Iterator
from uuid import UUID

from memory.actors import Actor
from memory.engines.audit.trail import record_entry
from memory.engines.versions.commits import MERGE, REVERT
from memory.models import Commit, MergeRequest

State = MergeRequest.State
REVERTED, REDONE = "merge_request.revert", "merge_request.redo"


def find_merge(commit: Commit) -> tuple[Commit | None, bool]:
    """Return the merge that a commit is, takes back or brings back, and whether it stands afterwards."""
    stands = True
    while commit.kind == REVERT and commit.reverts:
        commit, stands = Commit.objects.get(pk=commit.reverts), not stands
    return (commit if commit.kind == MERGE else None), stands


def list_turns(merge_id: UUID) -> Iterator[Commit]:
    """Yield the commits that took a merge back, brought it back, and so on, in their order."""
    current: UUID | None = merge_id
    while current and (turn := Commit.objects.filter(reverts=current).order_by("-seq").first()):
        yield turn
        current = turn.pk


def find_standing(merge_id: UUID) -> UUID:
    """Return the commit to revert so that a merge which stands is taken back: itself, or its last redo."""
    turns = [merge_id, *(turn.pk for turn in list_turns(merge_id))]
    return turns[-1]


def mark_requests(commit: Commit, actor: Actor) -> None:
    """Mark the request whose merge a commit takes back or brings back, in the caller's transaction."""
    merge, stands = find_merge(commit)
    was, state = (State.REVERTED, State.MERGED) if stands else (State.MERGED, State.REVERTED)
    found = MergeRequest.objects.select_for_update().filter(merge_commit=merge, state=was)
    for request in found if merge else ():
        request.state, request.revert_commit = state, None if stands else commit
        request.save()
        names = {"source": request.source.name, "target": request.target.name}
        detail = {"number": request.number, **names, "commit": str(commit.pk)}
        record_entry(actor, REDONE if stands else REVERTED, str(request.pk), detail)
