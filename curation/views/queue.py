"""The curators' queue: what waits on a branch by worth, answered by keys or many at once, and saved views."""

from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from curation.engines.queue.actions import MERGE_DUPLICATES, MOVE, QueueActionEngine
from curation.engines.queue.engine import QueueEngine
from curation.engines.queue.saved_views import SavedViewEngine
from curation.engines.review.pair_answers import KEEP_BOTH
from curation.models import SavedView
from curation.views.review import STATUSES, find_asked, list_filters, show_fact
from memory.engines.facts.bulk_actions import MAX_FACTS, Report
from memory.engines.facts.filters import FactFilter
from memory.exceptions import Conflict, Invalid
from memory.views.facts.action_report import take_report
from memory.views.facts.bulk import BulkActions
from memory.views.facts.fact_form import CATEGORIES
from memory.views.frame.base import MovedPage, ProjectPage, safe_referer
from memory.views.frame.flash import flash_success
from memory.views.frame.view_context import ViewContext, build_undo_url
from memory.views.generic.filter_tokens import TokenFilters
from memory.views.generic.filters_form import REPEATABLE, TOKEN_CHOICES, FilterForm
from memory.views.text.error_text import add_outcomes, error_sentence

queue_engine, view_engine = QueueEngine(), SavedViewEngine()
ENTRIES = 10
OTHERS = ("reason",)  # parameters of the page that are no filters
BROUGHT = "bring"  # what a move to a branch that this one comes from does
DONE_SENTENCES = {
    MERGE_DUPLICATES: lazy("Merged."),
    KEEP_BOTH: lazy("Kept both."),
    MOVE: lazy("Moved: it is archived here."),
    BROUGHT: lazy("Brought there; it stays here too, since this branch is on its way there."),
}
add_outcomes(DONE_SENTENCES)
NO_SEARCH = lazy("The queue is filtered, not searched: write a filter such as category:security.")


class QueuePage(BulkActions, TokenFilters, ProjectPage):
    repeatable_fields, token_choices = REPEATABLE, TOKEN_CHOICES
    template_name = "queue.html"
    section, scope, title = "review", "curate", lazy("Review")
    extra_context = {
        "most": MAX_FACTS,
        "categories": CATEGORIES,
        "drawing": "check",
        "none_yet": lazy("Nothing needs review."),
    }

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if fact_id := find_asked(request):
            return show_fact(self, fact_id)
        if (status := request.GET.get("status", "")) in STATUSES:  # the address of before
            return redirect(self.reader.url("review-questions", status=status))
        return super().get(request, *args, **kwargs)

    @property
    def token_fields(self) -> Collection[str]:
        return FactFilter.CHECKS.keys()

    @property
    def chosen(self) -> list[str]:
        """Return the reasons in the address."""
        return [reason for reason in self.request.GET.getlist("reason") if reason]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = FilterForm(self.request, OTHERS)
        shown: dict[str, Any] = {"form": form, "query": self.request.GET.get("q", "").strip()}
        try:
            if shown["query"]:
                raise Invalid(str(NO_SEARCH))
            shown["page"] = queue_engine.list_entries(
                actor=self.reader.actor,
                branch_name=self.reader.branch.name,
                reasons=self.chosen,
                filters=form.filters,
                **self.paging(ENTRIES),
            )
        except Invalid as error:
            shown["error"] = error_sentence(error)
        shown |= {"chosen": self.chosen, "report": take_report(self.request), "proposals": True}
        shown["views"] = list_views(self.reader)
        return super().get_context_data(**shown, **list_filters(self.reader, self.chosen), **kwargs)

    def run_action(self, action: str, fact_ids: Iterable[UUID], parameters: dict[str, Any]) -> Report:
        target = self.request.POST.get("to_branch", "").strip()
        report = QueueActionEngine().apply_action(
            action=action, fact_ids=fact_ids, to_branch=target, **self.reader.write_args, **parameters
        )
        if report.arrival and has_departed(report):  # undone after the departure
            text = _("Brought to {name}.").format(name=target)
            flash_success(self.request, text, build_undo_url(self.reader, report.arrival))
        return report

    def name_outcome(self, action: str, report: Report) -> str:
        return BROUGHT if action == MOVE and not has_departed(report) else action


def has_departed(report: Any) -> bool:
    """Return whether a move has archived facts here: its two commits are the one here and the one there."""
    return report.commit != report.arrival


def list_views(reader: ViewContext) -> list[dict[str, Any]]:
    """Return the views that the reader may open, as they are drawn."""
    return [describe_view(reader, view) for view in view_engine.list_views(actor=reader.actor)]


def describe_view(reader: ViewContext, view: SavedView) -> dict[str, Any]:
    """Return a saved view with its address, and whether it is the reader's own."""
    words = {"branch": view.branch, "reason": view.reasons, **view.filters}
    address = reader.frame.reverse("review", reader.project.slug)
    query = urlencode({name: value for name, value in words.items() if value}, doseq=True)
    own = view_engine.is_own(view=view, actor=reader.actor)
    return {"row": view, "address": f"{address}?{query}" if query else address, "is_own": own}


class MovedQueue(MovedPage):
    """The address of the queue before it was the page Review."""

    scope, to = "curate", ("review",)


class NamedView(ProjectPage):
    """What is done to a saved view; a name that is refused comes back in a form, with what was typed."""

    scope, section, template_name = "curate", "review", "queue/view_name.html"
    title = lazy("Name of the view")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Lead whoever reloads the form to the queue."""
        return redirect(self.reader.url("review"))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return self.change(request, **kwargs)
        except (Conflict, Invalid) as error:
            kept = [(name, value) for name, values in request.POST.lists() for value in values]
            kept = [pair for pair in kept if pair[0] not in ("name", "csrfmiddlewaretoken")]
            shown = {"refusal": error_sentence(error), "typed": request.POST.get("name", ""), "kept": kept}
            return self.render_to_response(self.get_context_data(**shown), status=error.status)

    def change(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Do what was asked for."""
        raise NotImplementedError


class SaveView(NamedView):
    """Saves what the queue shows under a name."""

    def change(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        view_engine.save_view(
            name=request.POST.get("name", ""),
            actor=self.reader.actor,
            branch_name=self.reader.branch.name,
            reasons=list(filter(None, request.POST.getlist("reason"))),
            filters={name: request.POST[name] for name in FactFilter.CHECKS if request.POST.get(name)},
        )
        flash_success(request, _("The view is saved."))
        back = safe_referer(request, self.reader.url("review"))
        return redirect(self.reader.url("review") if urlsplit(back).path == request.path else back)


class ChangeView(NamedView):
    """Renames, shares or deletes a saved view."""

    def change(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        where: dict[str, Any] = {"view_id": kwargs["view_id"], "actor": self.reader.actor}
        match request.POST.get("action"):
            case "rename":
                view_engine.rename_view(**where, name=request.POST.get("name", ""))
                text = _("The view has another name.")
            case "share" | "unshare" as action:
                view_engine.share_view(**where, shared=action == "share")
                text = _("All curators see the view.") if action == "share" else _("Only you see the view.")
            case "delete":
                view_engine.delete_view(**where)
                text = _("The view is deleted.")
            case _other:
                raise Invalid(_("This page knows no such action."))
        flash_success(request, text)
        return redirect(self.reader.url("review"))
