"""Rows of merge requests: found by who may see them, locked before they change, closed once."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, prefetch_related_objects
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.bulk_sql import update_one
from memory.db.companions import Absence, Companion, fetch_with
from memory.db.raw_select import fetch_one
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.merging.approvals import load_approvals, read_approvals, refresh_states
from memory.engines.merging.plan import MergePoints
from memory.engines.merging.strategies import check_live
from memory.engines.versions.lookup import MAIN
from memory.exceptions import BranchArchived, Conflict, Exists, IllegalTransition, NotFound
from memory.models import (
    Branch,
    Commit,
    MergeApproval,
    MergeDecision,
    MergeRequest,
    MergeWithdrawal,
    Project,
)
from memory.models.merges import MergeRequestQuerySet

State = MergeRequest.State
TICK = timedelta(microseconds=1)
NOTHING_TO_MERGE = _("There is nothing to merge: {target} has all of {source} that is to arrive.")

# What is asked with a request, and noted for it.
OF_REQUEST = (
    Companion(Branch, {"id": "{t}.source_id"}, lambda request: {"id": request.source_id}),
    Companion(Branch, {"id": "{t}.target_id"}, lambda request: {"id": request.target_id}),
    Absence(MergeApproval, {"request": "{t}.id"}, lambda request: {"request": request.pk}),
    Absence(MergeDecision, {"request": "{t}.id"}, lambda request: {"request": request.pk}),
)


def project_requests(actor: Actor) -> MergeRequestQuerySet:
    """Return the requests that the actor may see: those from a branch that it may use, into main or another
    such branch.
    """
    rows = MergeRequest.objects.filter(project=actor.project_id).select_related("source", "target")
    if not actor.branch_patterns:
        return rows
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    allowed = [pk for pk, name in names if actor.may_use(name)]
    mains = [pk for pk, name in names if name == MAIN]
    return rows.filter(source__in=allowed, target__in=[*allowed, *mains])


def find_request(actor: Actor, request_id: UUID | int) -> MergeRequest:
    """Return a request by its id or its number in the project. Raises NotFound."""
    key: dict[str, Any] = {"number" if isinstance(request_id, int) else "id": request_id}
    found = fetch_with(MergeRequest, OF_REQUEST, project=actor.project_id, **key)
    if found is None:
        raise NotFound()
    found.source, found.target = load_branch(found.source_id), load_branch(found.target_id)
    reaches_target = found.target.name == MAIN or actor.may_use(found.target.name)
    if not (reaches_target and actor.may_use(found.source.name)):
        raise NotFound()
    refresh_states([found])
    return found


def load_branch(branch_id: int) -> Branch:
    return fetch_one(Branch, id=branch_id) or Branch.objects.get(pk=branch_id)


def load_requests(requests: list[MergeRequest]) -> None:
    """Set the branches, the approvals and the present states of requests."""
    prefetch_related_objects(requests, "source", "target")
    load_approvals(requests)
    refresh_states(requests)


def lock_request(request: MergeRequest, *, with_approvals: bool = False) -> MergeRequest:
    """Return the request as it is now, locked until the transaction ends. Raises IllegalTransition.

    ``with_approvals`` reads them once, for who adds none.
    """
    found = fetch_one(MergeRequest, lock=True, id=request.pk)
    if found is None:
        raise NotFound()
    check_pending(found)
    found.source, found.target = request.source, request.target
    if with_approvals:
        found.known_approvals = read_approvals(found)
    refresh_states([found])
    return found


def check_pending(request: MergeRequest) -> None:
    """Check that a request is open or approved. Raises IllegalTransition."""
    if not request.pending:
        raise IllegalTransition(
            "Merge request {number} is {state} already.", number=request.number, state=request.state
        )


def check_unmoved(source: Branch, seq: int | None) -> None:
    """Check that the source stands where it was read. Raises Conflict."""
    if seq is not None and seq != source.head:
        raise Conflict(
            "{source} has newer commits than those that you read: it is at {head}, not at {seq}.",
            source=source.name,
            head=source.head,
            seq=seq,
        )


def insert_request(actor: Actor, source: Branch, target: Branch, **values: Any) -> MergeRequest:
    """Insert a request, numbered in its project. Raises Exists while the pair has a pending one."""
    # Requests of a project queue here, so that no two get the same number.
    Project.objects.select_for_update().get(pk=actor.project_id)
    slot = f"{source.pk}:{target.pk}"
    rows = MergeRequest.objects.filter(project=actor.project_id)
    if (pending := rows.filter(slot=slot).first()) is not None:
        raise Exists(
            "Merge request {number} from {source} into {target} is open already.",
            number=pending.number,
            source=source.name,
            target=target.name,
        )
    request = MergeRequest.objects.create(
        project_id=actor.project_id,
        number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
        source=source,
        target=target,
        slot=slot,
        **actor.identity_fields("author"),
        author_agent=actor.agent_id,
        created_at=actor.write_time(),
        source_seq=source.head,
        target_seq=target.head,
        **values,
    )
    record_request(request, actor, "merge_request.create")
    return request


def explain_closed(request: MergeRequest) -> str:
    """Return why a request is not checked: it is closed, or a branch is archived; "" for one that is."""
    try:
        check_pending(request)
        check_live(request.source, request.target)
    except (IllegalTransition, BranchArchived) as error:
        return error.text
    return ""


def mark_checked(request: MergeRequest, points: MergePoints) -> None:
    """Note at which seqs of both branches a request was checked; it is not saved."""
    request.source_seq, request.target_seq = points.source_seq, points.target_seq


def mark_decided(request: MergeRequest, actor: Actor) -> datetime:
    """Store that decisions on a request changed, which ends its approvals; return the time of the change.

    It is later than those of all earlier changes and approvals, although the actor may state a time in the
    past: what was approved before has not seen it.
    """
    last_approval = request.approvals.aggregate(last=Max("at"))["last"]
    earlier = [at + TICK for at in (request.decided_at, last_approval) if at]
    decided_at = max(actor.write_time(), *earlier) if earlier else actor.write_time()
    request.state, request.approved_seq, request.decided_at = State.OPEN, None, decided_at
    request.save()
    return decided_at


def delete_decisions(request: MergeRequest, actor: Actor, memory: str = "", **filters: Any) -> MergeRequest:
    """Delete decisions on a request, and tell of it; return the request. Raises NotFound without any."""
    with write_transaction():
        request = lock_request(request)
        deleted, _ = request.decisions.filter(**filters).delete()
        if not deleted:
            raise NotFound("There is no decision on {memory}.", memory=memory or "them")
        mark_decided(request, actor)
        record_withdrawal(request, actor, MergeWithdrawal.Subject.DECISION, deleted, memory)
    return request


def record_withdrawal(
    request: MergeRequest, actor: Actor, subject: str, count: int, memory: str = ""
) -> None:
    """Record that an approval, or decisions, were taken back; ``memory`` is what the only decision was on."""
    MergeWithdrawal.objects.create(
        request=request,
        subject=subject,
        count=count,
        by=actor.label,
        by_kind=actor.kind,
        at=actor.write_time(),
    )
    named = {"memory": memory} if memory else {}
    record_request(request, actor, "merge_request.withdraw", {"withdrawn": subject, "count": count, **named})


def close_merged(request: MergeRequest, commit: Commit | None, points: MergePoints, actor: Actor) -> None:
    """Record that a request was merged by a commit. Raises Conflict for a merge that changed nothing."""
    mark_checked(request, points)
    if commit is None:
        names = {"source": request.source.name, "target": request.target.name}
        raise Conflict(NOTHING_TO_MERGE, **names)
    request.merge_commit = commit
    close_request(request, State.MERGED, actor, {"commit": str(commit.pk), "seq_merged": commit.seq})


def close_request(request: MergeRequest, state: str, actor: Actor, detail: dict[str, Any]) -> None:
    """Close a pending request: its branches may have another one."""
    request.state, request.slot = state, None
    request.closed_at, request.closed_by = actor.write_time(), actor.label
    request.closed_by_kind = actor.kind
    update_one(request, *CLOSED)
    record_request(request, actor, CLOSINGS[state], detail)


CLOSED = (
    *("state", "slot", "reason", "closed_at", "closed_by", "closed_by_kind"),
    *("merge_commit", "approved_seq", "source_seq", "target_seq"),
)
CLOSINGS: dict[str, str] = {State.MERGED: "merge_request.merge", State.REJECTED: "merge_request.reject"}


def record_request(
    request: MergeRequest, actor: Actor, action: str, detail: dict[str, Any] | None = None
) -> None:
    """Add an entry about a request to the audit trail, with its number and branches."""
    names = {"source": request.source.name, "target": request.target.name}
    record_entry(actor, action, str(request.pk), {"number": request.number, **names, **(detail or {})})
