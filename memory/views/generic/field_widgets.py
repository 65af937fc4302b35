"""Declared fields in forms: their widgets, how a value is shown, what a typed text stands for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from memory.engines.fields import types as t
from memory.engines.fields.base import Field
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.texts import split_names
from memory.views.text.labels import label_choices
from memory.views.text.times import label_in_zone, localize


class DeclaredForm(forms.Form):
    """A form of declared fields; their engine checks what is typed.

    ``values`` are what the fields show at first. The fields of a record stand beside the others, and are
    read as one object. With ``titles`` the fields stand in groups; those behind
    the first ``open_groups`` are folded.
    """

    titles: Mapping[Any, Sequence[str]] = {}
    open_groups = 0

    def __init__(
        self, declared: Iterable[Field], data: Any = None, values: Mapping[str, Any] | None = None
    ) -> None:
        named = list(declared)
        self.records = {field.name: field.type.fields for field in named if isinstance(field.type, t.Record)}
        parts = [self.records.get(field.name, (field,)) for field in named]
        self.declared: dict[str, Field] = {field.name: field for part in parts for field in part}
        found = {n: show_value(self.declared[n], v) for n, v in (values or {}).items() if n in self.declared}
        super().__init__(data, initial=found)
        self.fields |= {name: form_field(field) for name, field in self.declared.items()}

    @property
    def split_groups(self) -> tuple[list[Any], list[Any]]:
        """Return the groups that are open, and those that are folded."""
        groups = self.groups
        return groups[: self.open_groups], groups[self.open_groups :]

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the titles, each with its fields."""
        return [(title, [self[n] for n in names if n in self.fields]) for title, names in self.titles.items()]

    def read_values(self, *, is_whole: bool = False) -> dict[str, Any]:
        """Return the values that were typed. What is empty is left out, unless it ``is_whole`` or needed.

        Raises Invalid.
        """
        sent = {name: field for name, field in self.declared.items() if self.is_sent(name)}
        read = {name: read_value(field, self.read_text(name)) for name, field in sent.items()}
        kept = {n: v for n, v in read.items() if is_whole or sent[n].required or v not in ("", None, [])}
        for record, parts in self.records.items():
            found = {part.name: kept.pop(part.name) for part in parts if part.name in kept}
            kept |= {record: found} if found else {}
        return kept

    def is_sent(self, name: str) -> bool:
        """Return whether a field came with the form; ticks that are not set do not."""
        return not self.fields[name].widget.value_omitted_from_data(self.data, {}, name)

    def read_text(self, name: str) -> Any:
        """Return what was typed into a field, with line ends as stored texts have them."""
        value = self.fields[name].widget.value_from_datadict(self.data, MultiValueDict(), name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


def form_field(field: Field) -> forms.Field:
    """Return the form's field for a declared one."""
    title = label_in_zone(field.title) if isinstance(field.type, t.Moment) else field.title
    return forms.Field(required=False, label=title, help_text=field.form_help, widget=make_widget(field))


def make_widget(field: Field) -> forms.Widget:
    """Return the widget of a field, by its type. Choices with words of their own are all shown."""
    rows = field.form_rows
    match field.type:
        case t.LongText() | t.JSONObject():
            return make_area(rows or 8)
        case t.ListOf(item=t.Choice() as choice):
            return forms.CheckboxSelectMultiple(choices=list_choices(field, choice))
        case kind if field.form_choices or isinstance(kind, t.Choice):
            widget = forms.RadioSelect if rows else forms.Select
            return widget(choices=list_choices(field, kind))
        case t.Number(low, high) | t.Whole(low, high):
            most = {} if high == t.MAX_SAFE_INTEGER else {"max": high}
            return forms.NumberInput(attrs={"min": low, **most, "step": "any"})
        case t.Moment():
            return forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})
        case t.Flag():
            return forms.CheckboxInput(attrs={"value": "yes"})
    return make_area(rows) if rows else forms.TextInput(attrs=list_attributes(field))


def make_area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "dir": "auto"})


def list_choices(field: Field, kind: t.Type) -> list[tuple[Any, Any]]:
    """Return the values that may be chosen, with their words."""
    if isinstance(kind, t.Choice) and not field.form_choices:
        return label_choices(value for value, _ in kind.open_choices)
    return list(field.form_choices)


def list_attributes(field: Field) -> dict[str, Any]:
    """Return the attributes of a line of text. Names have no spelling."""
    listed = {"list": field.suggestions} if field.suggestions else {}
    match field.type:
        case t.Reference(max_length):
            return {**listed, "maxlength": max_length, "autocomplete": "off", "spellcheck": "false"}
        case t.Text(max_length) if not listed:
            return {"dir": "auto", "maxlength": max_length}
    return listed


def show_value(field: Field, value: Any) -> Any:
    """Return a value as its form field shows it."""
    match field.type:
        case _ if value is None:
            return ""
        case t.Moment():
            return localize(value).isoformat(timespec="seconds")
        case t.ListOf(item=t.Choice()):
            return list(value)
        case t.TagList() | t.ListOf():
            return ("\n" if field.form_rows else ", ").join(value)
        case t.JSONObject():
            return "\n".join(f"{name}: {number}" for name, number in value.items())
        case t.Flag():
            return "yes" if value else ""
    return str(value)


def read_value(field: Field, typed: Any) -> Any:
    """Return the value that a typed text stands for, or what the engine refuses. Raises Invalid."""
    match field.type:
        case t.Flag():
            return bool(typed)
        case t.ListOf() if isinstance(typed, list):
            return typed
        case t.TagList() | t.ListOf():
            lines = typed.splitlines() if field.form_rows else split_names(typed)
            return [text for line in lines if (text := line.strip())]
        case t.LongText():
            return typed if typed.strip() else ""
        case t.JSONObject():
            return dict(_read_entry(line) for line in typed.splitlines() if line.strip())
    text = (typed or "").strip()
    match field.type:
        case t.Moment():
            return _read_moment(field.name, text) if text else None
        case t.Number() | t.Whole():
            return field.type.read_text(text) if text else None if field.null else ""
    return text


def _read_moment(name: str, text: str) -> Any:
    """Parse a time that is typed in the reader's zone. Raises Invalid."""
    at = c.parse_iso(text)
    return c.parse_time(name, timezone.make_aware(at) if at and timezone.is_naive(at) else text)


def _read_entry(line: str) -> tuple[str, int]:
    """Parse a name and its number. Raises Invalid."""
    name, _colon, number = line.rpartition(":")
    try:
        return name.strip(), int(number)
    except ValueError:
        raise Invalid("“{line}” is no name with its number, such as error: 30.", line=line.strip()) from None
