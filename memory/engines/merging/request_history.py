"""What the pages of merge requests show beside the requests: their number, what happened, their commits."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import cycle, groupby
from typing import Unpack
from uuid import UUID

from django.db.models import Max, Q

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.branches.commit_titles import load_titles
from memory.engines.branches.reverted_requests import list_turns
from memory.engines.facts.links import describe_memories
from memory.engines.merging.approvals import read_approvals
from memory.engines.merging.plan import MergePoints, PlanItem
from memory.engines.merging.request_previews import request_options
from memory.engines.merging.request_rows import find_request, project_requests
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.lookup import find_branch
from memory.models import Commit, MergeRequest, MergeWithdrawal

OPENED, DECIDED, APPROVED = "opened", "decided", "approved"
MERGED, REVERTED, REJECTED = "merged", "reverted", "rejected"
WITHDRAWN = {"approval": "approval_withdrawn", "decision": "decision_withdrawn"}
TELLING = (DECIDED, WITHDRAWN["decision"])  # events that tell of conflicts, and so of the target


@dataclass(frozen=True)
class RequestEvent:
    """Something that happened to a request. ``text`` is what was said, ``count`` of decided conflicts."""

    name: str
    at: datetime
    by: str
    kind: str = ""  # of the actor
    text: str = ""
    count: int = 0
    commit: Commit | None = None


@dataclass(frozen=True)
class SourceState:
    """What a branch could ask for: a merge of commits that its parent has not, unless that waits already."""

    pending: MergeRequest | None
    is_ahead: bool


@retry_methods
class RequestHistoryEngine:
    def count_pending(self, *, actor: Actor, maximum: int) -> int:
        """Return how many requests wait for a merge, up to a maximum."""
        actor.require_scope("read")
        return project_requests(actor).filter(state__in=MergeRequest.PENDING)[:maximum].count()

    def list_events(self, *, request_id: UUID | int, actor: Actor) -> list[RequestEvent]:
        """Return what happened to a request, the oldest first. Raises NotFound.

        Who may not read the target sees neither decisions, which tell of conflicts, nor its commits.
        """
        actor.require_scope("read")
        request = find_request(actor, request_id)
        events = sorted(_collect_events(request), key=lambda event: event.at)
        if not actor.may_use(request.target.name):
            events = [replace(event, commit=None) for event in events if event.name not in TELLING]
        return list(_join_decisions(events))

    def describe_source(self, *, name: str, actor: Actor) -> SourceState:
        """Return whether a branch has commits to merge into its parent, and its pending request, if any."""
        actor.require_scope("read", name)
        branch = find_branch(actor, name)
        rows = project_requests(actor).filter(source=branch)
        pending = rows.filter(state__in=MergeRequest.PENDING).order_by("-id").first()
        merged = rows.filter(state=MergeRequest.State.MERGED, target=branch.parent_id)
        last = merged.aggregate(last=Max("merge_commit__source_seq"))["last"] or 0
        is_live = branch.parent_id is not None and branch.archived_at is None
        return SourceState(pending, is_live and branch.head > last)

    def list_commits(self, *, request_id: UUID | int, actor: Actor, **paging: Unpack[Paging]) -> Page[Commit]:
        """List the commits that a request brings, or brought, with their titles, the newest first.

        Needs the scope read on the source. Raises NotFound, Invalid.
        """
        request = find_request(actor, request_id)
        actor.require_scope("read", request.source.name)
        ranges = find_points(request).list_ranges()
        conditions = [Q(branch=branch, seq__gt=after, seq__lte=until) for branch, after, until in ranges]
        rows = Commit.objects.filter(Q(*conditions, _connector=Q.OR)) if conditions else Commit.objects.none()
        page = paginate(rows.select_related("branch"), "-id", **paging)
        load_titles(page.results)
        return page

    def load_owner_texts(
        self, *, request_id: UUID | int, items: Sequence[PlanItem], actor: Actor
    ) -> dict[UUID, str]:
        """Return the line of each memory that links and verdicts of a plan are about, by id: as the branch
        shows it, else as the target does. Needs the scope read on both.
        """
        request = find_request(actor, request_id)
        for branch in (request.source, request.target):
            actor.require_scope("read", branch.name)
        rows = [row for item in items for row in (item.ours, item.theirs) if row is not None]
        owners = {key for row in rows for key in row.owner_keys()}
        lines: dict[UUID, str] = {}
        for branch in (request.target, request.source):
            lines |= describe_memories(branch.lineage(), owners)
        return lines


def find_points(request: MergeRequest) -> MergePoints:
    """Return the points of a request: the heads, or those of its merge; else where it was checked last."""
    if request.pending:
        return request_options(request).points
    source_seq, target_seq = request.source_seq, request.target_seq
    if (commit := request.merge_commit) is not None:
        source_seq, target_seq = commit.source_seq or source_seq, commit.seq - 1
    return MergePoints(request.source.project_id, request.source, source_seq, request.target, target_seq)


def _collect_events(request: MergeRequest) -> Iterator[RequestEvent]:
    author = request.author_agent or request.author_label
    yield RequestEvent(OPENED, request.created_at, author, request.author_kind, request.description)
    for at, by, kind in request.decisions.values_list("at", "by", "by_kind"):
        yield RequestEvent(DECIDED, at, by, kind, count=1)
    for row in read_approvals(request):
        yield RequestEvent(APPROVED, row.at, row.actor_label, row.actor_kind)
    for one in request.withdrawals.all():
        count = one.count if one.subject == MergeWithdrawal.Subject.DECISION else 0
        yield RequestEvent(WITHDRAWN[one.subject], one.at, one.by, one.by_kind, count=count)
    if request.closed_at is not None:
        name = REJECTED if request.state == MergeRequest.State.REJECTED else MERGED
        commit = request.merge_commit
        kind = request.closed_by_kind or (commit.actor_kind if commit else "")
        yield RequestEvent(name, request.closed_at, request.closed_by, kind, request.reason, commit=commit)
    turns = list_turns(request.merge_commit_id) if request.merge_commit_id else ()
    for name, commit in zip(cycle((REVERTED, MERGED)), turns, strict=False):
        yield RequestEvent(name, commit.at, commit.actor_label, commit.actor_kind, commit=commit)


def _join_decisions(events: Iterable[RequestEvent]) -> Iterator[RequestEvent]:
    """Make one event of the decisions that one actor made, or took back, in a row; it has the last time."""
    for (name, _by), group in groupby(events, key=lambda event: (event.name, event.by)):
        found = list(group)
        if name in TELLING:
            yield replace(found[-1], count=sum(event.count for event in found))
        else:
            yield from found
