"""Rules of facts: fields, limits and status transitions. No database access."""

from collections.abc import Collection, Mapping
from typing import Any

from memory.db.fields import dumps
from memory.engines.fields.base import Use
from memory.engines.fields.facts import ESSENCE_LENGTH, FACT
from memory.engines.fields.types import Choice
from memory.engines.support import validation as c
from memory.exceptions import IllegalTransition, Invalid, ReservedValue
from memory.models import Fact

Status = Fact.Status
CHECKS = FACT.field_checks(Use.CREATE)
# Fields that an update may set; the origin of a fact and what it replaces are history.
UPDATE_CHECKS = FACT.field_checks(Use.UPDATE)
RESERVED = {f.name: f.type.reserved for f in FACT if isinstance(f.type, Choice) and f.type.reserved}

# Fields that a fact inherits from the one that it replaces.
INHERITED = FACT.field_names(Use.INHERIT)
HASHES = ("content_hash", "norm_hash", "judged_hash")

STATUS_CHANGES: dict[str, frozenset[str]] = {
    Status.CREATED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
    Status.ACTIVE: frozenset({Status.DONE, Status.SUPERSEDED, Status.ARCHIVED}),
    Status.DONE: frozenset({Status.ARCHIVED}),
    Status.SUPERSEDED: frozenset({Status.ARCHIVED}),
    Status.ARCHIVED: frozenset(),  # only back to the former status
}


def inherit_fields(old: Fact) -> dict[str, Any]:
    """Return the fields inherited from a superseded fact. The kind REFLECTION is not inherited."""
    kept = {name: getattr(old, name) for name in INHERITED}
    if kept["kind"] == Fact.Kind.REFLECTION:
        del kept["kind"]
    return kept


def clean_new(
    values: Mapping[str, Any], *, reserved: bool = False, checked: Collection[str] = ()
) -> dict[str, Any]:
    """Validate the fields of a new fact; ``reserved`` allows reserved values, ``checked`` are fields that the
    caller has. Raises Invalid and its subclasses.
    """
    found = c.validate(values, CHECKS)
    if "fact_text" not in {*found, *checked}:
        raise Invalid("{field} is needed.", field="fact_text")
    if not reserved:
        check_reserved(found)
    if "essence" not in checked:
        found.setdefault("essence", compute_essence(found["fact_text"]))
    check_interval(found.get("valid_from"), found.get("valid_until"))
    check_cycles(
        found.get("created_cycle", 0), found.setdefault("updated_cycle", found.get("created_cycle", 0))
    )
    return found


def clean_update(values: Mapping[str, Any]) -> dict[str, Any]:
    found = c.validate(values, UPDATE_CHECKS)
    check_reserved(found)
    return found


def check_reserved(values: Mapping[str, Any]) -> None:
    """Refuse reserved values: only Day1 itself makes reflections and dreams."""
    for name, reserved in RESERVED.items():
        if (value := values.get(name)) in reserved:
            raise ReservedValue(field=name, value=value)


def check_interval(valid_from: Any, valid_until: Any) -> None:
    if valid_from and valid_until and valid_until <= valid_from:
        raise Invalid("valid_until must be later than valid_from.", field="valid_until")


def check_cycles(created: int, updated: int) -> None:
    if updated < created:
        raise Invalid("updated_cycle may not be before created_cycle.", field="updated_cycle")


def compute_essence(text: str) -> str:
    """Return the line for prompts: the first sentence or line, at most 200 characters."""
    line = next((" ".join(part.split()) for part in text.splitlines() if part.strip()), "").strip()
    line = line or " ".join(text.split()) or text[:ESSENCE_LENGTH]
    if len(line) <= ESSENCE_LENGTH:
        return line
    cut = line[: ESSENCE_LENGTH - 1]
    end = max(cut.rfind(". "), cut.rfind("。"), cut.rfind("; "))
    if end >= ESSENCE_LENGTH // 2:
        return cut[: end + 1]
    words = cut.rsplit(" ", 1)[0]
    return (words if len(words) > ESSENCE_LENGTH // 2 else cut) + "…"


def check_move(fact: Fact, status: str) -> None:
    """Raise IllegalTransition unless the life cycle allows the move."""
    allowed = STATUS_CHANGES[fact.status]
    if fact.status == Status.ARCHIVED and status == (fact.held_status or Status.ACTIVE):
        return
    if status not in allowed or (status == Status.DONE and fact.kind != Fact.Kind.TASK):
        raise IllegalTransition(old=fact.status, new=status)


def check_done(status: str, kind: str) -> None:
    """Raise IllegalTransition for a fact that is done and no task."""
    if status == Status.DONE and kind != Fact.Kind.TASK:
        raise IllegalTransition("Only a fact of the kind TASK can be done.")


def change_status(fact: Fact, status: str) -> dict[str, str]:
    """Return the fields of a fact that moves to another status. Raises IllegalTransition."""
    check_move(fact, status)
    return {"status": status, "held_status": fact.status if status == Status.ARCHIVED else ""}


def is_same(old: Any, new: Any) -> bool:
    """Return whether two values are equal as JSON, in which 1 is not true, wherever it stands."""
    if old is new or old != new:
        return old is new
    if isinstance(new, tuple):
        return all(map(is_same, old, new))
    if isinstance(new, dict | list):
        return not new or dumps(old) == dumps(new)
    return isinstance(old, bool) == isinstance(new, bool)


def rewrite_fields(fact: Fact, requested: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed fields of a fact, with its new hashes."""
    draft = Fact(**{**fact.content_values(), **requested})
    draft.compute_hashes()
    return {**requested, **{name: getattr(draft, name) for name in HASHES}}
