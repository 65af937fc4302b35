"""What the forms of the pages share."""

import re
from contextlib import suppress
from typing import Any

from django import forms

from memory.engines import cleaning as c
from memory.exceptions import Day1Error, Invalid
from memory.views.sentences import sentence

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class MomentInput(forms.TextInput):
    """A field for a time in UTC, from whatever text an engine reads as a time.

    What is no time stays in it as it was typed, to be mended.
    """

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        with suppress(Invalid):
            at = c.moment(name, value or None)
            shown = at.replace(tzinfo=None).isoformat(timespec="milliseconds") if at else None
            context["widget"] |= {"type": "datetime-local", "value": shown}
            context["widget"]["attrs"]["step"] = "any"
        return context


class DayInput(MomentInput):
    """A field for a day; for a time where an address gives one, so that it is not lost."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        if not value or DAY.fullmatch(value):
            context["widget"] |= {"type": "date", "value": value or None}
        return context


def number(text: str, digits: int = 9) -> int | None:
    """A whole number of a field or an address; None where there is none, or one of more digits."""
    return int(text) if text.isdecimal() and len(text) <= digits else None


def say(form: forms.Form, error: Day1Error) -> None:
    """Put an engine's refusal where the reader looks: at its field, or above the form."""
    field = error.data.get("field")
    form.add_error(field if field in form.fields else None, sentence(error))
