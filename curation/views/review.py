"""The review queue: questions for a person, answered by keys, by buttons, or without a script."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.engines.queue.engine import QueueEngine
from curation.engines.queue.reasons import Reason
from curation.engines.review.review_queue import DECISIONS, KEEPING_ONE, ReviewEngine
from curation.models import ReviewItem
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.engines.support import validation as c
from memory.exceptions import BranchArchived, Conflict, Day1Error, IllegalTransition, Invalid, StaleVersion
from memory.views.facts.proposals import asked_again, render_answered
from memory.views.frame.base import ProjectPage, base_context
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.navigation import count_for_actor
from memory.views.frame.view_context import (
    MAX_COUNTED_QUESTIONS,
    REQUESTS,
    ViewContext,
    build_undo_url,
    format_count,
)
from memory.views.frame.widgets import parse_number
from memory.views.generic.filter_tokens import refuse_unknown
from memory.views.text.error_text import error_sentence

review_engine = ReviewEngine()
PROPOSALS = ProposalEngine()
ITEMS = 20
REASONS: dict[Reason, Any] = {
    Reason.PROPOSED: gettext_lazy("Proposals"),
    Reason.CONTESTED: gettext_lazy("Contradictions"),
    Reason.NEAR_DUPLICATE: gettext_lazy("Near duplicates"),
    Reason.DISAGREEMENT: gettext_lazy("Disputed ratings"),
    Reason.EXPIRING: gettext_lazy("Expiring"),
    Reason.UNVERIFIED: gettext_lazy("Unverified"),
    Reason.NEVER_RECALLED: gettext_lazy("Never recalled"),
}
FREQUENT = (Reason.PROPOSED, Reason.CONTESTED, Reason.NEAR_DUPLICATE, Reason.EXPIRING, Reason.UNVERIFIED)
# Lists of questions and proposals on all branches.
STATUSES = {
    "open": gettext_lazy("On all branches"),
    "proposed": gettext_lazy("Proposals on all branches"),
    "resolved": gettext_lazy("Answered"),
    "all": gettext_lazy("All questions"),
}
COUNTED = 100  # proposals that the tab counts
ANSWER_MESSAGES = {
    "keep_both": gettext_lazy("Kept both."),
    "same": gettext_lazy("They say the same: one stays, and is confirmed by the other."),
    "supersede": gettext_lazy("One takes the place of the other."),
    "archive": gettext_lazy("One was archived."),
    "combine": gettext_lazy("A new fact takes the place of both."),
    "dismiss": gettext_lazy("The question was dismissed."),
}
# Errors that a person can correct, or resolve by restoring the branch: the form keeps its input.
RECOVERABLE_ERRORS = (StaleVersion, Invalid, IllegalTransition, BranchArchived)


def parse_answer(post: QueryDict) -> dict[str, Any]:
    """Parse the answer in a form for ReviewEngine.resolve_item. Raises Invalid."""
    decision = post.get("decision", "")
    if decision not in DECISIONS:
        raise Invalid(_("A question is answered with one of the buttons."))
    keep = post.get("keep") if decision in KEEPING_ONE else None
    text = post.get("new_fact_text", "").replace("\r\n", "\n").strip()
    return {
        "decision": decision,
        "keeper": c.parse_uuid("keep", keep) if keep else None,
        "new_fact_text": text if decision == "combine" else "",
        "reason": post.get("reason", "").strip(),
        "expected_versions": read_versions(post),
    }


def read_versions(post: QueryDict) -> dict[UUID, int]:
    """Parse the versions that the person has read: version-<id>=<number>."""
    versions = [name.removeprefix("version-") for name in post if name.startswith("version-")]
    read = {c.parse_uuid("version", uid): parse_number(post.get(f"version-{uid}", "")) for uid in versions}
    return {uid: version for uid, version in read.items() if version is not None}


QUEUE_HELP = gettext_lazy(
    "When a new fact says nearly the same as another, Day1 merges nothing by itself: the question appears"
    " here."
)
# What an empty list says: its icon, that there is nothing, and what would be here.
NOTHING: dict[str, dict[str, Any]] = {
    "open": {"drawing": "check", "none_yet": gettext_lazy("Nothing needs review."), "more": QUEUE_HELP},
    "all": {"drawing": "check", "none_yet": gettext_lazy("There was no question yet."), "more": QUEUE_HELP},
    "resolved": {
        "drawing": "inbox",
        "none_yet": gettext_lazy("Nothing was answered yet."),
        "more": gettext_lazy("Answered questions stay here, with who answered. Every answer can be undone."),
    },
    "proposed": {
        "drawing": "proposal",
        "none_yet": gettext_lazy("No proposals."),
        "more": gettext_lazy(
            "What an agent writes with a key that may only propose appears here: no search finds it until a"
            " person accepts it."
        ),
    },
}


def describe_nothing(status: str, proposals: int) -> dict[str, Any]:
    """Return what an empty list says; the first one names proposals, which wait in another tab."""
    if status != "open" or not proposals:
        return NOTHING[status]
    text = ngettext(
        "No question waits, but {n} proposal does.", "No question waits, but {n} proposals do.", proposals
    )
    return {**NOTHING[status], "none_yet": text.format(n=proposals)}


def find_asked(request: HttpRequest) -> UUID | None:
    """Return the id of the single fact that a script requests, or None. Raises Invalid."""
    requested = request.GET.get("proposal", "") if getattr(request, "htmx", False) else ""
    return c.parse_uuid("proposal", requested) if requested else None


def show_fact(page: ProjectPage, fact_id: UUID) -> HttpResponse:
    """Render a fact as it is on its branch now, for a script that updates it in a list."""
    reader = page.reader
    fact = FactEngine().get_fact(fact_id=fact_id, **reader.read_args)
    entry = QueueEngine().find_entry(fact_id=fact_id, actor=reader.actor, branch_name=reader.branch.name)
    return asked_again(page, fact, causes=entry.causes) if entry else render_answered(page, fact)


def list_filters(reader: ViewContext, chosen: Sequence[str] = (), current: str = "") -> dict[str, Any]:
    """Return the filters of Review: title, address, how much waits, whether it is read, what is counted.

    Those by which little waits as a rule, and the lists beside the queue, are in a menu.
    """
    counts = QueueEngine().count_waiting(
        actor=reader.actor, branch_name=reader.branch.name, maximum=MAX_COUNTED_QUESTIONS
    )
    is_all = not chosen and not current
    shown: list[tuple[Any, ...]] = [(_("All"), reader.url("review", at=None), "", is_all, "")]
    rare: list[tuple[Any, ...]] = []
    for reason, title in REASONS.items():
        address, counted = reader.url("review", at=None, reason=reason), reason if reason in counts else ""
        entry = (title, address, format_count(counts.get(reason, 0)), reason in chosen, counted)
        (shown if reason in FREQUENT or reason in chosen else rare).append(entry)
    others = list_other_pages(reader, current)
    shown += [entry for entry in others if entry[3]]
    return {"review_filters": shown, "rare_filters": rare, "other_pages": others}


def list_other_pages(reader: ViewContext, current: str) -> list[tuple[Any, ...]]:
    """Return the lists that are read on pages of their own, as the filters are."""
    requests = count_for_actor(reader.actor, REQUESTS) or ""
    found: list[tuple[Any, ...]] = [
        (_("Merge requests"), reader.url("merge-requests", at=None), requests, False, ""),
        (_("Verification"), reader.url("verification", at=None), "", current == "verification", ""),
    ]
    for status in ("resolved", "open"):
        address = reader.url("review-questions", at=None, status=status)
        found.append((STATUSES[status], address, "", status == current, ""))
    return found


class Review(ProjectPage):
    template_name = "review.html"
    section = "review"
    title = gettext_lazy("Review")
    scope = "curate"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        refuse_unknown(self.request, ["status"])
        requested = self.request.GET.get("status", "")
        status = requested if requested in STATUSES else "open"
        only = self.reader.branch.name if self.request.GET.get("branch") else ""
        listed = {"actor": self.reader.actor, "branch_name": only, **self.paging(ITEMS)}
        if status == "proposed":
            page: Any = PROPOSALS.list_proposals(**listed)
        else:
            page = review_engine.list_items(**listed, status="" if status == "all" else status)
        waiting = PROPOSALS.count_proposals(actor=self.reader.actor, maximum=COUNTED)
        shown = {
            "page": page,
            "status": status,
            "only": only,
            **list_filters(self.reader, current=status),
        }
        nothing = describe_nothing(status, waiting)
        return super().get_context_data(**shown, **nothing, waiting=waiting, **kwargs)


class Answer(ProjectPage):
    """One question and its answer. For a script, only the question's entry in the list is rendered."""

    template_name = "review_item.html"
    fragment_name = "parts/review_again.html"
    section = "review"
    title = gettext_lazy("Review")
    scope = "curate"

    @property
    def item_id(self) -> UUID:
        return self.kwargs["item_id"]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        item = review_engine.get_item(item_id=self.item_id, actor=self.reader.actor)
        return super().get_context_data(item=item, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        decision = request.POST.get("decision", "")
        try:
            done = review_engine.resolve_item(
                item_id=self.item_id, actor=self.reader.actor, **parse_answer(request.POST)
            )
        except RECOVERABLE_ERRORS as error:
            context = self.get_context_data(refusal=error, typed=request.POST)
            return self.render_to_response(context, status=error.status)
        except Conflict as error:
            return self.too_late(error)
        flash_success(request, str(ANSWER_MESSAGES[decision]), build_undo_url(self.reader, done.commit))
        return self.render_next(done.item)

    def render_next(self, item: ReviewItem) -> HttpResponse:
        if not getattr(self.request, "htmx", False):
            return redirect(self.reader.url("review"))
        context = {
            **base_context(self.reader, self.section),
            "item": item,
            "said": ANSWER_MESSAGES[item.resolution],
        }
        return render(self.request, "parts/review_answered.html", context)

    def too_late(self, error: Day1Error) -> HttpResponse:
        """Render the question that another person has answered meanwhile."""
        flash_warning(self.request, error_sentence(error))
        return self.render_next(review_engine.get_item(item_id=self.item_id, actor=self.reader.actor))
