"""Merge requests: a merge is asked for, checked, settled conflict by conflict, approved, and carried out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Unpack
from uuid import UUID

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.branches.revert import RevertEngine
from memory.engines.branches.reverted_requests import find_standing
from memory.engines.fields import merges
from memory.engines.fields.orders import MERGE_REQUESTS
from memory.engines.merging import approvals, conflict_decisions, request_previews, request_rows, strategies
from memory.engines.merging.builder import draft_plan
from memory.engines.merging.checked_merge import MergeResult, merge_checked, renew_approvals
from memory.engines.merging.gates import list_undecided
from memory.engines.merging.plan import CLASS, Decision, FullPlan
from memory.engines.merging.plan_pages import PlanQuery, cut_plan, find_points
from memory.engines.merging.request_results import MergedRequest, RequestCheck, RequestPlan, Settled
from memory.engines.support import validation as c
from memory.engines.support.idempotency import Keep, keep_nothing
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import find_policy
from memory.exceptions import BranchReadOnly, IllegalTransition, Invalid, NotFound
from memory.models import Fact, MergeRequest, MergeWithdrawal

State = MergeRequest.State
REASON = merges.MERGE_REQUEST["reason"]


@retry_methods
class MergeRequestEngine:
    def create_request(
        self,
        *,
        source: str,
        actor: Actor,
        target: str = MAIN,
        title: str = "",
        description: str = "",
        strategy: str = "auto",
        ids: Sequence[UUID] = (),
    ) -> MergeRequest:
        """Open a request to merge ``source`` into ``target``.

        Into main anybody may ask who may write to the source. Raises Invalid (a branch into itself, strategy,
        ids that the source does not have), BranchNotFound, BranchArchived, BranchReadOnly, Exists while the
        pair has a pending request, scope and branch refusals.
        """
        actor.require_scope("write", source)
        if target != MAIN:
            actor.require_scope("read", target)
        branches = strategies.find_branches(actor, source, target)
        if branches[1].read_only:
            raise BranchReadOnly(name=target)
        texts = {"title": title or f"Merge {source} into {target}"[:200], "description": description}
        values = {name: merges.MERGE_REQUEST[name].check(name, text) for name, text in texts.items()}
        values["strategy"], chosen = strategies.parse_strategy(strategy, ids)
        strategies.check_known(branches[0].lineage(), chosen)
        with write_transaction():
            return request_rows.insert_request(actor, *branches, ids=[str(uid) for uid in chosen], **values)

    def get_request(self, *, request_id: UUID | int, actor: Actor) -> MergeRequest:
        """Return a request by its id or its number. Raises NotFound."""
        actor.require_scope("read")
        return request_rows.find_request(actor, request_id)

    def list_requests(
        self,
        *,
        actor: Actor,
        state: str = "",
        source: str = "",
        target: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[MergeRequest]:
        """List the requests that the actor may see, the newest first. Raises Invalid."""
        actor.require_scope("read")
        # Branches are read for the page alone: the database would sort them with the requests.
        rows = request_rows.project_requests(actor).select_related(None)
        for name, branch in (("source", source), ("target", target)):
            if branch:
                rows = rows.filter(**{f"{name}__name": c.text_check(200)(name, branch)})
        shown = approvals.filter_state(rows, c.one_of(State.values)("state", state)) if state else rows
        return paginate(shown, MERGE_REQUESTS, **paging, of=rows, prepare=request_rows.load_requests)

    def check_request(self, *, request_id: UUID | int, actor: Actor) -> RequestCheck:
        """Return a request with its approvals and the results of its checks as both branches are now; for a
        closed request, or one of an archived branch, why there are none.

        Needs the scope read on the source; who may not read the target sees of its checks only what does
        not depend on it. Raises NotFound, scope and branch refusals.
        """
        request = self._readable(request_id, actor)
        reason = request_rows.explain_closed(request)
        hidden = not actor.may_use(request.target.name)
        check, view = (
            (None, None)
            if reason
            else (request_previews.hide_request if hidden else request_previews.show_check)(request)
        )
        policy = find_policy(request.project_id, request.target.name)
        return RequestCheck(request, approvals.list_approvals(request, policy), check, reason, view)

    def plan_request(
        self,
        *,
        request_id: UUID | int,
        actor: Actor,
        kind: Annotated[str, merges.KIND] = "",
        classes: Annotated[Sequence[str], CLASS] = (),
        limit: int = 50,
        cursor: str = "",
        checked: RequestCheck | None = None,
    ) -> RequestPlan:
        """Return a page of what a pending request would merge, with the decisions on its conflicts.

        The plan of a request that was just ``checked`` is not made again. Needs the scope read on the source;
        who may not read the target sees what the source brings alone, and no class of it. Raises Invalid,
        IllegalTransition for a closed request, BranchArchived, scope and branch refusals.
        """
        request = self._readable(request_id, actor)
        if classes:
            actor.require_scope("read", request.target.name)
        request_rows.check_pending(request)
        strategies.check_live(request.source, request.target)
        hidden = not actor.may_use(request.target.name)
        options, query = request_previews.request_options(request), PlanQuery(kind, classes, limit, cursor)
        points, view = find_points(options, query), checked.view if checked else None
        if view is None or view.points != points:
            view = request_previews.show_plan(request, points)
        plan = cut_plan(view, options, query, hidden)
        if hidden:
            return RequestPlan(request, plan, {})
        rows = request.decisions.filter(uid__in=[item.uid for item in plan.page.results])
        return RequestPlan(request, plan, {(row.kind, row.uid): row for row in rows})

    def decide_conflicts(
        self,
        *,
        request_id: UUID | int,
        actor: Actor,
        decisions: Annotated[Sequence[Decision | Mapping[str, Any]], merges.DECISIONS] = (),
        choice: Annotated[str, merges.RULE] = "",
        reasons: Annotated[Sequence[str], merges.REASONS] = (),
        kind: Annotated[str, merges.RULE_KIND] = "",
        only_open: Annotated[bool, merges.ONLY_OPEN] = False,
        keep: Keep = keep_nothing,
    ) -> Settled:
        """Decide conflicts: those in ``decisions``, or by rule ``choice`` for all of some reasons and a kind,
        of which ``only_open`` leaves those that were decided. Beside an edit of the same fact a rule leaves
        a conflict undecided that would replace it.

        A decision with a token holds for the conflict that was read, one without for the present one. The
        latest decision counts, and ends approvals that were made before. ``keep`` is called with the result,
        in the transaction that stores the decisions. Needs the scope curate on the target. Raises Invalid,
        Conflict with the present conflicts where some changed since, IllegalTransition for a closed request,
        BranchArchived.
        """
        request = self._writable(request_id, actor, "curate")
        actor.require_scope("read", request.source.name)
        parsed = conflict_decisions.check_given(decisions, choice)
        options = request_previews.build_options(request)
        points = options.points
        draft = draft_plan(points)
        bare = conflict_decisions.settle_plan(replace(options, decisions=()), draft)
        if choice:
            earlier = conflict_decisions.select_current(bare, options.decisions)
            bound = conflict_decisions.apply_rule(bare, choice, reasons, kind, earlier, only_open)
        else:
            bound = conflict_decisions.bind_decisions(parsed, bare)
        joined = conflict_decisions.join_decisions(bare, options.decisions, bound)
        conflict_decisions.refuse_rivals(bare, joined)
        options = replace(options, decisions=joined)
        plan = conflict_decisions.settle_plan(options, draft)
        settled = Settled(request, len(bound), len(list_undecided(plan)))
        return _store_decisions(settled, bound, plan, actor, keep) if bound else settled

    def withdraw_decision(
        self,
        *,
        request_id: UUID | int,
        actor: Actor,
        uid: Annotated[UUID | None, merges.DECIDED_ID] = None,
        kind: Annotated[str, merges.KIND] = "",
        decided_at: Annotated[datetime | None, merges.DECIDED_AT] = None,
    ) -> MergeRequest:
        """Make a conflict undecided again, or all that the actor decided in one call, at this time; what was
        decided anew since stays. It ends approvals too. Needs the scope curate on the target.

        Raises Invalid unless it is either, NotFound without a decision on it, IllegalTransition for a closed
        request, BranchArchived.
        """
        if (uid is None) == (decided_at is None) or (uid is None and kind):
            raise Invalid("Name one memory by id and type, or a call by decided_at.", field="id")
        request = self._writable(request_id, actor, "curate")
        if uid is None:
            return request_rows.delete_decisions(
                request, actor, at=decided_at, by=actor.label, by_kind=actor.kind
            )
        kind = kind or Fact.KIND.name
        return request_rows.delete_decisions(request, actor, f"{kind} {uid}", kind=kind, uid=uid)

    def approve_request(
        self,
        *,
        request_id: UUID | int,
        actor: Actor,
        source_seq: Annotated[int | None, merges.SOURCE_SEQ] = None,
        decided_at: Annotated[datetime | None, merges.READ_AT] = None,
        keep: Keep = keep_nothing,
    ) -> RequestCheck:
        """Approve a request with the source as it is now; a newer commit ends the approval.

        ``source_seq`` is the seq of the source that was read, ``decided_at`` when the decisions that were
        read had changed last. ``keep`` is called with the result, in the transaction that stores the
        approval. Needs the scope merge on the target. Raises Conflict for its
        author, where the policy wants another, for a source that has moved since, and for decisions that
        changed meanwhile; IllegalTransition for a closed request, BranchArchived.
        """
        request = self._writable(request_id, actor, "merge")
        policy = find_policy(actor.project_id, request.target.name)
        approvals.require_other(request, policy, actor)
        actor.require_scope("read", request.source.name)
        decisions = conflict_decisions.load_decisions(request)
        check, view = request_previews.show_check(request)  # it takes long: before the lock
        points = view.points
        with write_transaction():
            request = request_rows.lock_request(request)
            request_rows.check_unmoved(request.source, source_seq)
            conflict_decisions.check_undecided_since(request, decided_at)
            conflict_decisions.check_decided(request, decisions)
            approvals.insert_approval(request, actor, points.source_seq)
            approvals.refresh_states([request])
            request_rows.mark_checked(request, points)
            request.save()
            request_rows.record_request(
                request, actor, "merge_request.approve", {"at_seq": points.source_seq}
            )
            check = renew_approvals(check, request)
            found = RequestCheck(request, approvals.list_approvals(request, check.policy), check, view=view)
            keep(found)
        return found

    def withdraw_approval(self, *, request_id: UUID | int, actor: Actor) -> MergeRequest:
        """Take the actor's own approval back. Needs the scope merge on the target.

        Raises NotFound without one, IllegalTransition for a closed request.
        """
        request = request_rows.find_request(actor, request_id)
        actor.require_scope("merge", request.target.name)
        with write_transaction():
            request = request_rows.lock_request(request)
            if not approvals.delete_approval(request, actor):
                raise NotFound("You have not approved merge request {number}.", number=request.number)
            approvals.refresh_states([request])
            request.save()
            request_rows.record_withdrawal(request, actor, MergeWithdrawal.Subject.APPROVAL, 1)
        return request

    def reject_request(
        self, *, request_id: UUID | int, actor: Actor, reason: Annotated[str, REASON] = ""
    ) -> MergeRequest:
        """Close a request without a merge. Needs the scope merge on the target; its author may withdraw it.

        Raises IllegalTransition for a closed request.
        """
        request = request_rows.find_request(actor, request_id)
        if not approvals.is_author(request, actor):
            actor.require_scope("merge", request.target.name)
        actor.require_scope("write", grows=False)
        reason = REASON.check("reason", reason)
        with write_transaction():
            request = request_rows.lock_request(request)
            request.reason = reason
            request_rows.close_request(request, State.REJECTED, actor, {"reason": reason})
        return request

    def merge_request(
        self,
        *,
        request_id: UUID | int,
        actor: Actor,
        message: Annotated[str, merges.MESSAGE] = "",
        force: Annotated[bool, merges.FORCE] = False,
        keep: Keep = keep_nothing,
    ) -> MergedRequest:
        """Merge a request whose gates pass and whose approvals suffice.

        ``force`` merges in spite of them: it needs the scope admin for every agent, and is audited. ``keep``
        is called with the result, in the transaction of the merge. Raises Conflict that names the gates, why,
        and the memories; IllegalTransition when it is closed, also for the second of two that merge at once;
        BranchArchived, scope and branch refusals.
        """
        request = self._writable(request_id, actor, "admin" if force else "merge")
        actor.require_scope("read", request.source.name)
        options = request_previews.build_options(request)
        title = message or f"#{request.number} {request.title}"

        def answer(result: MergeResult) -> MergedRequest:
            assert result.request is not None
            return MergedRequest(result.request, result)

        return answer(merge_checked(options, actor, title, force, keep=lambda result: keep(answer(result))))

    def revert_request(self, *, request_id: UUID | int, actor: Actor) -> MergeRequest:
        """Revert the merge of a request by a new commit. Needs the scope merge on the target.

        Raises IllegalTransition for a request that is not merged, and Conflict with the ids when something
        of the merge has changed since.
        """
        request = request_rows.find_request(actor, request_id)
        actor.require_scope("merge", request.target.name)
        with write_transaction():
            request = MergeRequest.objects.select_for_update().get(pk=request.pk)
            if request.state != State.MERGED or request.merge_commit_id is None:
                raise IllegalTransition(
                    "Only a merged request can be reverted: {number} is {state}.",
                    number=request.number,
                    state=request.current_state,
                )
            RevertEngine().revert_commit(commit_id=find_standing(request.merge_commit_id), actor=actor)
        return request_rows.find_request(actor, request.pk)

    # ---- pieces --------------------------------------------------------------------------------

    def _readable(self, request_id: UUID | int, actor: Actor) -> MergeRequest:
        """Return a request to an actor that may read its source; what the target has is hidden elsewhere."""
        request = request_rows.find_request(actor, request_id)
        actor.require_scope("read", request.source.name)
        return request

    def _writable(self, request_id: UUID | int, actor: Actor, scope: str) -> MergeRequest:
        """Return a pending request of live branches, to an actor with a scope on its target."""
        request = request_rows.find_request(actor, request_id)
        strategies.require_on_target(actor, scope, request.target.name)
        request_rows.check_pending(request)
        strategies.check_live(request.source, request.target)
        return request


def _store_decisions(
    settled: Settled, decisions: Sequence[Decision], plan: FullPlan, actor: Actor, keep: Keep
) -> Settled:
    """Store decisions; the plan with them and all earlier ones is shown next."""
    read_at = settled.request.decided_at
    with write_transaction():
        request = request_rows.lock_request(settled.request)
        is_current = request.decided_at == read_at
        request_rows.mark_checked(request, plan.points)
        decided_at = request_rows.mark_decided(request, actor)
        conflict_decisions.store_decisions(request, decisions, actor, decided_at)
        request_rows.record_request(request, actor, "merge_request.decide", {"decided": len(decisions)})
        settled = replace(settled, request=request, decided_at=decided_at)
        keep(settled)
    if is_current:
        request_previews.keep_plan(request_previews.build_shown_key(request, plan.points), plan)
    return settled
