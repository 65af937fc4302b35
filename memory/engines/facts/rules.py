"""What a fact may hold and how its status may change. Pure rules, no database."""

from collections.abc import Mapping
from typing import Any

from memory.db.fields import dumps
from memory.engines import cleaning as c
from memory.exceptions import IllegalTransition, Invalid, ReservedValue
from memory.models import Fact

TEXT_BYTES = 64 * 1024
ESSENCE = 200
S = Fact.Status

CHECKS: dict[str, c.Check] = {
    "fact_text": c.long_text(TEXT_BYTES),
    "essence": c.text(ESSENCE, least=1),
    "category": c.text(100, least=1),
    "kind": c.one_of(Fact.Kind.values),
    "priority": c.one_of(Fact.Priority.values),
    "confidence": c.number(0, 1),
    "parent_id": c.optional(c.identifier),
    "source_type": c.one_of(Fact.SourceType.values),
    "source_id": c.text(200),
    "source": c.text(200),
    "origin": c.one_of(Fact.Origin.values),
    "visibility": c.one_of(Fact.Visibility.values),
    "created_cycle": c.integer(0),
    "updated_cycle": c.integer(0),
    "valid_from": c.moment,
    "valid_until": c.moment,
    "expires_at": c.moment,
    "pinned": c.boolean,
    "tags": c.tags,
    "metadata": c.json_object(64 * 1024),
}
STATED: dict[str, c.Check] = {name: c.text(200) for name in ("session_id", "task_id", "agent_id")}
# What an update may set; where a fact came from and what it replaces is history.
UPDATABLE = {
    name: check
    for name, check in CHECKS.items()
    if name not in ("parent_id", "source_type", "origin", "created_cycle")
} | {"status": c.one_of(S.values)}

# What a fact takes over from the one that it replaces.
INHERITED = ("category", "kind", "priority", "tags", "visibility")
HASHES = ("content_hash", "norm_hash", "judged_hash")

MOVES: dict[str, frozenset[str]] = {
    S.CREATED: frozenset({S.ACTIVE, S.ARCHIVED}),
    S.ACTIVE: frozenset({S.DONE, S.SUPERSEDED, S.ARCHIVED}),
    S.DONE: frozenset({S.ARCHIVED}),
    S.SUPERSEDED: frozenset({S.ARCHIVED}),
    S.ARCHIVED: frozenset(),  # only back to the status held before
}


def inherited(old: Fact) -> dict[str, Any]:
    """What a fact in another's place takes over from it. A reflection replaced is one no more."""
    kept = {name: getattr(old, name) for name in INHERITED}
    if kept["kind"] == Fact.Kind.REFLECTION:
        del kept["kind"]
    return kept


def clean_new(values: Mapping[str, Any], *, reserved: bool = False) -> dict[str, Any]:
    """The fields of a new fact; with ``reserved`` also what only Day1 makes. Raises Invalid and its kin."""
    found = c.clean(values, CHECKS)
    if "fact_text" not in found:
        raise Invalid("{field} is needed.", field="fact_text")
    if not reserved:
        check_reserved(found)
    found.setdefault("essence", essence_of(found["fact_text"]))
    check_interval(found.get("valid_from"), found.get("valid_until"))
    check_cycles(
        found.get("created_cycle", 0), found.setdefault("updated_cycle", found.get("created_cycle", 0))
    )
    return found


def clean_update(values: Mapping[str, Any]) -> dict[str, Any]:
    found = c.clean(values, UPDATABLE)
    check_reserved(found)
    return found


def check_reserved(values: Mapping[str, Any]) -> None:
    """Reflections and dreams are made by Day1 alone."""
    for name, value in (("kind", Fact.Kind.REFLECTION), ("origin", Fact.Origin.DREAMING)):
        if values.get(name) == value:
            raise ReservedValue(field=name, value=value)


def check_interval(valid_from: Any, valid_until: Any) -> None:
    if valid_from and valid_until and valid_until <= valid_from:
        raise Invalid("valid_until must be later than valid_from.", field="valid_until")


def check_cycles(created: int, updated: int) -> None:
    if updated < created:
        raise Invalid("updated_cycle may not be before created_cycle.", field="updated_cycle")


def essence_of(text: str) -> str:
    """The line that goes into a prompt: the first sentence or line, at most 200 characters."""
    line = next((" ".join(part.split()) for part in text.splitlines() if part.strip()), "").strip()
    line = line or " ".join(text.split()) or text[:ESSENCE]
    if len(line) <= ESSENCE:
        return line
    cut = line[: ESSENCE - 1]
    end = max(cut.rfind(". "), cut.rfind("。"), cut.rfind("; "))
    if end >= ESSENCE // 2:
        return cut[: end + 1]
    words = cut.rsplit(" ", 1)[0]
    return (words if len(words) > ESSENCE // 2 else cut) + "…"


def check_move(fact: Fact, status: str) -> None:
    """Raises IllegalTransition unless the life cycle allows it."""
    allowed = MOVES[fact.status]
    if fact.status == S.ARCHIVED and status == (fact.held_status or S.ACTIVE):
        return
    if status not in allowed or (status == S.DONE and fact.kind != Fact.Kind.TASK):
        raise IllegalTransition(old=fact.status, new=status)


def check_done(status: str, kind: str) -> None:
    """Only a task can be done. Raises IllegalTransition."""
    if status == S.DONE and kind != Fact.Kind.TASK:
        raise IllegalTransition("Only a fact of the kind TASK can be done.")


def moved(fact: Fact, status: str) -> dict[str, str]:
    """The fields of a fact that goes to another status. Raises IllegalTransition."""
    check_move(fact, status)
    return {"status": status, "held_status": fact.status if status == S.ARCHIVED else ""}


def same(old: Any, new: Any) -> bool:
    """Equal for whoever reads it: in Python an object with 1 in it equals one with True."""
    return dumps(old) == dumps(new) if isinstance(new, dict) else bool(old == new)


def rewritten(fact: Fact, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a fact whose content changes, its hashes among them."""
    draft = Fact(**{**fact.content_values(), **wanted})
    draft.rehash()
    return {**wanted, **{name: getattr(draft, name) for name in HASHES}}
