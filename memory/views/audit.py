"""The audit: who did what in a project."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.engines.audit.trail import AuditEngine
from memory.exceptions import Invalid
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.filter_tokens import refuse_unknown
from memory.views.labels import ACTION_LABELS
from memory.views.times import label_in_zone
from memory.views.widgets import MomentInput


class AuditForm(forms.Form):
    """The filters of the audit, with what an address asks for as ``initial``."""

    action = forms.CharField(label=_("Action"), widget=forms.Select)
    by = forms.CharField(label=_("Who"))
    after = forms.CharField(label=label_in_zone(_("Recorded from")), widget=MomentInput)
    before = forms.CharField(label=label_in_zone(_("Recorded before")), widget=MomentInput)
    target = forms.CharField(
        label=_("Target"), widget=forms.TextInput(attrs={"placeholder": _("an id, a branch, a name")})
    )

    use_required_attribute = False

    def __init__(self, filters: dict[str, str]) -> None:
        super().__init__(initial=filters)
        known = {"": _("any"), **ACTION_LABELS}
        known.setdefault(filters["action"], filters["action"])  # of another time, or mistyped
        self.fields["action"].widget.choices = known.items()


class Audit(ProjectPage):
    template_name = "audit.html"
    section = "audit"
    scope = "admin"
    title = _("Audit")
    extra_context = {
        "lead": _(
            "Who did what in this project, newest first. Nothing here can be changed; sealed entries are"
            " chained, so that a change would show."
        ),
        "filtered": True,  # without filters there is always an entry
        "drawing": "search",
        "none_fits": _("No entry fits."),
        "show_all": _("Show all entries"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        filters: dict[str, Any] = {
            name: self.request.GET.get(name, "").strip() for name in AuditForm.base_fields
        }
        shown: dict[str, Any] = {"form": AuditForm(filters), "set": sum(map(bool, filters.values()))}
        try:
            refuse_unknown(self.request, filters)
            shown["page"] = AuditEngine().list_entries(actor=self.reader.actor, **filters, **self.paging())
        except Invalid as error:  # the input stays in the form for correction
            shown["refusal"] = error_sentence(error)
        return super().get_context_data(**shown, **kwargs)
