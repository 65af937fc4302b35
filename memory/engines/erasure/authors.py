"""Who wrote what: an agent by the id of its rows, a person or key by the name that the history shows.

A person has no agent id. The commits say who made a version: where they name no agent, the person, key or
local user that they show is the author, as on the pages. Names may be those of several, ids are not: an
author is named as ``user:7``, ``key:0197…`` or ``local:``, or by a name that is of one kind alone.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from memory.actors import IDENTITY
from memory.engines.support.batches import batched
from memory.engines.versions.commits import MERGE
from memory.models import BranchedModel, Commit, Erasure, Fact, FactAssessment, FactLink
from memory.models.facts import build_copy_uid
from memory.models.hashes import content_hash

BATCH_SIZE = 500
READ_SIZE = 20  # versions that the database hands over at once: a message may have a mebibyte
SYSTEM = "system"  # background work, which is nobody's
Scope = Erasure.Scope
Word = tuple[str, str]  # a column and the hash of what stands in it


@dataclass(frozen=True)
class Author:
    """An agent or person whose words are erased; ``until`` leaves out what came after the request."""

    project_id: UUID
    scope: str
    name: str
    until: datetime | None = None

    @property
    def agent_id(self) -> str:
        """Return the agent of that name; "" where a person, key or local user is named by its id."""
        return "" if self.scope == Scope.ACTOR and IDENTITY.fullmatch(self.name) else self.name

    def find_commits(self) -> QuerySet[Commit]:
        """Return the commits that show this author."""
        named = self.by_name() if self.scope == Scope.ACTOR else Q(agent_id=self.name)
        if self.agent_id:
            named |= Q(agent_id=self.agent_id)
        return self._limit(Commit.objects.filter(named, branch__project=self.project_id))

    def iterate_verdicts(self) -> Iterator[QuerySet[FactAssessment]]:
        """Yield the verdicts with a reason that this person gave, and their copies on other branches."""
        if self.scope != Scope.ACTOR:
            return
        rows = FactAssessment._base_manager.filter(branch__project=self.project_id)
        commits = Commit.objects.filter(
            self.by_actor(), branch=OuterRef("branch"), seq=OuterRef("seq_from"), actor_label=OuterRef("by")
        )
        own = list(rows.filter(Exists(commits), rid=F("vid")).values_list("vid", flat=True))
        for batch in batched(own, BATCH_SIZE):
            yield self._limit(rows.filter(vid__in=batch)).exclude(reason="")

    def find_memories(self, model: type[BranchedModel]) -> set[UUID]:
        """Return the memories that this person wrote first, or into which this person wrote words."""
        found: set[UUID] = set()
        for (branch, merged), seqs in self._group_points().items():
            find = find_edited if merged else find_worded
            for batch in batched(sorted(seqs), BATCH_SIZE):
                rows = project_versions(model, self.project_id).filter(branch=branch, seq_from__in=batch)
                # Copies of others' versions, which merges and restores make, keep their vid.
                found |= find(model, self.project_id, rows.filter(rid=F("vid"), deleted=False))
        while model is Fact and (new := find_merged(self.project_id, found) - found):
            found |= new
        return found

    def _group_points(self) -> dict[tuple[int, bool], list[int]]:
        """Return the seqs of this person's commits by branch, those of merges by themselves."""
        commits = self._limit(Commit.objects.filter(self.by_name(), branch__project=self.project_id))
        points: dict[tuple[int, bool], list[int]] = {}
        found = commits.order_by().values_list("branch_id", "seq", "kind")
        for branch, seq, kind in found.iterator(BATCH_SIZE):
            points.setdefault((branch, kind == MERGE), []).append(seq)
        return points

    def by_name(self) -> Q:
        return self.by_actor() & Q(agent_id="")

    def by_actor(self) -> Q:
        """Return the condition for commits of this person, key or local user, whatever agent they name."""
        if identity := IDENTITY.fullmatch(self.name):
            return Q(actor_kind=identity[1], actor_id=identity[2])
        return Q(actor_label=self.name) & ~Q(actor_kind=SYSTEM)

    def is_maker(self, kind: str, actor_id: str, label: str) -> bool:
        """Return whether this is the person, key or local user that made a row."""
        if identity := IDENTITY.fullmatch(self.name):
            return (kind, actor_id) == identity.groups()
        return label == self.name and kind != SYSTEM

    def list_identities(self) -> list[tuple[str, str, str]]:
        """Return kind, id and name of all whom the history has under this name, without agents."""
        rows = Commit.objects.filter(self.by_name(), branch__project=self.project_id).order_by()
        found = rows.values_list("actor_kind", "actor_id", "actor_label").distinct()
        return sorted(found, key=lambda one: one[:2])

    def _limit(self, rows: QuerySet) -> Any:
        return rows.filter(at__lte=self.until) if self.until else rows


def project_versions(model: type[BranchedModel], project_id: UUID) -> QuerySet:
    return model._base_manager.filter(branch__project=project_id).order_by()


# ---- words of a version ----------------------------------------------------------------------------


def find_worded(model: type[BranchedModel], project_id: UUID, own: QuerySet) -> set[UUID]:
    """Return the memories to which some versions gave words that no earlier version has, on any branch.

    Who reverts or combines versions brings back words of others.
    """
    made = dict(own.values_list("rid", "uid"))
    found: set[UUID] = set()
    for batch in batched(sorted(set(made.values())), BATCH_SIZE):
        found |= {uid for rid, uid in list_worded(model, project_id, batch) if rid in made}
    return found


def list_worded(
    model: type[BranchedModel], project_id: UUID, uids: Sequence[UUID]
) -> Iterator[tuple[int, UUID]]:
    """Yield the versions with words that no earlier one of the same memory has, tombstones included."""
    names = [name for name in model.QUOTED if name != model.TEXT] + sorted(model.KIND.mappings)
    columns = ["rid", "uid", *names, *(["content_hash"] if model.TEXT else [])]
    rows = project_versions(model, project_id).filter(uid__in=uids).order_by("rid")
    known: dict[UUID, set[Word]] = {}
    for row in rows.values(*columns).iterator(READ_SIZE):
        words = {word for name in columns[1:] for word in list_words(name, row[name])}
        if not words <= known.setdefault(row["uid"], set()):
            yield row["rid"], row["uid"]
        known[row["uid"]] |= words


def list_words(name: str, value: Any) -> Iterator[Word]:
    """Yield what stands in a column, by its hash: a text as a whole, a mapping by its keys."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield name, content_hash(json.dumps([key, one], sort_keys=True))
    elif value:
        yield name, content_hash(str(value))


# ---- words of a merge ------------------------------------------------------------------------------


def find_edited(model: type[BranchedModel], project_id: UUID, own: QuerySet) -> set[UUID]:
    """Return the facts whose text was written in a merge, to settle a conflict; nothing else is.

    A text that any fact of the project has from before was copied, and that of a squash is made of others.
    """
    if model is not Fact:
        return set()
    own = own.exclude(source_type=Fact.SourceType.MERGE, prev_vid=None)
    rows = list(own.values_list("rid", "uid", "norm_hash"))
    first: dict[str, int] = {}
    for batch in batched(sorted({text for _, _, text in rows}), BATCH_SIZE):
        known = project_versions(Fact, project_id).filter(norm_hash__in=batch)
        for rid, text in known.values_list("rid", "norm_hash"):
            first[text] = min(rid, first.get(text, rid))
    return {uid for rid, uid, text in rows if first[text] == rid}


def find_merged(project_id: UUID, uids: Iterable[UUID]) -> set[UUID]:
    """Return the facts that merges made of some facts: copies beside them, and what squashes them."""
    facts, links = project_versions(Fact, project_id), project_versions(FactLink, project_id)
    found: set[UUID] = set()
    for batch in batched(sorted(uids), BATCH_SIZE):
        copies = {build_copy_uid(*pair) for pair in facts.filter(uid__in=batch).values_list("uid", "vid")}
        for part in batched(sorted(copies), BATCH_SIZE):
            found |= set(facts.filter(uid__in=part).values_list("uid", flat=True))
        joined = links.filter(to_id__in=batch, link_type=FactLink.Type.CONSOLIDATED_FROM)
        squashed = facts.filter(uid__in=list(joined.values_list("from_id", flat=True)))
        found |= set(squashed.filter(source_type=Fact.SourceType.MERGE).values_list("uid", flat=True))
    return found
