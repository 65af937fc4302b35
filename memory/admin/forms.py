"""Forms of the desk. They only read what a person typed; the engines check it."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.engines.fact_rules import UPDATABLE
from memory.engines.keys import HIGHEST_RATE
from memory.models import Fact, Membership
from memory.views import keys
from memory.views.wording import worded

KINDS = worded(value for value in Fact.Kind.values if value != Fact.Kind.REFLECTION)


class MomentField(forms.DateTimeField):
    """A time in UTC to the second, or nothing."""

    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M:%S", attrs={"type": "datetime-local", "step": "1"})


class ListField(forms.CharField):
    """Words separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return [part.strip() for part in (value or "").split(",") if part.strip()]


class FactForm(forms.Form):
    """What may be corrected in a fact."""

    fact_text = forms.CharField(
        label=_("Text"), widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}), strip=False
    )
    essence = forms.CharField(
        label=_("Line for a prompt"), max_length=200, required=False, widget=forms.TextInput({"dir": "auto"}),
        help_text=_("Left empty, it is made from the text."),
    )  # fmt: skip
    category = forms.CharField(label=_("Category"), max_length=100, widget=forms.TextInput({"list": "known"}))
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS)
    priority = forms.ChoiceField(label=_("Priority"), choices=worded(Fact.Priority.values))
    confidence = forms.FloatField(label=_("Confidence"), min_value=0, max_value=1, step_size=0.01)
    visibility = forms.ChoiceField(label=_("Visibility"), choices=worded(Fact.Visibility.values))
    tags = ListField(label=_("Tags"), required=False, help_text=_("With commas between them."))
    valid_from = MomentField(label=_("True from (UTC)"), required=False)
    valid_until = MomentField(label=_("True until (UTC)"), required=False)
    expires_at = MomentField(label=_("Expires (UTC)"), required=False)
    pinned = forms.BooleanField(label=_("Pinned"), required=False)

    @classmethod
    def of(cls, fact: Fact) -> "FactForm":
        return cls(initial={name: getattr(fact, name) for name in cls.base_fields if name in UPDATABLE})

    def updates(self, fact: Fact) -> dict[str, Any]:
        """The fields in which the form differs from what the fact is: to a second for times."""
        found = {}
        for name, value in self.cleaned_data.items():
            now = getattr(fact, name)
            if isinstance(self.fields[name], MomentField) and now is not None:
                now = now.replace(microsecond=0)
            if value != now and not (name == "essence" and not value):
                found[name] = value
        return found


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
    expires_at = MomentField(label=_("It expires (UTC)"), required=False, help_text=_("Empty means never."))


class MemberForm(forms.Form):
    username = forms.CharField(label=_("Username"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=worded(Membership.Role.values))
