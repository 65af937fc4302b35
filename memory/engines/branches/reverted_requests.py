"""Merge requests whose merge was taken back, however that was done."""

from memory.actors import Actor
from memory.engines.audit.trail import record_entry
from memory.models import Commit, MergeRequest

State = MergeRequest.State


def mark_reverted(commit: Commit, actor: Actor) -> None:
    """Mark the request whose merge a commit reverts, in the caller's transaction."""
    merged = MergeRequest.objects.select_for_update().filter(merge_commit=commit.reverts)
    for request in merged.filter(state=State.MERGED):
        request.state, request.revert_commit = State.REVERTED, commit
        request.save()
        names = {"source": request.source.name, "target": request.target.name}
        detail = {"number": request.number, **names, "commit": str(commit.pk)}
        record_entry(actor, "merge_request.revert", str(request.pk), detail)
