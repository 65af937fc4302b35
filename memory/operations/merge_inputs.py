"""Parsing of merges: decisions, classes of a plan, and the options of a merge."""

from typing import Any

from memory.engines.fields.merges import CHOICE, MAX_IDS, STRATEGY
from memory.engines.merging.plan import CLASSES, Decision
from memory.engines.support import validation as c
from memory.exceptions import Invalid, UnknownField
from memory.models import MergeRequest
from memory.operations.inputs import Input, parse_names, parse_object

MESSAGE = c.text_check(500)
DECISION_FIELDS = {
    "id": c.parse_uuid,
    "type": c.text_check(20, min_length=1),
    "choice": CHOICE.build_check(),
    "token": c.text_check(64),
    "text": c.plain_text,
}


def parse_decisions(name: str, value: Any) -> list[Decision]:
    """Parse a list of decisions. Raises Invalid, UnknownField."""
    if not isinstance(value, list):
        raise Invalid("{field} must be a list of objects.", field=name)
    return [parse_decision(f"{name}[{index}]", item) for index, item in enumerate(value)]


def parse_decision(name: str, value: Any) -> Decision:
    value = parse_object(name, value)
    for key in value.keys() - DECISION_FIELDS.keys():
        raise UnknownField(field=f"{name}.{key}")
    found = {key: DECISION_FIELDS[key](f"{name}.{key}", part) for key, part in value.items()}
    for key in ("id", "choice"):
        if key not in found:
            raise Invalid("{field} is needed.", field=f"{name}.{key}")
    return Decision(
        found["id"], found["choice"], found.get("token", ""), found.get("text", ""), found.get("type", "fact")
    )


def parse_classes(name: str, value: Any) -> list[str]:
    """Parse the classes of a plan, as a list or separated by commas. Raises Invalid."""
    values = value.split(",") if isinstance(value, str) else parse_names(name, value)
    return [c.one_of(CLASSES)(name, one) for one in values]


def parse_picked(name: str, value: Any) -> list[str]:
    """Parse the ids of a cherry pick, as a list or separated by commas. Raises Invalid."""
    return parse_names(name, value.split(",") if isinstance(value, str) else value, MAX_IDS)


def take_page(payload: Input, default: int = 50) -> dict[str, Any]:
    """Take which part of a plan is asked for."""
    return {
        "kind": payload.take_value("type", c.text_check(20), ""),
        "classes": payload.take_value("class", parse_classes, ()),
        **payload.take_paging(default),
    }


def take_merge(payload: Input) -> dict[str, Any]:
    """Take the options that a merge and its plan share. Raises Invalid."""
    return {
        "target": take_target(payload),
        "strategy": payload.take_value("strategy", STRATEGY.check, MergeRequest.Strategy.AUTO),
        "ids": payload.take_value("ids", parse_picked, ()),
        "decisions": payload.take_value("decisions", parse_decisions, ()),
    }


def take_target(payload: Input, default: str = "main") -> str:
    """Take the target, named ``target`` or ``into``. Raises Invalid if they differ."""
    names = {payload.take_value(name, c.text_check(200)) for name in ("target", "into")} - {None}
    if len(names) > 1:
        raise Invalid("target and into name different branches.", field="target")
    return names.pop() if names else default


def take_force(payload: Input) -> dict[str, Any]:
    """Take the message of a merge, and whether it overrules gates."""
    return {
        "message": payload.take_value("message", MESSAGE, ""),
        "force": payload.take_value("force", c.check_boolean, False),
    }
