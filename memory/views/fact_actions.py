"""What a person does to a fact on its page: judge, archive, restore, correct, replace; and taking it back."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from memory.engines.actions import ACTIONS, ActionEngine, Report
from memory.engines.evidence import commit_of
from memory.engines.facts import FactEngine
from memory.engines.reverts import RevertEngine
from memory.exceptions import (
    BranchArchived,
    Conflict,
    Day1Error,
    IllegalTransition,
    Invalid,
    StaleVersion,
    TooLarge,
)
from memory.models import Commit, Fact
from memory.views.base import ProjectPage, came_from
from memory.views.editing import CATEGORIES, FactForm, shown_as
from memory.views.fact import FactPage, OneFact, meanwhile, read_version
from memory.views.forms import number
from memory.views.reader import Reader
from memory.views.sentences import outcome_sentence, sentence
from memory.views.toasts import tell, warn

# What the page of a fact has buttons for; the rest has forms of its own.
BUTTONS = frozenset({"verify", "invalidate", "unverify", "archive", "restore"})


# Refusals that leave the form open, with all that was typed.
KEEPING = (Invalid, TooLarge, Conflict, IllegalTransition, BranchArchived)


def undo_of(reader: Reader, commit: Commit | None) -> str:
    """The address that takes a commit back."""
    return reverse("undo", args=[reader.project.slug, commit.pk]) if commit else ""


class Act(FactPage):
    """One action of ActionEngine; a refusal shows the page again, with what was typed."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        action = request.POST.get("action", "")
        if action not in BUTTONS:
            raise Invalid(_("This page knows no such action."))
        self.reader.actor.require(ACTIONS[action].scope, self.reader.branch.name)
        try:
            report = self._act(action, request.POST.get("reason", "").strip())
        except (BranchArchived, Conflict) as error:
            return self.refused(error)
        (result,) = report.results
        if result.error:
            return self.refused(result.error)
        tell(request, outcome_sentence(result, action), undo_of(self.reader, report.commit))
        return redirect(self.reader.url("fact", self.fact_id))

    def _act(self, action: str, reason: str) -> Report:
        version = number(self.request.POST.get("version", ""))
        return ActionEngine().act(
            action=action, fact_ids=[self.fact_id], reason=reason, **self.reader.target,
            expected_versions={self.fact_id: version} if version is not None else {},
        )  # fmt: skip

    def refused(self, error: Day1Error) -> HttpResponse:
        """The fact as it is now, with what changed since it was read."""
        version = number(self.request.POST.get("version", "")) if isinstance(error, StaleVersion) else None
        context = self.get_context_data(
            refusal=sentence(error),
            typed_reason=self.request.POST.get("reason", ""),
            **meanwhile(read_version(self.reader, self.fact_id, version), self.fact()),
        )
        return self.render_to_response(context, status=error.status)


class Edit(OneFact):
    """The form that corrects a fact, or with ?as=new writes the one that takes its place."""

    template_name = "fact_edit.html"
    scope = "write"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.reader.branch.archived_at:
            raise BranchArchived(name=self.reader.branch.name)
        self.reader.require_now()
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        fact = self.fact()
        form = kwargs.pop("form", None) or FactForm(initial=shown_as(fact))
        kwargs |= {"fact": fact, "form": form, "anew": self.anew, "categories": CATEGORIES}
        return super().get_context_data(**kwargs)

    @property
    def anew(self) -> bool:
        return self.request.GET.get("as") == "new"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = FactForm(request.POST)
        try:
            fact, commit = self._replace(form) if self.anew else self._correct(form)
        except StaleVersion as error:
            return self.stale(form, error)
        except KEEPING as error:
            context = self.get_context_data(form=form, error=error)
            return self.render_to_response(context, status=error.status)
        said = _("Replaced; the old one stays as superseded.") if self.anew else _("Corrected.")
        tell(request, said if commit else _("Nothing was changed."), undo_of(self.reader, commit))
        return redirect(self.reader.url("fact", fact.uid))

    def _correct(self, form: FactForm) -> tuple[Fact, Commit | None]:
        before = self.fact()
        fact = FactEngine().update_fact(
            fact_id=self.fact_id, updates=form.updates(before), expected_version=form.read_version,
            **self.reader.target,
        )  # fmt: skip
        return fact, commit_of(fact) if fact.version != before.version else None

    def _replace(self, form: FactForm) -> tuple[Fact, Commit | None]:
        report = ActionEngine().act(
            action="supersede", fact_ids=[self.fact_id], new_fact_text=form.text, **self.reader.target,
            expected_versions={self.fact_id: form.read_version} if form.read_version is not None else {},
        )  # fmt: skip
        (result,) = report.results
        if result.error:
            raise result.error
        if report.new_fact is None:
            raise Conflict(result.message)
        return report.new_fact, report.commit

    def stale(self, form: FactForm, error: StaleVersion) -> HttpResponse:
        """Somebody was quicker: their changes beside what was typed, which is kept."""
        now, read = self.fact(), read_version(self.reader, self.fact_id, form.read_version)
        context = self.get_context_data(
            form=form.over(read, now),
            refusal=sentence(error),
            **meanwhile(read, now),
        )
        return self.render_to_response(context, status=error.status)


class Undo(ProjectPage):
    """Takes back one commit, from a message or a log."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, commit_id: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        undone(request, self.reader, commit_id, "undo")
        return redirect(came_from(request, self.reader.url("home")))


def undone(request: HttpRequest, reader: Reader, commit_id: UUID, name: str) -> None:
    """Take back a commit, and say so with a way to take that back too, or say why it cannot be.

    ``name`` is that of the address that undoes. Raises NotFound, and what a person may not do.
    """
    try:
        commit = RevertEngine().revert_commit(commit_id=commit_id, actor=reader.actor)
        tell(request, _("Undone."), reverse(name, args=[reader.project.slug, commit.pk]))
    except (BranchArchived, Conflict) as error:
        warn(request, sentence(error))
