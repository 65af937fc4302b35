"""One conflict of a merge request: both sides and what differs, decided by keys, buttons, or no script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.engines.facts.rules import is_same
from memory.engines.merging.approvals import is_author
from memory.engines.merging.plan import BOTH, CONFLICT, EDIT, SIMILAR, SKIP, Decision, PlanItem
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.merging.request_results import RequestCheck
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.versions.policies import find_policy
from memory.exceptions import BranchArchived, Conflict, Day1Error, IllegalTransition, Invalid, NotFound
from memory.models import Fact, MergeRequest
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.frames import add_page
from memory.views.frame.view_context import with_query
from memory.views.merging.merge_labels import CHOICES, GATES
from memory.views.merging.merge_sides import Lines, Side
from memory.views.text.error_text import error_sentence

merge_request_engine, request_history = MergeRequestEngine(), RequestHistoryEngine()
HIDDEN = frozenset({"fact_text", "essence", "content", "summary"})  # shown as texts, or derived from them
PREVIEW = 20  # other changes below the conflicts
COUNTED = "updated_cycle"  # by each write, and merged by itself
MAX_NUMBER = 2**31 - 1
RECOVERABLE_ERRORS = (Invalid, IllegalTransition, BranchArchived, Conflict)


@dataclass(frozen=True)
class FieldRow:
    """A field in which both sides differ; ``bases`` are what they last agreed to, one value or two."""

    name: str
    bases: Sequence[Any]
    ours: Any
    theirs: Any
    merged: Any
    is_open: bool  # whether the decision settles it

    @classmethod
    def from_item(cls, item: PlanItem, name: str) -> "FieldRow":
        base, ours, theirs, merged = item.fields[name]
        bases = item.disagreed.get(name, (base,))
        columns = {field.partition(".")[0] for field in item.conflicting}
        return cls(name, bases, ours, theirs, merged, item.removed or name in columns)


@dataclass(frozen=True)
class ConflictView:
    """A conflict as it is drawn: ``ours`` of the target, ``theirs`` of the branch."""

    item: PlanItem
    choices: tuple[str, ...]
    lines: Lines  # of the memories that a link or a verdict is about

    @classmethod
    def from_item(cls, item: PlanItem, lines: Lines) -> "ConflictView":
        return cls(item, list_choices(item), lines)

    @property
    def choice(self) -> str:
        return self.item.decision.choice if self.item.decision else ""

    @property
    def is_pair(self) -> bool:
        return self.item.reason in SIMILAR

    @property
    def base(self) -> Side | None:
        return None if self.is_pair else Side.from_row(self.item.build_base(), self.lines)

    @property
    def ours(self) -> Side | None:
        return Side.from_row(self.item.other if self.is_pair else self.item.ours, self.lines)

    @property
    def theirs(self) -> Side | None:
        return Side.from_row(self.item.theirs, self.lines)

    @property
    def has_texts(self) -> bool:
        """Return whether both sides have a text that can be compared word by word."""
        return bool(self.ours and self.theirs and not self.ours.removed and not self.theirs.removed)

    @property
    def new_text(self) -> str:
        """Return what the field for an edited text begins with: a decided text, else the branch's."""
        typed = self.item.decision.text if self.item.decision else ""
        side = self.ours if self.theirs is None or self.theirs.removed else self.theirs
        return typed or (side.text if side else "")

    @property
    def other_fields(self) -> list["FieldRow"]:
        """Return the fields in which the sides differ, but for a text in conflict, which is shown above."""
        if self.is_pair:
            return []
        rows = [FieldRow.from_item(self.item, name) for name in self.item.fields]
        differing = [row for row in rows if row.name != COUNTED and not is_same(row.ours, row.theirs)]
        return [row for row in differing if row.name not in HIDDEN or not row.is_open]


def list_choices(item: PlanItem) -> tuple[str, ...]:
    """Return the choices that fit a conflict: only facts can be kept both or edited."""
    if item.model is not Fact:
        return ("target", "source", SKIP)
    sides = (item.other, item.theirs) if item.reason in SIMILAR else (item.ours, item.theirs)
    removed = any(row is None or row.deleted for row in sides)
    return ("target", "source", EDIT, SKIP) if removed else ("target", "source", BOTH, EDIT, SKIP)


def check_number(number: int) -> int:
    """Check the number of a request. Raises NotFound."""
    if number > MAX_NUMBER:
        raise NotFound()
    return number


def build_gates(found: RequestCheck, address: str) -> list[dict[str, Any]]:
    """Return the results of the checks, each with the address of what it is about."""
    results = found.check.results if found.check else ()
    return [
        {
            "name": one.name,
            "title": GATES.get(one.name, one.name),
            "state": one.state,
            "count": one.count,
            "reason": _(one.template).format(**one.data),
            "url": with_query(address, gate_query(one.name)),
        }
        for one in results
    ]


def gate_query(name: str) -> dict[str, str]:
    if name in ("approvals", "fast_forward"):  # about no memories
        return {}
    if name == "recall":
        return {"tab": "recall"}
    return {"tab": "changes"} if name == "conflicts" else {"tab": "changes", "gate": name}


class RequestPart(ProjectPage):
    """What the pages of one request share: its check, made once for a page, and its gates."""

    section = "merge-requests"

    @property
    def number(self) -> int:
        return check_number(self.kwargs["number"])

    @property
    def address(self) -> str:
        return self.reader.url("merge-request", self.number, branch="", at="")

    def load_check(self) -> RequestCheck:
        return merge_request_engine.check_request(request_id=self.number, actor=self.reader.actor)

    def load_lines(self, items: Sequence[PlanItem]) -> Lines:
        """Return the lines of the memories that links and verdicts among some items are about."""
        parts = [item for item in items if item.model.OWNERS]
        if not parts:
            return {}
        actor = self.reader.actor
        return request_history.load_owner_texts(request_id=self.number, items=parts, actor=actor)

    def describe_check(self, found: RequestCheck) -> dict[str, Any]:
        """Return the context of the gates and the foot."""
        undecided = sum(found.view.undecided.values()) if found.view else 0
        return {
            "merge": found.request,
            "address": self.address,
            "gates": build_gates(found, self.address),
            "mergeable": bool(found.check and found.check.mergeable),
            "undecided": undecided,
            **self.describe_rights(found.request),
            **self.describe_approval(found),
            **self.offer_few(found),
        }

    def offer_few(self, found: RequestCheck) -> dict[str, Any]:
        """Return what offers a verdict of all facts that wait for one, where the first tab shows them all."""
        results = found.check.results if found.check else ()
        ids = list(dict.fromkeys(uid for one in results for uid in one.verifiable))
        return self.offer_verification(found, ids) if len(ids) <= PREVIEW else {}

    def offer_verification(self, found: RequestCheck, ids: Sequence[UUID]) -> dict[str, Any]:
        """Return which of some facts the reader may verify, with the words of the button."""
        if not (ids and found.view and self.describe_rights(found.request)["may_verify"]):
            return {}
        facts = [item for item in found.view.find_items(ids) if item.model is Fact]
        text = ngettext(
            "Verify this fact: I have read it", "Verify these %(n)d facts: I have read them", len(facts)
        )
        return {"verifiable": facts, "verify_text": text % {"n": len(facts)}}

    def describe_approval(self, found: RequestCheck) -> dict[str, bool]:
        """Return whether the reader has approved the request, and whether that counts still."""
        actor = self.reader.actor
        rows = [one for one in found.approvals if one.row.actor_id == actor.id]
        own = [one for one in rows if one.row.actor_kind == actor.kind]
        return {"has_approved": bool(own), "has_live_approval": any(not one.outdated for one in own)}

    def describe_rights(self, request: MergeRequest) -> dict[str, bool]:
        """Return what the reader may do with a request as it is now."""
        actor, can = self.reader.actor, self.reader.can
        is_own = is_author(request, actor)
        alone = is_own and not find_policy(actor.project_id, request.target.name).author_may_approve
        archived = any(branch.archived_at for branch in (request.source, request.target))
        live = request.pending and self.reader.is_now
        open_branches = live and not archived
        return {
            "is_archived": archived,
            "may_decide": open_branches and can["curate"],
            "may_verify": open_branches and can["curate"] and not request.source.read_only,
            "may_merge": open_branches and can["merge"],
            "may_approve": open_branches and can["merge"] and not alone,
            "needs_another": open_branches and can["merge"] and alone,
            "may_withdraw": live and can["merge"],
            "may_reject": live and (can["merge"] or (is_own and can["write"])),
            "may_revert": request.state == MergeRequest.State.MERGED and can["merge"],
        }


@add_page("merge-requests/<int:number>/conflicts/<slug:kind>/<uuid:uid>", "merge-conflict")
class ConflictPage(RequestPart):
    """One conflict. For a script, only its entry in the list is rendered."""

    template_name = "merge_conflict.html"
    fragment_name = "merge/conflict_again.html"
    title = gettext_lazy("Conflict")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = kwargs.pop("found", None) or self.load_check()
        item = self._find_item(found)
        if item is None:
            raise NotFound()
        lines = self.load_lines([item])
        shown = {"one": ConflictView.from_item(item, lines), **self.describe_check(found)}
        return super().get_context_data(**shown, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        if request.GET.get("do") == "withdraw":
            return self._withdraw()
        choice = request.POST.get("choice", "")
        try:
            self._decide(choice)
        except RECOVERABLE_ERRORS as error:
            return self._render_refused(error)
        undo = with_query(request.path, {"do": "withdraw"})
        flash_success(request, _("Decided: %(choice)s.") % {"choice": CHOICES[choice]}, undo=undo)
        return self._render_answered(str(CHOICES[choice]))

    def _decide(self, choice: str) -> None:
        post = self.request.POST
        text = post.get("text", "").replace("\r\n", "\n") if choice == EDIT else ""
        decision = Decision(self.kwargs["uid"], choice, post.get("token", ""), text, self.kwargs["kind"])
        merge_request_engine.decide_conflicts(
            request_id=self.number, decisions=[decision], actor=self.reader.actor
        )

    def _withdraw(self) -> HttpResponse:
        key = {"kind": self.kwargs["kind"], "uid": self.kwargs["uid"]}
        merge_request_engine.withdraw_decision(request_id=self.number, **key, actor=self.reader.actor)
        flash_success(self.request, _("The conflict is undecided again."))
        if getattr(self.request, "htmx", False):
            return HttpResponse(status=204)
        return redirect(with_query(self.address, {"tab": "changes"}))

    def _find_item(self, found: RequestCheck) -> PlanItem | None:
        item = found.view.find_item(self.kwargs["kind"], self.kwargs["uid"]) if found.view else None
        return item if item is not None and item.outcome == CONFLICT else None

    def _render_refused(self, error: Day1Error) -> HttpResponse:
        """Render the conflict as it is now, with the reason and the input; or that it is none any more."""
        found = self.load_check()
        if found.check is None:
            raise error
        if self._find_item(found) is None:
            flash_warning(self.request, error_sentence(error))
            return self._render_answered(_("This is no conflict any more."), found)
        context = self.get_context_data(found=found, refusal=error, typed=self.request.POST)
        return self.render_to_response(context, status=error.status)

    def _render_answered(self, text: str, found: RequestCheck | None = None) -> HttpResponse:
        if not getattr(self.request, "htmx", False):
            return redirect(with_query(self.address, {"tab": "changes"}))
        shown = self.describe_check(found or self.load_check())
        context = super().get_context_data(**shown, said=text, **self.kwargs)
        self.fragment_name = "merge/conflict_answered.html"
        return self.render_to_response(context)
