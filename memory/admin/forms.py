"""Forms of the desk. They only read what a person typed; the engines check it."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.actors import SCOPES
from memory.engines.fact_rules import UPDATABLE
from memory.engines.keys import HIGHEST_RATE
from memory.models import Fact, Membership

KINDS = [choice for choice in Fact.Kind.choices if choice[0] != Fact.Kind.REFLECTION]


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
        help_text=_("Made from the text when it is left as it is."),
    )  # fmt: skip
    category = forms.CharField(label=_("Category"), max_length=100, widget=forms.TextInput({"list": "known"}))
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS)
    priority = forms.ChoiceField(label=_("Priority"), choices=Fact.Priority.choices)
    confidence = forms.FloatField(label=_("Confidence"), min_value=0, max_value=1, step_size=0.01)
    visibility = forms.ChoiceField(label=_("Visibility"), choices=Fact.Visibility.choices)
    tags = ListField(label=_("Tags"), required=False, help_text=_("With commas between them."))
    valid_from = MomentField(label=_("True from (UTC)"), required=False)
    valid_until = MomentField(label=_("True until (UTC)"), required=False)
    expires_at = MomentField(label=_("Forget after (UTC)"), required=False)
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


class KeyForm(forms.Form):
    label = forms.CharField(label=_("Label"), max_length=200, help_text=_("Who or what uses it."))
    scope = forms.ChoiceField(
        label=_("May"), choices=[(scope, scope) for scope in SCOPES], initial="write",
        help_text=_("Each includes those before it."),
    )  # fmt: skip
    branch_patterns = ListField(
        label=_("On branches"), required=False, help_text=_("Such as main, task/*; every branch when empty.")
    )
    default_branch = forms.CharField(
        label=_("Default branch"), max_length=200, required=False,
        help_text=_("Where MCP works when a call names no branch; main when empty."),
    )  # fmt: skip
    agent_id = forms.CharField(
        label=_("Only as the agent"), max_length=200, required=False, help_text=_("Any agent when empty.")
    )
    rate_per_minute = forms.IntegerField(
        label=_("Requests a minute"), min_value=1, max_value=HIGHEST_RATE, initial=6000
    )
    expires_at = MomentField(label=_("Until (UTC)"), required=False, help_text=_("For ever when empty."))


class MemberForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)
