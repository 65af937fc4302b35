"""One fact: what it says, what people think of it, how it came about; corrected, judged, moved, replaced."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from memory.admin.base import DeskPage, frame_of
from memory.admin.facts import CATEGORIES, wishes
from memory.admin.forms import FactForm
from memory.engines.actions import REFUSED, ActionEngine
from memory.engines.comparing import told_changes
from memory.engines.evidence import EvidenceEngine, commit_of
from memory.engines.facts import FactEngine
from memory.engines.review import ReviewEngine
from memory.exceptions import Invalid, NotFound, StaleVersion
from memory.models import Fact
from memory.views.fact import history_of, instead_of
from memory.views.fact_actions import KEEPING
from memory.views.forms import say
from memory.views.search import cost
from memory.views.sentences import outcome_sentence, sentence

VERSIONS = 100  # among which the one is looked for that somebody read


class FactPage(DeskPage):
    template_name = "admin/day1/fact.html"
    section = "facts"
    deeds = {"act": "act", "edit": "edit"}

    def get(self, request: HttpRequest, *args: Any, fact_id: UUID, **kwargs: Any) -> HttpResponse:
        try:
            fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.where)
        except NotFound:
            return self._elsewhere(fact_id)
        return self.shown(fact, FactForm.of(fact))

    def shown(self, fact: Fact, form: FactForm, status: int = 200, **more: Any) -> HttpResponse:
        context = self.get_context_data(
            fact=fact, form=form, title=fact.essence, categories=CATEGORIES,
            tokens=cost(fact), **history_of(self.reader, fact.uid, self.request.GET.get("cursor", "")),
            evidence=EvidenceEngine().evidence(fact=fact, **self.reader.where),
            similar=EvidenceEngine().similar(fact=fact, **self.reader.where),
            questions=self._questions(fact), **more,
        )  # fmt: skip
        return self.render_to_response(context, status=status)

    # ---- changing ------------------------------------------------------------------------------

    def act(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        """One action on this fact, at the version that was shown."""
        action, read = request.POST.get("action", ""), version_of(request)
        try:
            report = ActionEngine().act(
                action=action, fact_ids=[fact_id], expected_versions={fact_id: read},
                **self.reader.target, **wishes(request, action),
            )  # fmt: skip
        except (*KEEPING, NotFound) as error:
            return self.refused(request, fact_id, sentence(error), error.status)
        (one,) = report.results
        if one.outcome == REFUSED:
            return self.refused(request, fact_id, outcome_sentence(one, action))
        return self.done(outcome_sentence(one, action), report.commit)

    def refused(self, request: HttpRequest, fact_id: UUID, said: str, status: int = 409) -> HttpResponse:
        """The fact as it is now, with what changed since it was read, and what was typed."""
        fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.target)
        number = version_of(request)
        read = None if fact.version == number else self._version(fact_id, number)
        return self.shown(
            fact, FactForm.of(fact), status, refusal=said, meanwhile=changes(read, fact) if read else [],
            changed_by=commit_of(fact), typed=request.POST, typed_reason=request.POST.get("reason", ""),
        )  # fmt: skip

    def edit(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        """The corrections of the form. What was typed stays when somebody else was faster."""
        fact = FactEngine().get_fact(fact_id=fact_id, **self.reader.target)
        read, form = version_of(request), FactForm(request.POST)
        if not form.is_valid():
            return self.shown(fact, form, status=400)
        before = fact if fact.version == read else self._version(fact_id, read) or fact
        try:
            new = FactEngine().update_fact(
                fact_id=fact_id, updates=form.updates(before), expected_version=read, **self.reader.target
            )
        except StaleVersion as error:
            return self.shown(fact, form, 409, stale=sentence(error), meanwhile=changes(before, fact))
        except KEEPING as error:
            say(form, error)
            return self.shown(fact, form, status=error.status)
        return self.done(_("Saved."), self._commit(new) if new.version != read else None)

    def _commit(self, fact: Fact) -> Any:
        (newest,) = FactEngine().history(fact_id=fact.uid, **self.reader.target, limit=1).results
        return newest.commit  # type: ignore[attr-defined]

    def _version(self, fact_id: UUID, number: int) -> Fact | None:
        page = FactEngine().history(fact_id=fact_id, **self.reader.target, limit=VERSIONS)
        return next((version for version in page.results if version.version == number), None)

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
    text = request.POST.get("version", "")
    if not text.isdecimal() or len(text) > 9:
        raise Invalid("The form says no version: open the page again.", field="version")
    return int(text)


def changes(old: Fact, new: Fact) -> list[tuple[str, tuple[Any, Any]]]:
    """The fields that differ, each with its value before and after."""
    return list(told_changes(old, new).items())
