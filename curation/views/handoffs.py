"""Handoffs: the list with the form of a new one, and the page of one with what its receiver gets."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.fields.handoffs import HANDOFF
from curation.engines.handoffs.briefing import describe_packet, list_standing_facts
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.handoffs.packet import list_missing, measure_completeness
from curation.engines.holdings import measure_lines
from curation.models import Handoff
from curation.operations.handoffs import HANDOFFS
from curation.templatetags.handoffs import TYPES
from memory.engines.fields.base import Use
from memory.exceptions import Invalid
from memory.views.base import ProjectPage
from memory.views.field_widgets import OptionalText, form_field
from memory.views.flash import flash_success
from memory.views.labels import WORDS
from memory.views.list_page import ALL
from memory.views.state_list import StateListPage

handoff_engine = HandoffEngine()
State = Handoff.State
STATES = {
    State.PENDING.value: gettext_lazy("Waiting"),
    State.ACCEPTED.value: gettext_lazy("Accepted"),
    State.REJECTED.value: gettext_lazy("Rejected"),
    ALL: gettext_lazy("All"),
}
LONG_FIELDS = ("context_summary", "instructions")
SESSION = OptionalText(
    label=gettext_lazy("Session"),
    help_text=gettext_lazy(
        "Its facts and its last messages are handed over. Empty: the facts of the branch."
    ),
)


class Handoffs(StateListPage):
    """The list by state, and the form for a new one."""

    template_name = "handoffs.html"
    section = "handoffs"
    title = gettext_lazy("Handoffs")
    operation, states, words = HANDOFFS["list"], STATES, WORDS | TYPES
    extra_context = {
        "lead": gettext_lazy(
            "What one agent leaves for the next: verified facts, the last messages, and what is to be done,"
            " frozen in a packet."
        ),
        "search": gettext_lazy("Filters, such as to:ledger or target:task/login"),
        "drawing": "out",
        "form_title": gettext_lazy("Hand work over"),
        "form_button": gettext_lazy("Hand over"),
        "none_fits": gettext_lazy("No handoff is in this state."),
        "none_yet": gettext_lazy(
            "A handoff lets another agent go on where one stopped. Make one here, or let an agent do so:"
        ),
        "show_all": gettext_lazy("Waiting handoffs"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return handoff_engine.count_handoffs(actor=self.reader.actor)

    def build_form(self, data: Any = None) -> forms.Form:
        return build_handoff_form(data, {"source_branch": self.reader.branch.name})

    def create_row(self, form: forms.Form) -> str:
        actor = self.reader.actor.with_origin(session_id=self.request.POST.get("session_id", "").strip())
        done = handoff_engine.create_handoff(actor=actor, **read_form(self.request))
        flash_success(self.request, _("The work was handed over."))
        return self.reader.url("handoff", done.pk, branch="", at="")


def build_handoff_form(data: Any, initial: dict[str, Any]) -> forms.Form:
    """Return the form of a new handoff."""
    form = forms.Form(data, initial=initial)
    form.fields |= {field.name: form_field(field) for field in HANDOFF.select_fields(Use.FORM)}
    form.fields["handoff_type"].widget.choices = list(TYPES.items())
    for name in LONG_FIELDS:
        form.fields[name].widget = make_area(3)
    blockers, unverified = HANDOFF["blockers"], HANDOFF["include_unverified"]
    form.fields["blockers"] = OptionalText(
        label=blockers.title, help_text=blockers.form_help, widget=make_area(3)
    )
    form.fields["session_id"] = SESSION
    form.fields["include_unverified"] = form_field(unverified)
    return form


def make_area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "dir": "auto"})


def read_form(request: HttpRequest) -> Any:
    """Return what was typed, as the engine takes it."""
    names = [field.name for field in HANDOFF.select_fields(Use.FORM)]
    typed: dict[str, Any] = {name: text for name in names if (text := request.POST.get(name, "").strip())}
    lines = request.POST.get("blockers", "").splitlines()
    typed["blockers"] = [line.strip() for line in lines if line.strip()]
    typed["include_unverified"] = bool(request.POST.get("include_unverified"))
    return typed


class HandoffPage(ProjectPage):
    """One handoff: at the left what the receiver gets, at the right its members and what became of it."""

    template_name = "handoff.html"
    section = "handoffs"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        handoff = handoff_engine.get_handoff(handoff_id=self.kwargs["handoff_id"], actor=actor)
        return super().get_context_data(
            title=TYPES[handoff.handoff_type],
            handoff=handoff,
            packet=measure_lines(describe_packet(handoff, list_standing_facts(handoff))),
            missing=list_missing(handoff),
            completeness=measure_completeness(handoff),
            may_decide=self.reader.is_now and handoff_engine.may_decide(handoff=handoff, actor=actor),
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Accept or reject the handoff."""
        self.reader.require_now()
        target = {"handoff_id": self.kwargs["handoff_id"], "actor": self.reader.actor}
        match request.POST.get("action", ""):
            case "accept":
                handoff_engine.accept_handoff(**target)
                flash_success(request, _("The handoff is accepted: the next sessions begin with it."))
            case "reject":
                reason = request.POST.get("reason", "").strip()
                handoff_engine.reject_handoff(reason=reason, **target)
                flash_success(request, _("The handoff is rejected."))
            case _other:
                raise Invalid("This cannot be done to a handoff.")
        return redirect(request.path)
