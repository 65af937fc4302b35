"""Options and lines from the declared fields, as fields.json has them: no engine is loaded for it.

``python3 manage.py write_fields`` writes that file from the declarations.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from day1site.cli.names import FILTER_PREFIX
from day1site.cli.parameters import (
    JSON_OBJECT,
    JSON_VALUE,
    NUMBER,
    POINT,
    WHOLE,
    Decorator,
    OneOf,
    argument,
    combine,
    drop_empty,
    option,
    switch,
)

FILE = Path(__file__).with_name("fields.json")
FILTERS = "filters, each as often as wanted where several values make sense"
WORDS = {"metavar": "TEXT"}
IDS = {"metavar": "ID"}
MANY = {"metavar": "TAG", "multiple": True}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Text": WORDS,
    "LongText": WORDS,
    "CutText": WORDS,
    "OwnerName": IDS,
    "Pattern": {"metavar": "NAME"},
    "Repository": {"metavar": "NAME"},
    "Choice": {"metavar": "NAME"},
    "Reference": IDS,
    "Identifier": IDS,
    "Moment": {"metavar": "TIME"},
    "Point": {"type": POINT, "metavar": "POINT"},
    "Number": {"type": NUMBER, "metavar": "X"},
    "Whole": {"type": WHOLE, "metavar": "N"},
    "JSONObject": {"type": JSON_OBJECT, "metavar": "JSON"},
    "JSONValue": {"type": JSON_VALUE, "metavar": "JSON"},
    "TagList": MANY,
    "ListOf": MANY,
}
Description = dict[str, Any]


@cache
def load_nouns() -> dict[str, dict[str, list[Any]]]:
    """Return the fields, the filters and the commands of every noun."""
    nouns: dict[str, dict[str, list[Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return nouns


def list_groups() -> Iterator[tuple[str, str]]:
    """Yield the nouns whose commands their declaration names, each with its line of help."""
    for noun in load_nouns().values():
        if noun["commands"]:
            module, help = noun["commands"]
            yield module, help


def list_fields(noun: str, *uses: str) -> list[Description]:
    """Return the fields of a noun with all of these uses."""
    return [field for field in load_nouns()[noun]["fields"] if set(uses) <= set(field.get("use", ()))]


def field_names(noun: str, *uses: str) -> frozenset[str]:
    return frozenset(field["name"] for field in list_fields(noun, *uses))


def field_choices(noun: str, name: str) -> tuple[str, ...]:
    """Return the values that a field may have."""
    (field,) = (field for field in load_nouns()[noun]["fields"] if field["name"] == name)
    return tuple(field["choices"])


# ---- options -------------------------------------------------------------------------------------------


def field_options(noun: str, *uses: str) -> Decorator:
    """Declare the options of the fields that the command which writes this noun takes."""
    return combine(*(make_option(field) for field in list_fields(noun, *(uses or ("option",)))))


def field_option(noun: str, name: str) -> Decorator:
    """Declare the option of one field."""
    (field,) = (field for field in load_nouns()[noun]["fields"] if field["name"] == name)
    return make_option(field)


def state_options(noun: str) -> Decorator:
    """Declare the options of who says it."""
    return field_options(noun, "state")


def filter_options(noun: str, prefix: str = "", **attrs: Any) -> Decorator:
    """Declare the options of the filters of a noun's lists; ``prefix`` begins the names of the parameters."""
    filters = [one for one in load_nouns()[noun]["filters"] if "option" in one.get("use", ())]
    return combine(*(make_option(one, prefix, **attrs) for one in filters))


def split_filters(noun: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the filters of a noun that were given, and the other options that were."""
    declared = [one["name"] for one in load_nouns()[noun]["filters"]]
    names = {prefix + name: name for prefix in ("", FILTER_PREFIX) for name in declared}
    values = drop_empty(options)
    filters = {names[name]: value for name, value in values.items() if name in names}
    return filters, {name: value for name, value in values.items() if name not in names}


def make_argument(field: Description) -> Decorator:
    """Return the argument of a field; a list is the last one."""
    words = field["option"]
    kind = OneOf(open_choices(field)) if words.get("checked") else ATTRIBUTES[field["type"]].get("type")
    many = {"nargs": -1, "required": True} if field["type"] == "ListOf" else {}
    return argument(field["name"], words.get("metavar", field["name"].upper()), type=kind, **many)


def make_option(field: Description, prefix: str = "", **attrs: Any) -> Decorator:
    """Return the option of a field; ``attrs`` are those of all options of its command."""
    words, name = field["option"], prefix + field["name"]
    attrs = {"multiple": True, **attrs} if "many" in field else attrs
    if field["type"] == "Flag":
        flag, help = words["flag"], words.get("help", "")
        if field.get("is_on"):  # it is only of use to turn it off
            return option(f"{flag}/--no-{flag[2:]}", name, is_flag=True, default=None, help=help)
        return switch(flag, name, default=None, help=help)
    if words.get("checked"):
        many = {"multiple": True} if field["type"] == "ListOf" else {}
        attrs = {**attrs, **many, "type": OneOf(open_choices(field))}
    else:
        attrs = {**ATTRIBUTES[field["type"]], **attrs}
    if "metavar" in words:
        attrs["metavar"] = words["metavar"]
    return option(words["flag"], name, help=words.get("help", ""), **attrs)


def open_choices(field: Description) -> list[str]:
    """Return the values that a caller may write."""
    field = field.get("item", field)
    return [value for value in field["choices"] if value not in field.get("reserved", ())]
