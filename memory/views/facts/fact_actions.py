"""Actions on a fact's page: verify, archive, restore, correct, replace; and undo."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ACTIONS, ActionEngine, Report
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.evidence import get_fact_commit
from memory.exceptions import (
    BranchArchived,
    Conflict,
    Day1Error,
    DirectWritesRefused,
    IllegalTransition,
    Invalid,
    NotFound,
    StaleVersion,
    TooLarge,
)
from memory.models import Commit, Fact
from memory.views.facts.fact_detail import FactPage, FactViewBase, changes_since, read_version
from memory.views.facts.fact_form import CATEGORIES, FactForm, shown_as
from memory.views.facts.proposals import asked_again, render_answered
from memory.views.frame.base import ProjectPage, safe_referer
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.view_context import ViewContext, build_undo_url
from memory.views.frame.widgets import add_form_error, parse_number, read_id
from memory.views.text.error_text import error_sentence, outcome_sentence

# Actions with a button on the page of a fact; the others have their own forms.
VERDICT_BUTTONS = ("verify", "invalidate", "unverify", "accept", "refuse")
BUTTONS = frozenset({*VERDICT_BUTTONS, "archive", "restore", "pin", "unpin"})


# Errors that leave the form open, with all its input.
RECOVERABLE_ERRORS = (Invalid, TooLarge, Conflict, IllegalTransition, BranchArchived, DirectWritesRefused)


class Act(FactPage):
    """One action of ActionEngine; a refusal shows the page again, with its input."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        action = request.POST.get("action", "")
        if action not in BUTTONS:
            raise Invalid(_("This page knows no such action."))
        self.reader.actor.require_scope(ACTIONS[action].scope, self.reader.branch.name)
        try:
            report = self._apply_action(action, request.POST.get("reason", "").strip())
        except (BranchArchived, Conflict, DirectWritesRefused) as error:
            return self.render_refused(error)
        (result,) = report.results
        if result.error:
            return self.render_refused(result.error)
        sentence = outcome_sentence(result, action)
        flash_success(request, sentence, build_undo_url(self.reader, report.commit))
        if getattr(request, "htmx", False):
            return render_answered(self, self.load_fact(), sentence)
        page = self.reader.url("fact", self.fact_id)
        back = safe_referer(request, page)  # a queue goes on without a script too
        return redirect(page if back.startswith(request.path) else back)

    def _apply_action(self, action: str, reason: str) -> Report:
        version = parse_number(self.request.POST.get("version", ""))
        return ActionEngine().apply_action(
            action=action,
            fact_ids=[self.fact_id],
            reason=reason,
            **self.reader.write_args,
            expected_versions={self.fact_id: version} if version is not None else {},
        )

    def render_refused(self, error: Day1Error) -> HttpResponse:
        """Render the fact as it is now, with the changes since it was read."""
        if getattr(self.request, "htmx", False):
            return asked_again(self, self.load_fact(), error)
        version = (
            parse_number(self.request.POST.get("version", "")) if isinstance(error, StaleVersion) else None
        )
        context = self.get_context_data(
            refusal=error_sentence(error),
            typed_reason=self.request.POST.get("reason", ""),
            **changes_since(read_version(self.reader, self.fact_id, version), self.load_fact()),
        )
        return self.render_to_response(context, status=error.status)


class Edit(FactViewBase):
    """The form that corrects a fact, or with ?as=new writes the one that replaces it."""

    template_name = "fact_edit.html"
    scope = "write"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.reader.branch.archived_at:
            raise BranchArchived(name=self.reader.branch.name)
        self.reader.require_now()
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        fact = self.load_fact()
        form = kwargs.pop("form", None) or FactForm(initial=shown_as(fact))
        kwargs |= {"fact": fact, "form": form, "anew": self.anew, "categories": CATEGORIES}
        title, heading, verb = self.words()
        return super().get_context_data(**{"title": title, "heading": heading, "verb": verb, **kwargs})

    def words(self) -> tuple[str, str, str]:
        """Return the title of the page, its heading and what the button says."""
        if self.anew:
            return _("Supersede"), _("A new fact in the place of this one"), _("Supersede")
        return _("Edit"), _("Correct this fact"), _("Save")

    @property
    def anew(self) -> bool:
        return self.request.GET.get("as") == "new"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = FactForm(request.POST)
        try:
            fact, commit = self._replace_fact(form) if self.anew else self._correct_fact(form)
        except StaleVersion as error:
            return self.render_stale(form, error)
        except (*RECOVERABLE_ERRORS, NotFound) as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        sentence = _("Replaced; the old one stays as superseded.") if self.anew else _("Corrected.")
        flash_success(
            request, sentence if commit else _("Nothing was changed."), build_undo_url(self.reader, commit)
        )
        return redirect(self.reader.url("fact", fact.uid))

    def _correct_fact(self, form: FactForm) -> tuple[Fact, Commit | None]:
        before = self.load_fact()
        fact = FactEngine().update_fact(
            fact_id=self.fact_id,
            updates=form.changed_fields(before),
            expected_version=form.read_version,
            **self.reader.write_args,
        )
        return fact, get_fact_commit(fact) if fact.version != before.version else None

    def _replace_fact(self, form: FactForm) -> tuple[Fact, Commit | None]:
        by = self._replaced_by()
        text = "" if by and form.text == self.load_fact().fact_text else form.text  # the form begins with it
        report = ActionEngine().apply_action(
            action="supersede",
            fact_ids=[self.fact_id],
            new_fact_text=text,
            **self.reader.write_args,
            replaced_by=by,
            reason=self.request.POST.get("reason", "").strip(),
            expected_versions={self.fact_id: form.read_version} if form.read_version is not None else {},
        )
        (result,) = report.results
        if result.error:
            raise result.error
        if report.new_fact is None and not by:
            raise Conflict(result.message)
        return report.new_fact or self.load_fact(), report.commit

    def _replaced_by(self) -> UUID | None:
        """Return the fact that is there already and takes the place of this one. Raises Invalid."""
        address = self.request.POST.get("replaced_by", "").strip()
        return read_id(address) if address else None

    def render_stale(self, form: FactForm, error: StaleVersion) -> HttpResponse:
        """Render the form after a concurrent change: the changes next to the input, which is kept."""
        now, read = self.load_fact(), read_version(self.reader, self.fact_id, form.read_version)
        context = self.get_context_data(
            form=form.rebase_on(read, now),
            refusal=error_sentence(error),
            **changes_since(read, now),
        )
        return self.render_to_response(context, status=error.status)


class Undo(ProjectPage):
    """A revert of one commit, from a message or a log; its address alone leads to the commit."""

    def get(self, request: HttpRequest, commit_id: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect(self.reader.url("commit", commit_id))

    def post(self, request: HttpRequest, commit_id: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        return undo_commit(request, self.reader, commit_id)


def undo_commit(request: HttpRequest, reader: ViewContext, commit_id: UUID) -> HttpResponse:
    """Revert a commit, and show a message with a link to redo it, or why it cannot be reverted.

    With ``?redo=1`` the commit is a revert itself: its changes are applied again, and can be undone. A
    person returns to the page that was open, else to the first page of the frame; a script shows the
    message itself. Raises NotFound, and errors of missing rights.
    """
    _undo_commit(request, reader, commit_id)
    if getattr(request, "htmx", False):
        return HttpResponse(status=204)
    return redirect(safe_referer(request, reader.url(reader.frame.first)))


def _undo_commit(request: HttpRequest, reader: ViewContext, commit_id: UUID) -> None:
    try:
        commit = RevertEngine().revert_commit(commit_id=commit_id, actor=reader.actor)
        back = build_undo_url(reader, commit)
        if request.GET.get("redo"):
            flash_success(request, _("Done again."), undo=back)
        else:
            flash_success(request, _("Undone."), redo=f"{back}?redo=1")
    except (BranchArchived, Conflict) as error:
        flash_warning(request, error_sentence(error))
