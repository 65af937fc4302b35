"""Erasure: the one operation that takes content out of the history, for good and on every branch.

It is recorded first, with the ids of all that it covers; from then on merges and imports refuse those. The
rows are overwritten in short transactions, then the files of the database. What a crash interrupts, a sweep
finishes. docs/decisions/0022 has the reasons.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.engines.erasure import scopes
from memory.engines.erasure.authors import Author
from memory.engines.erasure.copies import StoreCopy, list_backups, list_copies, refuse_copies
from memory.engines.erasure.execution import build_proof, resume_erasure, run_erasure
from memory.engines.erasure.listing import begin_erasure, drop_erased, list_batches
from memory.engines.erasure.scopes import Targets
from memory.engines.fields.erasures import ERASURE_FILTERS
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.orders import ERASURES
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.blanking import load_versions
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import BranchedModel, Erasure, Fact, FactLink, Project
from memory.texts import cut_line, measure_text

MAX_MEMORIES = 50_000  # of one erasure
FILTERS = make_filter_checks(ERASURE_FILTERS)
State = Erasure.State
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


@dataclass(frozen=True)
class Verification:
    """What is left of an erasure: versions with content, and whether the digests still give the proof."""

    erasure: Erasure
    versions_left: int
    proof_holds: bool

    @property
    def holds(self) -> bool:
        return self.erasure.state == State.DONE and not self.versions_left and self.proof_holds


class ErasureEngine:
    def preview_erasure(self, *, actor: Actor, scope: str, target: str) -> ErasurePlan:
        """Return what an erasure would take, without writing anything.

        ``scope`` is fact, session, agent, actor, user, app or match; ``target`` the id, the name of a person
        or key, or the text that is looked for. Needs the scope admin on all branches. Raises Invalid,
        NotFound; Conflict for what was erased already.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, scopes.find_targets(actor.project_id, scope, target))
        return build_plan(actor.project_id, scope, target, found)

    def erase(
        self, *, actor: Actor, scope: str, target: str, confirm: str, drop_copies: bool = False
    ) -> Erasure:
        """Erase for good. ``confirm`` is the name that the preview asks for.

        The result is pending while something still holds a copy, and a sweep then finishes it. Raises as
        ``preview_erasure`` does; Invalid for another name; Conflict where copies of the store hold it and
        ``drop_copies`` is not set; TooLarge.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, scopes.find_targets(actor.project_id, scope, target))
        if confirm != confirm_name(actor.project_id, scope, target):
            raise Invalid("The name that was typed is another one: nothing was erased.", field="confirm")
        if sum(found.count_kinds().values()) > MAX_MEMORIES:
            raise TooLarge(what="The erasure", limit=f"{MAX_MEMORIES} memories")
        copies = list_copies(actor.project_id)
        refuse_copies(actor, copies, drop_copies)
        erasure = begin_erasure(actor, scope, target, found, copies)
        return run_erasure(erasure, actor)

    def list_erasures(
        self, *, actor: Actor, state: str = "", scope: str = "", **paging: Unpack[Sorting]
    ) -> Page[Erasure]:
        """List the project's erasures, newest first. Needs the scope admin."""
        actor.require_scope("admin")
        filters = c.validate({"state": state, "scope": scope}, FILTERS)
        rows = Erasure.objects.filter(project=actor.project_id)
        rows = rows.filter(**c.drop_empty(filters))
        return paginate(rows, ERASURES, **paging)

    def get_erasure(self, *, erasure_id: UUID, actor: Actor) -> Erasure:
        """Return an erasure. Needs the scope admin. Raises NotFound."""
        actor.require_scope("admin")
        found = Erasure.objects.filter(project=actor.project_id, pk=erasure_id).first()
        if found is None:
            raise NotFound()
        return found

    def verify_erasure(self, *, erasure_id: UUID, actor: Actor) -> Verification:
        """Check that every version of what was erased is still blank, and the proof. Raises NotFound."""
        erasure = self.get_erasure(erasure_id=erasure_id, actor=actor)
        left = sum(
            len(rows)
            for kind, uids in list_batches(erasure, blank=True)
            for rows in load_versions(erasure.project_id, kind, uids, written=True).values()
        )
        return Verification(erasure, left, erasure.proof == build_proof(erasure))

    def finish_pending(self) -> int:
        """Finish the erasures of all projects that were interrupted or had to wait; return how many."""
        pending = list(Erasure.objects.filter(state=State.PENDING).order_by("requested_at"))
        return sum(resume_erasure(erasure) for erasure in pending)


# ---- the preview -------------------------------------------------------------------------------------


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
    if scope in scopes.ORIGINS:
        return target
    return Project.objects.get(pk=project_id).slug


def list_examples(project_id: UUID, found: Targets) -> Iterator[Example]:
    for model in scopes.memory_models():
        uids = sorted(found.get_uids(scopes.kind_name(model)))[:EXAMPLES]
        for row in scopes.load_newest(project_id, model, uids):
            yield describe_row(row)


def describe_row(row: BranchedModel, why: str = "") -> Example:
    text = getattr(row, row.TEXT) if row.TEXT else str(row)
    return Example(scopes.kind_name(type(row)), row.uid, cut_line(text, MAX_LINE_LENGTH), why)


# ---- what stays ------------------------------------------------------------------------------------


def list_left(project_id: UUID, found: Targets) -> Iterator[Example]:
    """Yield memories that are not erased and were made from an erased one, are its source, or repeat it."""
    gone = found.list_uids()
    seen: set[UUID] = set()
    for model, condition, why in find_related(project_id, found):
        rows = scopes.project_rows(model, project_id).filter(condition)
        uids = sorted(scopes.select_uids(rows) - gone - seen)[:MAX_LEFT]
        seen |= set(uids)
        yield from (describe_row(row, why) for row in scopes.load_newest(project_id, model, uids))


def find_related(project_id: UUID, found: Targets) -> Iterator[tuple[type[BranchedModel], Q, str]]:
    facts = sorted(found.get_uids("fact"))
    links = scopes.project_rows(FactLink, project_id)
    yield (
        Fact,
        Q(uid__in=_ends(links.filter(to_id__in=sorted(found.list_uids())[:500]), "from_id")),
        "derived",
    )
    yield Fact, Q(parent_id__in=facts[:500]), "replaces"
    ends = _ends(links.filter(from_id__in=facts[:500]), "to_id")
    for model in scopes.memory_models():
        yield model, Q(uid__in=ends), "source"
    for text in list_texts(project_id, facts):
        for model in scopes.memory_models():
            yield model, scopes.contains_text(model, text), "repeats"


def list_texts(project_id: UUID, facts: Sequence[UUID]) -> list[str]:
    """Return the texts of some erased facts, to find who repeats them."""
    if len(facts) > MAX_TEXTS:
        return []
    rows = scopes.project_rows(Fact, project_id).filter(uid__in=facts).values_list("fact_text", flat=True)
    texts = {text.strip() for text in rows}
    return sorted(text for text in texts if measure_text(text) >= MIN_LISTED)[:MAX_TEXTS]


def _ends(links: QuerySet, column: str) -> list[Any]:
    return list(links.order_by().values_list(column, flat=True).distinct()[:500])
