"""Approvals of merge requests, and which of them count."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.companions import fetch_all
from memory.engines.access.makers import Identity, list_makers
from memory.engines.merging.gates import FAILED, PASSED, GateResult
from memory.engines.versions.policies import Policy, find_policy
from memory.exceptions import Conflict
from memory.models import MergeApproval, MergeRequest
from memory.models.merges import MergeRequestQuerySet

APPROVALS = "approvals"


@dataclass(frozen=True)
class Approval:
    """An approval; it is outdated once the source has a newer commit, or another decision was made."""

    row: MergeApproval
    counts: bool
    outdated: bool


def read_approvals(request: MergeRequest) -> list[MergeApproval]:
    """Return the approvals of a request, the oldest first: as they were read with it, else as they are."""
    rows = getattr(request, "known_approvals", None)
    rows = fetch_all(MergeApproval, request=request.pk) if rows is None else rows
    for row in rows:
        row.request = request
    return sorted(rows, key=attrgetter("at"))


def load_approvals(requests: list[MergeRequest]) -> None:
    """Read the approvals of requests with them."""
    prefetch_related_objects(requests, Prefetch("approvals", to_attr="known_approvals"))


def list_approvals(request: MergeRequest, policy: Policy) -> list[Approval]:
    """Return the approvals of a request, the oldest first. Its author's may not count."""
    decided_at = request.decided_at
    found = []
    for row in read_approvals(request):
        outdated = row.source_seq != request.source.head or bool(decided_at and row.at < decided_at)
        own = not policy.author_may_approve and is_of_author(request, (row.actor_kind, row.actor_id))
        counts = not outdated and not own
        found.append(Approval(row, counts, outdated))
    return found


def is_of_author(request: MergeRequest, approver: Identity) -> bool:
    """Return whether the author of a request approves it, in person or by a key of theirs.

    A person may approve what a key of theirs wrote: that is how people look after agents.
    """
    author = (request.author_kind, request.author_id)
    return author == approver or author in list_makers(request.project_id, approver)


def count_approvals(approvals: Sequence[Approval]) -> int:
    """Return how many actors have an approval that counts; one and the keys that it made are one."""
    rows = [one.row for one in approvals if one.counts]
    actors = {(row.actor_kind, row.actor_id): row.request.project_id for row in rows}
    return sum(not actors.keys() & list_makers(project, actor) for actor, project in actors.items())


def has_enough(request: MergeRequest, policy: Policy) -> bool:
    """Return whether a request is approved: a policy that wants no approval still needs one for that."""
    return count_approvals(list_approvals(request, policy)) >= max(policy.approvals, 1)


def refresh_states(requests: Sequence[MergeRequest]) -> None:
    """Set the state of pending requests as their approvals and policies are now; nothing is stored."""
    find = cache(lambda name, project_id: find_policy(project_id, name))
    for request in requests:
        if request.pending:
            # Nothing more is read for one that nobody approved since the newest commit.
            live = any(row.source_seq == request.source.head for row in read_approvals(request))
            enough = live and has_enough(request, find(request.target.name, request.project_id))
            request.state = MergeRequest.State.APPROVED if enough else MergeRequest.State.OPEN
            request.approved_seq = request.source.head if enough else None


def filter_state(rows: MergeRequestQuerySet, state: str) -> MergeRequestQuerySet:
    """Filter requests by their state as it is now, which follows the policies of their targets."""
    return rows.in_state(state, list_approved(rows) if state in MergeRequest.PENDING else ())


def list_approved(rows: MergeRequestQuerySet) -> list[UUID]:
    """Return the ids of the pending requests whose approvals suffice now."""
    live = list(rows.with_live_approvals())
    load_approvals(live)
    refresh_states(live)
    return [row.pk for row in live if row.state == MergeRequest.State.APPROVED]


def check_approvals(request: MergeRequest | None, policy: Policy) -> GateResult:
    """Return whether a merge has the approvals that the policy wants; one without a request has none."""
    approvals = list_approvals(request, policy) if request else []
    count = count_approvals(approvals)
    outdated = sum(one.outdated for one in approvals)
    data = {"count": count, "needed": policy.approvals, "outdated": outdated}
    state = PASSED if count >= policy.approvals else FAILED
    if request is None and state == FAILED:
        text = _("A merge request is needed, with approvals: {needed}.")
    elif state == FAILED and outdated:
        text = _(
            "Approvals: {count} of {needed}. Older than the newest commit or decision, so they do not count:"
            " {outdated}."
        )
    else:
        text = _("Approvals: {count} of {needed}.")
    return GateResult(APPROVALS, state, text, data, count=count)


def is_author(request: MergeRequest, actor: Actor) -> bool:
    return (request.author_kind, request.author_id) == actor.identity


def require_other(request: MergeRequest, policy: Policy, actor: Actor) -> None:
    """Refuse the author of a request where the policy wants another to approve it. Raises Conflict."""
    if not policy.author_may_approve and is_of_author(request, actor.identity):
        raise Conflict(
            "Who opened a merge request into {target} may not approve it: its policy wants another.",
            target=request.target.name,
        )


def delete_approval(request: MergeRequest, actor: Actor) -> bool:
    """Delete an actor's approval; return whether there was one."""
    deleted, _details = request.approvals.filter(actor_kind=actor.kind, actor_id=actor.id).delete()
    return bool(deleted)


def insert_approval(request: MergeRequest, actor: Actor, source_seq: int) -> None:
    """Store an approval of the source at a seq, in the place of an earlier one of the same actor.

    It is of the decisions that there are, so it is no older than they are, whatever time the actor states.
    """
    delete_approval(request, actor)
    now = actor.write_time()
    MergeApproval.objects.create(
        request=request,
        **actor.identity_fields("actor"),
        at=max(now, request.decided_at or now),
        source_seq=source_seq,
    )
