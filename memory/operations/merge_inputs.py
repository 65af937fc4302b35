"""Parsing of merges: classes of a plan, and the options of a merge."""

from typing import Any

from memory.engines.fields.merges import FORCE, MAX_IDS, MESSAGE, STRATEGY
from memory.engines.merging.conflict_decisions import parse_decisions
from memory.engines.merging.plan import CLASSES
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.models import MergeRequest
from memory.operations.inputs import Input, parse_names


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


def take_target(payload: Input) -> str:
    """Take the target, named ``target`` or ``into``. Raises Invalid if they differ."""
    names = {payload.take_value(name, c.text_check(200)) for name in ("target", "into")} - {None}
    if len(names) > 1:
        raise Invalid("target and into name different branches.", field="target")
    return names.pop() if names else "main"


def take_force(payload: Input) -> dict[str, Any]:
    """Take the message of a merge, and whether it overrules gates."""
    return {
        "message": payload.take_value("message", MESSAGE.type.build_check(), ""),
        "force": payload.take_value("force", FORCE.check, False),
    }
