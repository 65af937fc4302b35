"""The review queue: questions that wait for a person, answered by keys, by buttons, or without a script."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines import cleaning as c
from memory.engines.review import DECISIONS, KEEPING, ReviewEngine
from memory.exceptions import BranchArchived, Conflict, Day1Error, IllegalTransition, Invalid, StaleVersion
from memory.models import ReviewItem
from memory.views.base import ProjectPage, shell_of
from memory.views.fact_actions import undo_of
from memory.views.forms import number
from memory.views.sentences import sentence
from memory.views.toasts import tell, warn

ENGINE = ReviewEngine()
ITEMS = 20
SAID = {
    "keep_both": gettext_lazy("They are two: both stay."),
    "same": gettext_lazy("They say the same: one stays, and is confirmed by the other."),
    "supersede": gettext_lazy("One takes the place of the other."),
    "archive": gettext_lazy("One was archived."),
    "combine": gettext_lazy("A new fact takes the place of both."),
    "dismiss": gettext_lazy("The question was dismissed."),
}
# What a person can mend, here or by restoring the branch: the question stays with what was typed.
MENDABLE = (StaleVersion, Invalid, IllegalTransition, BranchArchived)


def answer_of(post: QueryDict) -> dict[str, Any]:
    """The answer that a form gives, for ReviewEngine.resolve. Raises Invalid."""
    decision = post.get("decision", "")
    if decision not in DECISIONS:
        raise Invalid(_("A question is answered with one of the buttons."))
    keep = post.get("keep") if decision in KEEPING else None
    text = post.get("new_fact_text", "").replace("\r\n", "\n").strip()
    return {
        "decision": decision,
        "keep": c.identifier("keep", keep) if keep else None,
        "new_fact_text": text if decision == "combine" else "",
        "reason": post.get("reason", "").strip(),
        "expected_versions": _versions(post),
    }


def _versions(post: QueryDict) -> dict[UUID, int]:
    """What the person has read: version-<id>=<number>."""
    given = [name.removeprefix("version-") for name in post if name.startswith("version-")]
    read = {c.identifier("version", uid): number(post.get(f"version-{uid}", "")) for uid in given}
    return {uid: version for uid, version in read.items() if version is not None}


class Review(ProjectPage):
    template_name = "review.html"
    section = "review"
    scope = "curate"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        status = "resolved" if self.request.GET.get("status") == "resolved" else "open"
        only = self.reader.branch.name if self.request.GET.get("branch") else ""
        page = ENGINE.list_items(
            actor=self.reader.actor, branch_name=only, status=status, **self.paging(ITEMS)
        )
        return super().get_context_data(page=page, status=status, only=only, **kwargs)


class Answer(ProjectPage):
    """One question: by itself, and its answer. A script gets the question's place in the list alone."""

    template_name = "review_item.html"
    fragment_name = "parts/review_item.html"
    section = "review"
    scope = "curate"

    @property
    def item_id(self) -> UUID:
        return self.kwargs["item_id"]  # type: ignore[no-any-return]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        item = ENGINE.get_item(item_id=self.item_id, actor=self.reader.actor)
        return super().get_context_data(item=item, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        decision = request.POST.get("decision", "")
        try:
            done = ENGINE.resolve(item_id=self.item_id, actor=self.reader.actor, **answer_of(request.POST))
        except MENDABLE as error:
            context = self.get_context_data(refusal=error, typed=request.POST)
            return self.render_to_response(context, status=error.status)
        except Conflict as error:
            return self.too_late(error)
        tell(request, str(SAID[decision]), undo_of(self.reader, done.commit))
        return self.answered(done.item)

    def answered(self, item: ReviewItem) -> HttpResponse:
        if not getattr(self.request, "htmx", False):
            return redirect(self.reader.url("review"))
        context = {**shell_of(self.reader, self.section), "item": item, "said": SAID[item.resolution]}
        return render(self.request, "parts/review_answered.html", context)

    def too_late(self, error: Day1Error) -> HttpResponse:
        """Somebody else has answered it."""
        warn(self.request, sentence(error))
        return self.answered(ENGINE.get_item(item_id=self.item_id, actor=self.reader.actor))
