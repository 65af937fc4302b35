"""Shared form fields and helpers of the pages."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django import forms

from memory.engines.support import validation as c
from memory.exceptions import Day1Error, Invalid
from memory.views.text.error_text import error_sentence
from memory.views.text.times import format_input


class MomentInput(forms.TextInput):
    """A field for a time in the reader's zone, filled with any text that an engine parses as a time.

    The page's script sends what is typed as a time in UTC. An invalid text stays as typed, for correction.
    """

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        with suppress(Invalid):
            at = c.parse_time(name, value or None)
            context["widget"] |= {"type": "datetime-local", "value": format_input(at) if at else None}
            context["widget"]["attrs"]["step"] = "any"
        return context


def parse_number(text: str, digits: int = 9) -> int | None:
    """Parse a whole number; None if there is none, or one with more digits."""
    return int(text) if text.isdecimal() and len(text) <= digits else None


def read_id(text: str) -> UUID:
    """Read an id, or the last part of the address of a fact. Raises Invalid."""
    try:
        return UUID(text.partition("?")[0].rstrip("/").rpartition("/")[2])
    except ValueError:
        raise Invalid("This is not the id of a fact.", field="replaced_by") from None


def add_form_error(form: forms.Form, error: Day1Error) -> None:
    """Add an engine's error to the form: at its field, which it names as the form does, or above the form.

    The page opens at the field, which may be far below.
    """
    field = error.data.get("field")
    labels = {name: one.label for name, one in form.fields.items() if one.label}
    form.add_error(field if field in form.fields else None, error_sentence(error, labels=labels))
    if field in form.fields:
        form.fields[field].widget.attrs["autofocus"] = True
