"""The form of a fact: texts, as a person types them, and what of them differs from the fact."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.engines import cleaning as c
from memory.exceptions import Invalid
from memory.models import Fact
from memory.views.forms import number
from memory.views.wording import worded

MOMENTS = ("valid_from", "valid_until", "expires_at")
# Those that are offered; any other is one as well.
CATEGORIES = (
    "architecture bug_fix configuration decision discovery error general insight pattern performance"
    " preference security"
).split()
KINDS = [value for value in Fact.Kind.values if value != Fact.Kind.REFLECTION]


def choices(values: Any) -> forms.Select:
    return forms.Select(choices=worded(values))


def moment() -> forms.DateTimeInput:
    return forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})


class Words(forms.CharField):
    """A text that may be empty as far as the form knows."""

    def __init__(self, **given: Any) -> None:
        super().__init__(required=False, **given)


class FactForm(forms.Form):
    """Every field is a text here: what a fact may hold, its engine says."""

    fact_text = Words(label=_("Text"), widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}))
    essence = Words(
        label=_("Line for a prompt"), widget=forms.TextInput(attrs={"dir": "auto", "maxlength": 200}),
        help_text=_("Left empty, it is made from the text."),
    )  # fmt: skip
    category = Words(label=_("Category"), widget=forms.TextInput({"list": "categories"}))
    tags = Words(label=_("Tags"), help_text=_("With commas between them."))
    kind = Words(label=_("Kind"), widget=choices(KINDS))
    priority = Words(label=_("Priority"), widget=choices(Fact.Priority.values))
    confidence = Words(
        label=_("Confidence"),
        widget=forms.NumberInput(attrs={"min": 0, "max": 1, "step": "any"}),
    )
    visibility = Words(label=_("Visibility"), widget=choices(Fact.Visibility.values))
    valid_from = Words(label=_("True from (UTC)"), widget=moment())
    valid_until = Words(label=_("True until (UTC)"), widget=moment())
    expires_at = Words(label=_("Expires (UTC)"), widget=moment())
    pinned = Words(label=_("Pinned"), widget=forms.CheckboxInput(attrs={"value": "yes"}))
    version = Words(widget=forms.HiddenInput)

    use_required_attribute = False

    @property
    def typed(self) -> dict[str, str]:
        """What was sent, with the line ends that texts have here."""
        data = self.data or self.initial
        return {name: str(data.get(name) or "").replace("\r\n", "\n") for name in self.fields}

    @property
    def text(self) -> str:
        return self.typed["fact_text"].strip()

    @property
    def read_version(self) -> int | None:
        """Of the fact that the person read."""
        return number(self.typed["version"])

    def updates(self, fact: Fact) -> dict[str, Any]:
        """The fields that say something else than the fact does. Raises Invalid."""
        before = shown_as(fact)
        changed = {name: text for name, text in self.typed.items() if text.strip() != before[name].strip()}
        changed.pop("version", None)
        if not changed.get("essence", "-"):
            changed.pop("essence")
        return {name: _value(name, text) for name, text in changed.items()}

    def over(self, read: Fact | None, now: Fact) -> "FactForm":
        """The same on top of the fact as it is now: what the person left alone follows the fact."""
        before, after = shown_as(read or now), shown_as(now)
        kept = {n: after[n] if text.strip() == before[n].strip() else text for n, text in self.typed.items()}
        return FactForm(initial={**kept, "version": after["version"]})


def shown_as(fact: Fact) -> dict[str, str]:
    """The fields of a fact as the form shows them."""
    shown = {name: str(getattr(fact, name)) for name in FactForm.base_fields if name not in MOMENTS}
    for name in MOMENTS:
        when = getattr(fact, name)
        shown[name] = when.strftime("%Y-%m-%dT%H:%M:%S") if when else ""
    return {**shown, "tags": ", ".join(fact.tags), "pinned": "yes" if fact.pinned else ""}


def _value(name: str, text: str) -> Any:
    if name == "tags":
        return [tag for part in text.split(",") if (tag := part.strip())]
    if name == "pinned":
        return bool(text)
    if name in MOMENTS:
        return c.moment(name, text) if text else None
    if name == "confidence":
        return _number(name, text)
    return text if name == "fact_text" else text.strip()


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid("{field} must be a number from 0 to 1.", field=name) from None
