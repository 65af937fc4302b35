"""What a template of projects has of conversations: the instructions, and the rules that are switched off."""

from collections.abc import Mapping, Sequence
from typing import Any

from conversations.engines.instructions import InstructionsEngine, check_fields, describe
from conversations.engines.learning import RULES, LearningEngine
from conversations.models import Instructions
from memory.actors import Actor
from memory.engines.access.project_templates import Part, check_object
from memory.exceptions import Invalid, UnknownField
from memory.models import Project

FIELDS = ("preset", "text", "categories")
OWN = Instructions.Preset.OWN.value  # no preset that could be asked for


def read_instructions(project: Project) -> dict[str, Any]:
    """Return the instructions that hold; {} where none were set."""
    found = Instructions.objects.filter(project=project).first()
    return drop_own(describe(found)) if found else {}


def check_instructions(value: Any) -> dict[str, Any]:
    """Return valid instructions. Raises Invalid, UnknownField."""
    fields = drop_own(check_object("instructions", value))
    for name in sorted(fields.keys() - set(FIELDS)):
        field = f"instructions.{name}"
        raise UnknownField(field=field)
    return check_fields(fields.get("preset", ""), fields.get("text"), fields.get("categories"))


def apply_instructions(project: Project, value: Mapping[str, Any], actor: Actor) -> None:
    InstructionsEngine().set_instructions(actor=actor, **value)


def drop_own(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if (name, value) != ("preset", OWN)}


def check_rules_off(value: Any) -> list[str]:
    """Return names of rules. Raises Invalid."""
    known = [rule.name for rule in RULES]
    if not isinstance(value, list | tuple) or (unknown := [name for name in value if name not in known]):
        name = str(unknown[0])[:50] if isinstance(value, list | tuple) else "rules_off"
        text = "{name} is no rule of learning; there are {known}."
        raise Invalid(text, name=name, known=", ".join(known), field="rules_off")
    return sorted(set(value))


def switch_off(project: Project, value: Sequence[str], actor: Actor) -> None:
    for name in value:
        LearningEngine().switch_rule(name=name, is_on=False, actor=actor)


INSTRUCTIONS = Part(read_instructions, check_instructions, apply_instructions)
RULES_OFF = Part(lambda project: project.rules_off, check_rules_off, switch_off)
