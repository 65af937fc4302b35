"""Forms of the desk. They only read what a person typed; the engines check it."""

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.engines.keys import HIGHEST_RATE
from memory.models import Membership
from memory.views import keys
from memory.views.forms import MomentInput
from memory.views.wording import DEEDS, worded


class KeyForm(keys.KeyForm):
    """With an exact end, and a rate."""

    scopes = forms.ChoiceField(
        label=_("It may"), choices=list(keys.SCOPES.items()), initial="write",
        help_text=_("Each includes those before it."),
    )  # fmt: skip
    days = None  # type: ignore[assignment]  # as Django has it: no such field here
    rate_per_minute = forms.IntegerField(
        label=_("Requests a minute"), min_value=1, max_value=HIGHEST_RATE, initial=6000
    )
    expires_at = forms.DateTimeField(
        label=_("It expires (UTC)"), required=False, widget=MomentInput(), help_text=_("Empty means never.")
    )


class AuditForm(forms.Form):
    """The filters of the audit, with what an address asks for as ``initial``."""

    action = forms.CharField(label=_("Action"), widget=forms.Select)
    by = forms.CharField(label=_("Who"))
    after = forms.CharField(label=_("Recorded from (UTC)"), widget=MomentInput)
    before = forms.CharField(label=_("Recorded before (UTC)"), widget=MomentInput)
    target = forms.CharField(label=_("Of what: an id, a branch, a name"))

    use_required_attribute = False

    def __init__(self, asked: dict[str, str]) -> None:
        super().__init__(initial=asked)
        known = {"": _("any"), **DEEDS}
        known.setdefault(asked["action"], asked["action"])  # of another time, or mistyped
        self.fields["action"].widget.choices = known.items()  # type: ignore[attr-defined]


class MemberForm(forms.Form):
    username = forms.CharField(label=_("Username"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=worded(Membership.Role.values))
