"""One fact: what it says, what people think of it, how it came about; corrected, judged, moved, replaced."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from memory.admin.base import DeskPage, frame_of
from memory.admin.facts import wishes
from memory.engines.actions import ActionEngine
from memory.engines.evidence import commit_of
from memory.engines.facts import FactEngine
from memory.engines.review import ReviewEngine
from memory.exceptions import Day1Error, Invalid, NotFound, StaleVersion
from memory.models import Fact
from memory.views.editing import CATEGORIES, FactForm, shown_as
from memory.views.fact import beside, instead_of, meanwhile, read_version
from memory.views.fact_actions import KEEPING
from memory.views.forms import number, say
from memory.views.sentences import outcome_sentence, sentence


class FactPage(DeskPage):
    template_name = "admin/day1/fact.html"
    section = "facts"
    deeds = ("act", "edit")

    def get(self, request: HttpRequest, *args: Any, fact_id: UUID, **kwargs: Any) -> HttpResponse:
        try:
            fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.where)
        except NotFound:
            return self._elsewhere(fact_id)
        return self.shown(fact, FactForm(initial=shown_as(fact)))

    def shown(self, fact: Fact, form: FactForm, status: int = 200, **more: Any) -> HttpResponse:
        context = self.get_context_data(
            fact=fact, form=form, title=fact.essence, categories=CATEGORIES,
            questions=self._questions(fact),
            **beside(self.reader, fact, self.request.GET.get("cursor", "")), **more,
        )  # fmt: skip
        return self.render_to_response(context, status=status)

    # ---- changing ------------------------------------------------------------------------------

    def post(self, request: HttpRequest, *args: Any, fact_id: UUID, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, fact_id=fact_id, **kwargs)
        except NotFound:  # deleted under an open form: what was typed is shown
            return self._elsewhere(fact_id)

    def act(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        """One action on this fact, at the version that was shown."""
        action, read = request.POST.get("action", ""), version_of(request)
        try:
            report = ActionEngine().act(
                action=action, fact_ids=[fact_id], expected_versions={fact_id: read},
                **self.reader.target, **wishes(request, action),
            )  # fmt: skip
        except (*KEEPING, NotFound) as error:
            return self.refused(request, fact_id, error)
        (one,) = report.results
        if one.error:
            return self.refused(request, fact_id, one.error)
        return self.done(outcome_sentence(one, action), report.commit)

    def refused(self, request: HttpRequest, fact_id: UUID, error: Day1Error) -> HttpResponse:
        """The fact as it is now, with what changed since it was read, and what was typed."""
        fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.where)
        read = read_version(self.reader, fact_id, version_of(request))
        return self.shown(
            fact, FactForm(initial=shown_as(fact)), error.status, refusal=sentence(error), typed=request.POST,
            typed_reason=request.POST.get("reason", ""), **meanwhile(read, fact),
        )  # fmt: skip

    def edit(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        """The corrections of the form. What was typed stays when somebody else was faster."""
        fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.where)
        read, form = version_of(request), FactForm(request.POST)
        try:
            new = FactEngine().update_fact(
                fact_id=fact_id, updates=form.updates(fact), expected_version=read, **self.reader.target
            )
        except StaleVersion as error:
            before = read_version(self.reader, fact_id, read)
            changed = meanwhile(before, fact)
            return self.shown(fact, form.over(before, fact), error.status, stale=sentence(error), **changed)
        except KEEPING as error:
            say(form, error)
            return self.shown(fact, form, status=error.status)
        if new.version == read:
            return self.done(_("Nothing was changed."))
        return self.done(_("Saved."), commit_of(new))

    # ---- what stands beside it -----------------------------------------------------------------

    def _questions(self, fact: Fact) -> list[Any]:
        if not self.reader.can["curate"]:
            return []
        page = ReviewEngine().list_items(
            actor=self.reader.actor, branch_name=self.reader.branch.name, fact_id=fact.uid, limit=20
        )
        return list(page.results)

    def _elsewhere(self, fact_id: UUID) -> HttpResponse:
        frame = frame_of(self.request, self.reader, self.section)
        instead = instead_of(self.reader, fact_id, self.request.GET.get("cursor", ""))
        context = {**frame, **instead, "title": _("Not here")}
        return render(self.request, "admin/day1/no_fact.html", context, status=404)


def version_of(request: HttpRequest) -> int:
    """The version that the form was made of."""
    if (version := number(request.POST.get("version", ""))) is None:
        raise Invalid("The form says no version: open the page again.", field="version")
    return version
