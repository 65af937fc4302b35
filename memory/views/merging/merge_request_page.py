"""The page of one merge request: its gates, what happened, its changes and commits, and what can be done."""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.branches.commit_titles import load_contents
from memory.engines.facts.bulk_actions import DONE, REFUSED, Report
from memory.engines.facts.field_diff import display_changes
from memory.engines.merging.gates import GateResult
from memory.engines.merging.plan import APPLIED, CLASSES, CONFLICT, PlanItem
from memory.engines.merging.plan_views import PlanView
from memory.engines.merging.request_previews import show_recall
from memory.engines.merging.request_results import RequestCheck
from memory.engines.support.pagination import Page
from memory.exceptions import BranchArchived, Conflict, Day1Error, IllegalTransition, Invalid
from memory.operations.facts import FACTS
from memory.operations.merge_requests import MERGE_REQUESTS
from memory.views.facts.bulk import read_tick
from memory.views.frame.frames import add_page
from memory.views.frame.view_context import with_query
from memory.views.generic.actions import Action, ActionPage, Caution
from memory.views.merging.merge_conflicts import (
    HIDDEN,
    PREVIEW,
    ConflictView,
    RequestPart,
    merge_request_engine,
    request_history,
)
from memory.views.merging.merge_sides import Lines, Side
from memory.views.sessions.question_rows import build_rows, describe_results
from memory.views.text.error_text import error_sentence

TABS = {
    "conversation": gettext_lazy("Conversation"),
    "changes": gettext_lazy("Changes"),
    "commits": gettext_lazy("Commits"),
    "recall": gettext_lazy("Recall"),
}
CONFLICTS = 20  # of a page; the next ones are fetched before they run out
VERIFIED_AT_ONCE = 100  # facts that a page shows and verifies
BROUGHT = (CONFLICT, APPLIED)
OTHERS = tuple(name for name in CLASSES if name != CONFLICT)
DECIDED_AT = "decided_at"
REFUSALS = (BranchArchived, Conflict, IllegalTransition, Invalid)


def tell_verified(report: Report) -> str:
    """Return how many facts were verified, and how many could not be."""
    done = _("Facts verified: %(count)d.") % {"count": report.count_outcome(DONE)}
    if not (refused := report.count_outcome(REFUSED)):
        return done
    text = _("Not verified, since they changed or are gone: %(count)d.") % {"count": refused}
    return Caution(f"{done} {text}")


@add_page("merge-requests/<int:number>", "merge-request")
class MergeRequestPage(ActionPage, RequestPart):
    template_name = "merge_request.html"
    usual = ""
    actions = {
        "approve": Action(
            MERGE_REQUESTS["approve"], gettext_lazy("Approved."), fields=("source_seq", DECIDED_AT)
        ),
        "withdraw": Action(MERGE_REQUESTS["withdraw_approval"], gettext_lazy("Your approval is taken back.")),
        "reject": Action(
            MERGE_REQUESTS["reject"], gettext_lazy("Rejected: nothing was merged."), fields=("reason",)
        ),
        "merge": Action(
            MERGE_REQUESTS["merge"],
            gettext_lazy("Merged into %(request.target.name)s."),
            undone_by="revert",
        ),
        "revert": Action(
            MERGE_REQUESTS["revert"],
            gettext_lazy("The merge was taken back: everything is as before."),
        ),
        "settle": Action(  # what was decided stays as it is
            MERGE_REQUESTS["decisions"],
            gettext_lazy("Conflicts decided: %(decided)d."),
            fields=("choice", "reasons"),
            fixed={"only_open": True},
        ),
        "unsettle": Action(
            MERGE_REQUESTS["withdraw_decision"], gettext_lazy("The conflicts are undecided again.")
        ),
        "verify": Action(FACTS["actions"], tell_verified, fixed={"action": "verify"}),
    }

    @property
    def places(self) -> dict[str, Any]:
        return {"request_id": self.number}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = self.load_check()
        tab = self.request.GET.get("tab", "")
        tab = tab if tab in TABS else "conversation"
        shown = {**self.describe_check(found), "tab": tab, "tabs": TABS, "tab_template": f"merge/{tab}.html"}
        shown["change_count"] = count_changes(found.view) if found.view else 0
        shown |= getattr(self, f"_{tab}_context")(found)
        return super().get_context_data(title=str(found.request), found=found, **shown, **kwargs)

    # ---- what can be done ----------------------------------------------------------------------

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        """Carry out an action; facts are verified as the page showed them."""
        if name == "unsettle":
            values[DECIDED_AT] = self.request.GET.get(DECIDED_AT, "")
        if name == "verify":
            request = self._act(merge_request_engine.get_request)
            read = dict(map(read_tick, self.request.POST.getlist("fact")))
            known = {uid: version for uid, version in read.items() if version}
            values |= {"branch": request.source.name, "fact_ids": list(read), "expected_versions": known}
        return super().carry_out(name, values)

    def render_refused(self, name: str, error: Day1Error) -> HttpResponse:
        if not isinstance(error, REFUSALS):
            raise error
        context = self.get_context_data(refusal=error_sentence(error), typed=self.request.POST)
        return self.render_to_response(context, status=error.status)

    def render_done(self, name: str, result: Any) -> HttpResponse:
        response = super().render_done(name, result)
        return HttpResponse(status=204) if getattr(self.request, "htmx", False) else response

    def find_undo(self, action: Action, result: Any) -> str:
        if action is self.actions["settle"] and result.decided_at:
            return with_query(self.address, {"do": "unsettle", DECIDED_AT: result.decided_at.isoformat()})
        return super().find_undo(action, result)

    def find_next(self, action: Action, result: Any) -> str:
        """Return the address of the changes after one of their buttons, else that of the request."""
        is_verify = action is self.actions["verify"]
        tab = "changes" if is_verify or action is self.actions["settle"] else ""
        return with_query(self.address, {"tab": tab, "gate": "require_verified" if is_verify else ""})

    def _act(self, method: Callable[..., Any], **options: Any) -> Any:
        return method(request_id=self.number, actor=self.reader.actor, **options)

    # ---- tabs ----------------------------------------------------------------------------------

    def _conversation_context(self, found: RequestCheck) -> dict[str, Any]:
        """Return what happened, and of a request that is open the changes, which are decided in place."""
        events = {"events": self._act(request_history.list_events), "approvals": found.approvals}
        return events | (self._changes_context(found) if found.request.pending else {})

    def _commits_context(self, found: RequestCheck) -> dict[str, Any]:
        page = self._act(request_history.list_commits, **self.paging())
        load_contents(page.results)
        return {"page": page}

    def _recall_context(self, found: RequestCheck) -> dict[str, Any]:
        """Return the ranks before and after of the questions that the reader may read."""
        if found.check is None or not self.reader.actor.may_use(found.request.target.name):
            return {}
        recall = show_recall(found.request)
        return {
            "recall": recall,
            "rows": build_rows(self.reader.actor, describe_results(recall)),
            "k": recall.k,
        }

    def _changes_context(self, found: RequestCheck) -> dict[str, Any]:
        if found.view is None:
            return {}
        view, get = found.view, self.request.GET
        kind, gate, outcome = (get.get(name, "") for name in ("type", "gate", "class"))
        gate = gate if gate and find_result(found, gate).ids else ""  # it is about nothing any more
        shown = {"figures": list_figures(view), "gate": gate}
        if gate:
            return {**shown, **self._list_failing(found, gate)}
        if outcome and outcome != CONFLICT:
            return {**shown, **self._list_class(found, kind, [outcome])}
        return {**shown, **self._list_conflicts(found, view, kind)}

    def _list_class(self, found: RequestCheck, kind: str, classes: Sequence[str]) -> dict[str, Any]:
        page = self._list_plan(found, kind=kind, classes=classes, **self.paging())
        return {**self._group_items(page.results), "page": page}

    def _list_plan(self, found: RequestCheck, **options: Any) -> Page[PlanItem]:
        return self._act(merge_request_engine.plan_request, checked=found, **options).plan.page

    def _list_failing(self, found: RequestCheck, gate: str) -> dict[str, Any]:
        result = find_result(found, gate)
        ids = dict.fromkeys([*result.ids, *result.verifiable[:VERIFIED_AT_ONCE]])
        items = found.view.find_items(list(ids)) if found.view else []
        shown = {**self._group_items(items), "gate_count": result.count, "named": len(ids)}
        return shown | self.offer_verification(found, result.verifiable[:VERIFIED_AT_ONCE])

    def _group_items(self, items: Sequence[PlanItem]) -> dict[str, Any]:
        lines = self.load_lines(items)
        return {"groups": group_items(items, lines), "ends": lines}

    def _list_conflicts(self, found: RequestCheck, view: PlanView, kind: str) -> dict[str, Any]:
        """Return a page of conflicts, and below the first page what else the merge brings."""
        options = {"kind": kind, "classes": [CONFLICT], **self.paging(CONFLICTS)}
        page = self._list_plan(found, **options)
        others = view.list_positions("", OTHERS) if not options["cursor"] else []
        preview = view.load(others[:PREVIEW])
        lines = self.load_lines([*page.results, *preview])
        return {
            "conflicts": [ConflictView.from_item(item, lines) for item in page.results],
            "page": page,
            "groups": group_items(preview, lines),
            "ends": lines,
            "others": len(others),
            "more": max(len(others) - PREVIEW, 0),
            "reasons": list(view.undecided.items()),
        }


def list_figures(view: PlanView) -> list[tuple[str, str, int]]:
    """Return the counts of a plan, conflicts first: class, kind, number. Confirmations have no list."""
    counts = view.counts
    return [
        (outcome, kind, by_class[outcome])
        for outcome in CLASSES
        for kind, by_class in counts.items()
        if outcome in by_class and kind != "confirmation"
    ]


def count_changes(view: PlanView) -> int:
    """Return how many memories the merge would change, those with a conflict among them."""
    return sum(count for outcome, _kind, count in list_figures(view) if outcome in BROUGHT)


def find_result(found: RequestCheck, name: str) -> GateResult:
    """Return the result of a gate. Raises Invalid."""
    results = {one.name: one for one in found.check.results} if found.check else {}
    if name not in results:
        raise Invalid("The settings name no gate {gate}.", gate=name)
    return results[name]


def group_items(items: Sequence[PlanItem], lines: Lines) -> list[dict[str, Any]]:
    """Group items by kind and, of facts, by category, in the order of the plan."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for item in items:
        category = getattr(item.theirs, "category", "") or ""
        groups.setdefault((item.kind, category), []).append(describe_item(item, lines))
    return [{"kind": kind, "category": category, "rows": found} for (kind, category), found in groups.items()]


def describe_item(item: PlanItem, lines: Lines) -> dict[str, Any]:
    """Return what a row of the changes shows: the text before, where there was one, after, and of a fact the
    other fields that change.
    """
    before, after = (Side.from_row(row, lines) for row in (item.ours, item.theirs))
    is_change = item.kind == "fact" and before and not before.removed and after and not after.removed
    changes = display_changes(item.ours, item.theirs) if is_change else {}
    fields = [(name, pair) for name, pair in changes.items() if name not in HIDDEN]
    return {"item": item, "before": before, "after": after, "fields": fields}


@add_page("merge-requests/<int:number>/checks", "merge-request-checks")
class RequestChecks(RequestPart):
    """The checks of a request in short, which the list fetches for each."""

    template_name = "merge_request.html"
    fragment_name = "merge/checks.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not getattr(request, "htmx", False):
            return redirect(self.address)
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**self.describe_check(self.load_check()), **kwargs)
