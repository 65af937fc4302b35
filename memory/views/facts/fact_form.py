"""The form of a fact: texts as typed, and their differences from the fact."""

from typing import Any

from django import forms

from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.models import Fact
from memory.views.frame.widgets import parse_number
from memory.views.generic.field_widgets import form_field, read_value, show_value

FORM_FIELDS = FACT.select_fields(Use.FORM)
# Suggestions; any other category is valid as well.
CATEGORIES = (
    "architecture bug_fix configuration decision discovery error general insight pattern performance"
    " preference security"
).split()


class FactForm(forms.Form):
    """A form whose fields are all texts: the engine validates them."""

    version = forms.CharField(required=False, widget=forms.HiddenInput)

    use_required_attribute = False

    @property
    def typed(self) -> dict[str, str]:
        """Return the submitted values, with line ends as stored texts have them."""
        data = self.data or self.initial
        return {name: str(data.get(name) or "").replace("\r\n", "\n") for name in self.fields}

    @property
    def text(self) -> str:
        return self.typed["fact_text"].strip()

    @property
    def read_version(self) -> int | None:
        """Return the version of the fact that the person read."""
        return parse_number(self.typed["version"])

    def changed_fields(self, fact: Fact) -> dict[str, Any]:
        """Return the fields that differ from the fact. Raises Invalid."""
        before = shown_as(fact)
        changed = {name: text for name, text in self.typed.items() if text.strip() != before[name].strip()}
        changed.pop("version", None)
        if not changed.get("essence", "-"):
            changed.pop("essence")
        return {name: read_value(FACT[name], text) for name, text in changed.items()}

    def rebase_on(self, read: Fact | None, now: Fact) -> "FactForm":
        """Return the form rebased on the present fact: fields that the person left alone follow it."""
        before, after = shown_as(read or now), shown_as(now)
        kept = {n: after[n] if text.strip() == before[n].strip() else text for n, text in self.typed.items()}
        return FactForm(initial={**kept, "version": after["version"]})


FactForm.base_fields |= {field.name: form_field(field) for field in FORM_FIELDS}


def shown_as(fact: Fact) -> dict[str, str]:
    """Return the fields of a fact as the form shows them."""
    shown = {field.name: show_value(field, getattr(fact, field.name)) for field in FORM_FIELDS}
    return {**shown, "version": str(fact.version)}
