"""Form fields from the declared fields: each is a text, as a person types it; the engine checks it."""

from typing import Any

from django import forms
from django.utils import timezone

from memory.engines.fields import types as t
from memory.engines.fields.base import Field
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.texts import split_names
from memory.views.labels import label_choices
from memory.views.times import label_in_zone, localize


class OptionalText(forms.CharField):
    """A text that may be empty as far as the form knows."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)


def form_field(field: Field) -> OptionalText:
    """Return the form's field for a declared one."""
    title = label_in_zone(field.title) if isinstance(field.type, t.Moment) else field.title
    return OptionalText(label=title, help_text=field.form_help, widget=make_widget(field))


def make_widget(field: Field) -> forms.Widget:
    """Return the widget of a field, by its type."""
    match field.type:
        case t.LongText():
            return forms.Textarea(attrs={"rows": 8, "dir": "auto"})
        case t.Choice() as choice:
            return forms.Select(choices=label_choices([value for value, _ in choice.open_choices]))
        case t.Number(low, high) | t.Whole(low, high):
            return forms.NumberInput(attrs={"min": low, "max": high, "step": "any"})
        case t.Moment():
            return forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})
        case t.Flag():
            return forms.CheckboxInput(attrs={"value": "yes"})
        case t.Text(max_length) if not field.suggestions:
            return forms.TextInput(attrs={"dir": "auto", "maxlength": max_length})
    return forms.TextInput(attrs={"list": field.suggestions} if field.suggestions else {})


def show_value(field: Field, value: Any) -> str:
    """Return a value as its form field shows it."""
    match field.type:
        case t.Moment():
            return localize(value).isoformat(timespec="seconds") if value else ""
        case t.TagList():
            return ", ".join(value)
        case t.Flag():
            return "yes" if value else ""
    return str(value)


def read_value(field: Field, text: str) -> Any:
    """Return the value that a typed text stands for. Raises Invalid."""
    match field.type:
        case t.TagList():
            return split_names(text)
        case t.Flag():
            return bool(text)
        case t.Moment():
            return _read_moment(field.name, text) if text else None
        case t.Number(low, high) | t.Whole(low, high):
            return _read_number(field.name, text, low, high)
        case t.LongText():
            return text
    return text.strip()


def _read_moment(name: str, text: str) -> Any:
    """Parse a time that is typed in the reader's zone. Raises Invalid."""
    at = c.parse_iso(text)
    return c.parse_time(name, timezone.make_aware(at) if at and timezone.is_naive(at) else text)


def _read_number(name: str, text: str, low: float, high: float) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(
            "{field} must be a number from {low} to {high}.", field=name, low=low, high=high
        ) from None
