"""Erasure: what was erased, a preview with counts, and the name typed before anything goes. For admins."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from memory.engines.erasure.engine import ErasureEngine
from memory.engines.erasure.scopes import MAX_MATCH
from memory.exceptions import Day1Error
from memory.models import Erasure
from memory.operations.erasures import ERASURES
from memory.views.frame.base import ProjectPage
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import SAFETY, add_setting
from memory.views.frame.widgets import add_form_error
from memory.views.generic.list_page import ListPage, describe_list

SCOPES = {
    "match": _("everything that contains a text"),
    "memory": _("a message, conversation or other memory, by its id"),
    "session": _("a session, with all that was said and learned in it"),
    "actor": _("a person or an agent, with everything written under that name"),
    "agent": _("an agent, with everything that it wrote"),
    "user": _("an end user, with everything that belongs to them"),
    "app": _("an app, with everything that belongs to it"),
    "fact": _("a fact, on every branch"),
}
KINDS = {
    "fact": _("Facts"),
    "message": _("Messages"),
    "conversation": _("Conversations"),
    "observation": _("Observations"),
    "relation": _("Relations"),
    "session": _("Sessions"),
}
KIND_NAMES = {
    "fact": _("fact"),
    "message": _("message"),
    "conversation": _("conversation"),
    "observation": _("observation"),
    "relation": _("relation"),
}
LEFT = {
    "derived": _("made from it"),
    "replaces": _("replaces it"),
    "source": _("its source"),
    "repeats": _("repeats its text"),
}
COPIES = {
    "snapshot": _("Snapshot %(name)s"),
    "workspace": _("Workspace %(name)s"),
    "window": _("The database’s window of the past"),
}
OTHERS = _("A copy that another project made")


class TargetForm(forms.Form):
    scope = forms.ChoiceField(label=_("What to erase"), choices=list(SCOPES.items()))
    target = forms.CharField(
        label=_("Which one"),
        max_length=MAX_MATCH,
        help_text=_(
            "The text to look for, the id of the session, agent or fact, or the name of the person. Where a"
            " key or the command line has the same name: user:ID, key:ID or local:"
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class ConfirmForm(forms.Form):
    confirm = forms.CharField(
        label=_("Name"), max_length=200, required=False, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    drop_copies = forms.BooleanField(label=_("Drop these copies of the store too"), required=False)


@add_page("erasures", "erasures")
class Erasures(ListPage):
    operation = ERASURES["list"]
    template_name = "erasures.html"
    section = "erasures"
    scope = "admin"
    title = _("Erasure")
    extra_context = {
        "lead": _(
            "Erasing removes content for good, from the whole history and every branch. Ids and times stay,"
            " so that the history can be read. It cannot be undone."
        ),
        "search": _("Filters, such as state:pending or scope:session"),
        "drawing": "close",
        "none_fits": _("No erasure fits."),
        "show_all": _("Show all erasures"),
        "none_yet": _(
            "Nothing was erased. Each erasure is listed here, with its proof and what it still waits for."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", TargetForm())
        return super().get_context_data(**kwargs)


@add_page("erase", "erase")
class EraseMemory(ProjectPage):
    """The preview, and the form that erases. A text to look for comes by POST, so that no log has it."""

    template_name = "erase.html"
    section = "erasures"
    scope = "admin"
    title = _("Erase for good")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.GET.get("scope"):
            return redirect(self.reader.url("erasures"))  # it asks what to erase
        return self.show_preview(request.GET["scope"], request.GET.get("target", ""), ConfirmForm())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        scope, target = request.POST.get("scope", ""), request.POST.get("target", "")
        if "confirm" not in request.POST:
            return self.show_preview(scope, target, ConfirmForm())
        form = ConfirmForm(request.POST)
        try:
            form.full_clean()
            fields = {"scope": scope, "target": target, **form.cleaned_data}
            done = ErasureEngine().erase(actor=self.reader.actor, **fields)
        except Day1Error as error:
            add_form_error(form, error)
            return self.show_preview(scope, target, form, status=error.status)
        return redirect(self.reader.url("erasure", done.pk))

    def show_preview(self, scope: str, target: str, form: forms.Form, status: int = 200) -> HttpResponse:
        plan = ErasureEngine().preview_erasure(actor=self.reader.actor, scope=scope, target=target)
        shown = {
            "plan": plan,
            "what": SCOPES[scope],
            "counts": [(KINDS[kind], number) for kind, number in plan.counts.items()],
            "examples": [(KIND_NAMES[one.kind], one) for one in plan.examples],
            "left": [(LEFT[one.why], one) for one in plan.left],
            "copies": [describe_copy(one) for one in plan.copies],
        }
        return self.render_to_response(self.get_context_data(form=form, **shown), status=status)


def describe_copy(copy: Any) -> Any:
    return COPIES[copy.kind] % {"name": copy.name} if copy.own else OTHERS


@add_page("erasures/<uuid:erasure_id>", "erasure")
class ErasurePage(ProjectPage):
    template_name = "erasure.html"
    section = "erasures"
    scope = "admin"
    title = _("Erasure")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = ErasureEngine().verify_erasure(erasure_id=self.kwargs["erasure_id"], actor=self.reader.actor)
        erasure = found.erasure
        counts = [(KINDS[kind], number) for kind, number in erasure.counts.items()]
        is_done = erasure.state == Erasure.State.DONE
        shown = {"one": erasure, "check": found, "is_done": is_done, "what": SCOPES[erasure.scope]}
        return super().get_context_data(counts=counts, **shown, **kwargs)


add_setting(
    "erasures",
    _("Erasure"),
    "close",
    "x",
    scope="admin",
    group=SAFETY,
    order=90,
    describe=describe_list(Erasures),
)
