"""The questions that wait for a person, each with its two facts side by side."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.admin.facts import read_id
from memory.engines.review import ReviewEngine
from memory.exceptions import Invalid
from memory.models import ReviewItem

PAGE = 20  # pairs of texts are long


class Review(DeskPage):
    template_name = "admin/day1/review.html"
    section = "review"
    scope = "curate"
    title = _("Review")
    deeds = {"resolve": "resolve"}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        status = self.request.GET.get("status", ReviewItem.Status.OPEN)
        page = ReviewEngine().list_items(
            actor=self.reader.actor, branch_name=self.reader.branch.name,
            status="" if status == "all" else status, limit=PAGE, cursor=self.request.GET.get("cursor", ""),
        )  # fmt: skip
        return super().get_context_data(
            page=page, status=status, statuses=[*ReviewItem.Status.choices, ("all", _("All"))]
        )

    def resolve(self, request: HttpRequest) -> HttpResponse:
        """The answer of the form; a decision that keeps one of the two names it: same:<id>."""
        decision, _colon, keep = request.POST.get("decision", "").partition(":")
        done = ReviewEngine().resolve(
            item_id=read_id(request.POST.get("item", "")), decision=decision,
            keep=read_id(keep) if keep else None,
            new_fact_text=request.POST.get("new_fact_text", "").strip() if decision == "combine" else "",
            reason=request.POST.get("reason", "").strip(), expected_versions=versions(request),
            actor=self.reader.actor,
        )  # fmt: skip
        return self.done(_t("Answered: %s.") % done.item.resolution.replace("_", " "), done.commit)


def versions(request: HttpRequest) -> dict[UUID, int]:
    """What the form was made of: id:version for each fact that was shown."""
    found = {}
    for text in request.POST.getlist("read"):
        uid, _colon, version = text.partition(":")
        if not version.isdecimal():
            raise Invalid("The form says no version: open the page again.", field="read")
        found[read_id(uid)] = int(version)
    return found
