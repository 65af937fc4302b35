"""What an erasure covers: the memories of a fact, a session, an agent, or those that contain a text."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Field, Q, QuerySet, TextField

from memory.db.fields import JSONTextField
from memory.engines.support import validation as c
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import erasable_models
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Invalid, NotFound
from memory.models import BranchedModel, Erasure, Fact, FactLink, Observation, Session

BATCH_SIZE = 500
MIN_MATCH, MAX_MATCH = 4, 1000  # characters
LEARNED = (Fact.SourceType.EXTRACTION, Fact.SourceType.CONSOLIDATION, Fact.SourceType.OBSERVATION)
Scope = Erasure.Scope


@dataclass
class Targets:
    """Memories to erase, by kind, and the keys of sessions. ``match`` is a text that is searched for."""

    memories: dict[str, set[UUID]] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    match: str = ""

    def add_memories(self, kind: str, uids: Iterable[UUID]) -> None:
        if new := set(uids):
            self.memories[kind] = self.memories.get(kind, set()) | new

    def get_uids(self, kind: str) -> set[UUID]:
        return self.memories.get(kind, set())

    def list_uids(self) -> set[UUID]:
        return set().union(*self.memories.values())

    def count_kinds(self) -> dict[str, int]:
        counts = {kind: len(uids) for kind, uids in sorted(self.memories.items()) if uids}
        return counts | ({"session": len(self.sessions)} if self.sessions else {})


def find_targets(project_id: UUID, scope: str, target: str) -> Targets:
    """Return what is to be erased. Raises Invalid, NotFound."""
    scope = c.one_of(Scope.values)("scope", scope)
    finder = {
        Scope.FACT: find_fact,
        Scope.SESSION: find_session,
        Scope.AGENT: find_agent,
        Scope.MATCH: find_text,
    }
    found = finder[Scope(scope)](project_id, target)
    if not found.memories and not found.sessions:
        raise NotFound()
    add_learned(project_id, found)
    return found


# ---- the four scopes -------------------------------------------------------------------------------


def find_fact(project_id: UUID, target: str) -> Targets:
    found = Targets()
    if uid := as_uuid(target):
        found.add_memories("fact", select_uids(project_rows(Fact, project_id).filter(uid=uid)))
    return found


def find_session(project_id: UUID, target: str) -> Targets:
    sessions = Session.objects.filter(project=project_id, key=target)
    return find_origin(project_id, Q(session_id=target), {key for (key,) in sessions.values_list("key")})


def find_agent(project_id: UUID, target: str) -> Targets:
    sessions = Session.objects.filter(project=project_id, agent_id=target)
    return find_origin(project_id, Q(agent_id=target), {key for (key,) in sessions.values_list("key")})


def find_origin(project_id: UUID, origin: Q, sessions: set[str]) -> Targets:
    """Return what was written under an origin, and the rest of its conversations."""
    found = Targets(sessions=sessions)
    for model in memory_models():
        found.add_memories(kind_name(model), select_uids(project_rows(model, project_id).filter(origin)))
    for model in memory_models():
        for column, kind in model.OWNERS.items():
            for batch in batched(sorted(found.get_uids(kind)), BATCH_SIZE):
                parts = project_rows(model, project_id).filter(**{f"{column}__in": batch})
                found.add_memories(kind_name(model), select_uids(parts))
    return found


def find_text(project_id: UUID, target: str) -> Targets:
    if not MIN_MATCH <= len(target.strip()) <= MAX_MATCH:
        raise Invalid(
            "A text to look for has {least} to {most} characters.",
            least=MIN_MATCH,
            most=MAX_MATCH,
            field="target",
        )
    found = Targets(match=target.strip())
    for model in memory_models():
        rows = project_rows(model, project_id).filter(contains_text(model, found.match))
        found.add_memories(kind_name(model), select_uids(rows))
    return found


def contains_text(model: Any, text: str) -> Q:
    """Return the condition for rows with the text in one of the columns that an erasure blanks."""
    return reduce(or_, (_contains(column, text) for column in text_columns(model)))


def _contains(column: Field, text: str) -> Q:
    if isinstance(column, JSONTextField):  # quotes and line ends are escaped in it
        text = json.dumps(text, ensure_ascii=False)[1:-1]
    return Q(**{f"{column.attname}__icontains": text})


def text_columns(model: type[BranchedModel]) -> list[Field]:
    """Return the columns with texts that an erasure blanks, without those with a choice of values."""
    blanked = model.blank_values()
    columns: list[Field] = [column for column in model._meta.concrete_fields if column.attname in blanked]
    return [
        c
        for c in columns
        if isinstance(c, TextField) or (c.get_internal_type() == "CharField" and not c.choices)
    ]


# ---- what belongs to it ----------------------------------------------------------------------------


def add_learned(project_id: UUID, found: Targets) -> None:
    """Add what Day1 itself learned from erased messages and observations, and their other halves."""
    sources = found.get_uids("message") | found.get_uids("observation")
    for batch in batched(sorted(found.get_uids("message")), BATCH_SIZE):
        halves = project_rows(Observation, project_id).filter(message_id__in=batch)
        found.add_memories("observation", select_uids(halves))
    for batch in batched(sorted(found.get_uids("observation")), BATCH_SIZE):
        halves = project_rows(Observation, project_id).filter(uid__in=batch).exclude(message_id=None)
        found.add_memories("message", set(halves.values_list("message_id", flat=True)))
    for batch in batched(sorted(sources), BATCH_SIZE):
        links = project_rows(FactLink, project_id).filter(to_id__in=batch).exclude(to_type="fact")
        facts = project_rows(Fact, project_id).filter(uid__in=list(links.values_list("from_id", flat=True)))
        found.add_memories("fact", select_uids(facts.filter(source_type__in=LEARNED)))


def memory_models() -> list[type[BranchedModel]]:
    """Return the models of memories: those with content whose uid is their own."""
    return [model for model in erasable_models() if "uid" not in model.OWNERS]


def kind_name(model: type[BranchedModel]) -> str:
    return str(model._meta.model_name)


def project_rows(model: type[BranchedModel], project_id: UUID) -> QuerySet:
    """Return every version of every branch of a project."""
    return model._base_manager.filter(branch__project=project_id)


def select_uids(rows: QuerySet) -> set[UUID]:
    return set(rows.order_by().values_list("uid", flat=True).distinct())


def load_newest(project_id: UUID, model: type[BranchedModel], uids: Sequence[UUID]) -> list[BranchedModel]:
    """Return the newest version of each memory, on whatever branch."""
    rows = project_rows(model, project_id).filter(uid__in=uids).order_by("rid")
    return list({row.uid: row for row in rows}.values())
