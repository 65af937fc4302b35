"""The preview of an erasure: what it would take, what would be left, and where copies are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.engines.erasure.authors import Author
from memory.engines.erasure.copies import StoreCopy, list_backups, list_copies
from memory.engines.erasure.scopes import (
    Targets,
    contains_text,
    kind_name,
    load_newest,
    memory_models,
    project_rows,
    select_uids,
)
from memory.models import BranchedModel, Erasure, Fact, FactLink, Project
from memory.texts import measure_text

EXAMPLES = 5  # of each kind
MAX_LINE_LENGTH = 120
MAX_LEFT = 20  # memories listed that repeat an erased text
MIN_LISTED = 8  # letters of a text that is looked for in memories: to list one that is none harms nobody
MAX_TEXTS = 20  # erased facts whose texts are looked for elsewhere


@dataclass(frozen=True)
class Example:
    """A memory, with the beginning of its text. ``why`` says how it relates to the erased ones."""

    kind: str
    id: UUID
    line: str
    why: str = ""


class Identity(NamedTuple):
    """Who acted: the kind and the id tell each apart, names may be those of several."""

    kind: str
    id: str
    label: str


@dataclass(frozen=True)
class ErasurePlan:
    """What an erasure would do. ``confirm`` is the name to type; ``left`` lists what repeats an erased text
    or comes from it, and stays.
    """

    scope: str
    target: str
    actors: Sequence[Identity]  # kind, id and name of the people, keys or local users that it is about
    confirm: str
    counts: Mapping[str, int]
    examples: Sequence[Example]
    left: Sequence[Example]
    copies: Sequence[StoreCopy]
    backups: Sequence[StoreCopy]


def build_plan(project_id: UUID, scope: str, target: str, found: Targets) -> ErasurePlan:
    return ErasurePlan(
        scope=scope,
        target=target,
        actors=list_actors(project_id, scope, target),
        confirm=confirm_name(project_id, scope, target),
        counts=found.count_kinds(),
        examples=list(list_examples(project_id, found)),
        left=list(list_left(project_id, found))[:MAX_LEFT],
        copies=list_copies(project_id),
        backups=list_backups(),
    )


def list_actors(project_id: UUID, scope: str, target: str) -> list[Identity]:
    if scope != Erasure.Scope.ACTOR:
        return []
    return [Identity(*one) for one in Author(project_id, scope, target).list_identities()]


def confirm_name(project_id: UUID, scope: str, target: str) -> str:
    """Return what has to be typed: the name of the session, agent or person, else that of the project."""
    if scope in (Erasure.Scope.SESSION, Erasure.Scope.AGENT, Erasure.Scope.ACTOR):
        return target
    return Project.objects.get(pk=project_id).slug


def list_examples(project_id: UUID, found: Targets) -> Iterator[Example]:
    for model in memory_models():
        uids = sorted(found.get_uids(kind_name(model)))[:EXAMPLES]
        for row in load_newest(project_id, model, uids):
            yield describe_row(row)


def describe_row(row: BranchedModel, why: str = "") -> Example:
    text = getattr(row, row.TEXT) if row.TEXT else str(row)
    line = " ".join(text[: 4 * MAX_LINE_LENGTH].split())
    cut = line if len(line) <= MAX_LINE_LENGTH else line[: MAX_LINE_LENGTH - 1] + "…"
    return Example(kind_name(type(row)), row.uid, cut, why)


# ---- what stays ------------------------------------------------------------------------------------


def list_left(project_id: UUID, found: Targets) -> Iterator[Example]:
    """Yield memories that are not erased and were made from an erased one, are its source, or repeat it."""
    gone = found.list_uids()
    seen: set[UUID] = set()
    for model, condition, why in find_related(project_id, found):
        rows = project_rows(model, project_id).filter(condition)
        uids = sorted(select_uids(rows) - gone - seen)[:MAX_LEFT]
        seen |= set(uids)
        yield from (describe_row(row, why) for row in load_newest(project_id, model, uids))


def find_related(project_id: UUID, found: Targets) -> Iterator[tuple[type[BranchedModel], Q, str]]:
    facts = sorted(found.get_uids("fact"))
    links = project_rows(FactLink, project_id)
    yield (
        Fact,
        Q(uid__in=_ends(links.filter(to_id__in=sorted(found.list_uids())[:500]), "from_id")),
        "derived",
    )
    yield Fact, Q(parent_id__in=facts[:500]), "replaces"
    ends = _ends(links.filter(from_id__in=facts[:500]), "to_id")
    for model in memory_models():
        yield model, Q(uid__in=ends), "source"
    for text in list_texts(project_id, facts):
        for model in memory_models():
            yield model, contains_text(model, text), "repeats"


def list_texts(project_id: UUID, facts: Sequence[UUID]) -> list[str]:
    """Return the texts of some erased facts, to find who repeats them."""
    if len(facts) > MAX_TEXTS:
        return []
    rows = project_rows(Fact, project_id).filter(uid__in=facts).values_list("fact_text", flat=True)
    texts = {text.strip() for text in rows}
    return sorted(text for text in texts if measure_text(text) >= MIN_LISTED)[:MAX_TEXTS]


def _ends(links: QuerySet, column: str) -> list[Any]:
    return list(links.order_by().values_list(column, flat=True).distinct()[:500])
