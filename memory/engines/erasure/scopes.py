"""What an erasure covers: the memories of a fact, a session, an agent, a person, an end user or a text."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Field, Q, QuerySet, TextField
from django.utils.translation import gettext_noop as _

from memory.db.fields import JSONTextField
from memory.engines.erasure.authors import Author
from memory.engines.support import validation as c
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import erasable_models
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Invalid, NotFound
from memory.extensions import load_extensions
from memory.models import BranchedModel, Erasure, Fact, FactLink, Observation, Session
from memory.models.facts import SUMMARY_PREFIX

BATCH_SIZE = 500
MIN_MATCH, MAX_MATCH = 4, 1000  # characters
LEARNED = (Fact.SourceType.EXTRACTION, Fact.SourceType.CONSOLIDATION, Fact.SourceType.OBSERVATION)
Scope = Erasure.Scope
KINDS = {"user": _("person"), "key": _("API key"), "local": _("command line")}
SEVERAL = _("Several go by the name {name}, so that nothing is erased: name one of {names}.")
# Scopes of an origin -> the column that names it.
ORIGINS: dict[str, str] = {
    Scope.SESSION: "session_id",
    Scope.AGENT: "agent_id",
    Scope.ACTOR: "agent_id",
    Scope.USER: "user_id",
    Scope.APP: "app_id",
}


@dataclass
class Targets:
    """Memories to erase, by kind, and the keys of sessions. ``match`` is a text that is searched for."""

    memories: dict[str, set[UUID]] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    match: str = ""
    author: Author | None = None  # whose words beside memories go too

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


DerivedFinder = Callable[[UUID, Targets], None]  # adds what another app derived from the memories so far


def find_targets(project_id: UUID, scope: str, target: str) -> Targets:
    """Return what is to be erased. Raises Invalid, NotFound."""
    scope = c.one_of(Scope.values)("scope", scope)
    finder = {
        Scope.FACT: find_fact,
        Scope.ACTOR: find_actor,
        Scope.MATCH: find_text,
        Scope.MEMORY: find_memory,
    }
    find = finder.get(Scope(scope)) or partial(find_written, scope=scope)
    if not target and scope != Scope.MATCH:  # it would be everything that names no session, agent or person
        raise NotFound()
    found = find(project_id, target=target)
    if not found.memories and not found.sessions:
        raise NotFound()
    add_learned(project_id, found)
    return found


# ---- the scopes ------------------------------------------------------------------------------------


def find_fact(project_id: UUID, target: str) -> Targets:
    found = Targets()
    if uid := as_uuid(target):
        found.add_memories("fact", select_uids(project_rows(Fact, project_id).filter(uid=uid)))
    return found


def find_memory(project_id: UUID, target: str) -> Targets:
    """Return the memory of any kind that has this id, and its parts."""
    found = Targets()
    if uid := as_uuid(target):
        for model in memory_models():
            found.add_memories(kind_name(model), select_uids(project_rows(model, project_id).filter(uid=uid)))
        add_parts(project_id, found)
    return found


def find_actor(project_id: UUID, target: str) -> Targets:
    """Return what an agent of this id wrote, and what a person or key of this name wrote without one."""
    author = Author(project_id, Scope.ACTOR, target)
    require_known(author)
    found = find_written(project_id, Scope.ACTOR, target)
    add_authored(found, author)
    return found


def require_known(author: Author) -> None:
    """Refuse a name under which the history has a person and a key, or the command line. Raises Invalid."""
    identities = author.list_identities()
    people = {(kind, actor_id if kind == "user" else "") for kind, actor_id, _label in identities}
    if len(people) > 1:
        names = ", ".join(
            f"{kind}:{actor_id} ({KINDS[kind]} {label})" for kind, actor_id, label in identities
        )
        raise Invalid(SEVERAL, name=author.name, names=names, field="target")


def find_written(project_id: UUID, scope: str, target: str) -> Targets:
    found = Targets(sessions=find_sessions(project_id, scope, target))
    if scope == Scope.ACTOR and not Author(project_id, scope, target).agent_id:
        return found
    add_origin(project_id, found, {ORIGINS[scope]: target})
    return found


def find_sessions(project_id: UUID, scope: str, target: str) -> set[str]:
    """Return the sessions that a scope covers as a whole."""
    columns = {**ORIGINS, Scope.SESSION: "key"}
    if scope not in columns or (scope == Scope.ACTOR and not Author(project_id, scope, target).agent_id):
        return set()
    sessions = Session.objects.filter(project=project_id, **{columns[scope]: target})
    return set(sessions.values_list("key", flat=True))


def find_late(erasure: Erasure, listed: Targets) -> Targets:
    """Return what an erasure covers of its closed sessions, what its person wrote before the request, and
    what was learned from listed memories.
    """
    project_id, found = erasure.project_id, Targets({kind: {*uids} for kind, uids in listed.memories.items()})
    for batch in batched(sorted(listed.sessions), BATCH_SIZE):
        add_origin(project_id, found, {ORIGINS[erasure.scope]: erasure.target, "session_id__in": batch})
    if erasure.scope == Scope.MEMORY:  # messages that came into a conversation
        add_parts(project_id, found)
    if listed.author and erasure.scope == Scope.ACTOR:
        add_authored(found, listed.author)
    add_learned(project_id, found)
    return found


def add_origin(project_id: UUID, found: Targets, origin: dict[str, Any]) -> None:
    """Add what was written under an origin, and the rest of its conversations."""
    named = {name.partition("__")[0] for name in origin}
    for model in (one for one in memory_models() if all(hasattr(one, name) for name in named)):
        found.add_memories(kind_name(model), select_uids(project_rows(model, project_id).filter(**origin)))
    add_parts(project_id, found)


def add_authored(found: Targets, author: Author) -> None:
    """Add what a person wrote, and the rest of its conversations."""
    for model in memory_models():
        found.add_memories(kind_name(model), author.find_memories(model))
    add_parts(author.project_id, found)


def add_parts(project_id: UUID, found: Targets) -> None:
    for model in memory_models():
        for column, kind in model.OWNERS.items():
            for batch in batched(sorted(found.get_uids(kind)), BATCH_SIZE):
                parts = project_rows(model, project_id).filter(**{f"{column}__in": batch})
                found.add_memories(kind_name(model), select_uids(parts))


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
    for batch in batched(sorted(found.get_uids("observation")), BATCH_SIZE):
        halves = project_rows(Observation, project_id).filter(uid__in=batch).exclude(message_id=None)
        found.add_memories("message", set(halves.values_list("message_id", flat=True)))
    for batch in batched(sorted(found.get_uids("message")), BATCH_SIZE):
        halves = project_rows(Observation, project_id).filter(message_id__in=batch)
        found.add_memories("observation", select_uids(halves))
    finders: Iterable[DerivedFinder] = load_extensions("derived_memories").values()
    for finder in finders:
        finder(project_id, found)
    add_copies(project_id, found)
    sources = found.get_uids("message") | found.get_uids("observation")
    for batch in batched(sorted(sources), BATCH_SIZE):
        links = project_rows(FactLink, project_id).filter(to_id__in=batch).exclude(to_type="fact")
        facts = project_rows(Fact, project_id).filter(uid__in=list(links.values_list("from_id", flat=True)))
        found.add_memories("fact", select_uids(facts.filter(source_type__in=LEARNED)))
    add_digests(project_id, found)


def add_digests(project_id: UUID, found: Targets) -> None:
    """Add the reflections and the summaries of agents that have excerpts of erased facts.

    Of what else the server learned, such a link says only that it took the place of a fact.
    """
    quoting = Q(kind=Fact.Kind.REFLECTION) | Q(source_id__startswith=SUMMARY_PREFIX)
    for batch in batched(sorted(found.get_uids("fact")), BATCH_SIZE):
        links = project_rows(FactLink, project_id).filter(
            to_id__in=batch, link_type=FactLink.Type.CONSOLIDATED_FROM
        )
        facts = project_rows(Fact, project_id).filter(uid__in=list(links.values_list("from_id", flat=True)))
        found.add_memories("fact", select_uids(facts.filter(quoting)))


def add_copies(project_id: UUID, found: Targets) -> None:
    """Add the copies of erased memories, and copies of copies."""
    for model in memory_models():
        fresh = found.get_uids(kind_name(model)) if model.COPIED_FROM else set[UUID]()
        while fresh:
            copies = set[UUID]()
            for batch in batched(sorted(fresh), BATCH_SIZE):
                rows = project_rows(model, project_id).filter(**{f"{model.COPIED_FROM}__in": batch})
                copies |= select_uids(rows)
            fresh = copies - found.get_uids(kind_name(model))
            found.add_memories(kind_name(model), fresh)


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
