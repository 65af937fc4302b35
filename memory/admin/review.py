"""The questions that wait for a person, each with its two facts side by side."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.engines import cleaning as c
from memory.engines.review import ReviewEngine
from memory.models import ReviewItem
from memory.views.review import MENDABLE, SAID, answer_of

PAGE = 20  # pairs of texts are long
STATUSES = (("open", _("Waiting")), ("resolved", _("Answered")), ("all", _("All")))


class Review(DeskPage):
    template_name = "admin/day1/review.html"
    section = "review"
    scope = "curate"
    title = _("Review")
    deeds = ("resolve",)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        status = self.request.GET.get("status") or ReviewItem.Status.OPEN
        page = ReviewEngine().list_items(
            actor=self.reader.actor, branch_name=self.reader.branch.name,
            status="" if status == "all" else status, limit=PAGE, cursor=self.request.GET.get("cursor", ""),
        )  # fmt: skip
        return super().get_context_data(page=page, status=status, statuses=STATUSES, **kwargs)

    def resolve(self, request: HttpRequest) -> HttpResponse:
        """The answer of a question's form; what can be mended leaves it open, with what was typed."""
        self.reader.require_now()
        item_id = c.identifier("item", request.POST.get("item", ""))
        try:
            done = ReviewEngine().resolve(item_id=item_id, actor=self.reader.actor, **answer_of(request.POST))
        except MENDABLE as error:
            context = self.get_context_data(refused=item_id, refusal=error, typed=request.POST)
            return self.render_to_response(context, status=error.status)
        return self.done(str(SAID[done.item.resolution]), done.commit)
