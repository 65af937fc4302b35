"""Reflections: the one fact that stands for a group, built without the database."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from curation.engines.dreaming.rules import BOUNDS, REFLECTED
from curation.engines.dreaming.source import Cluster
from memory.engines.fields.facts import ESSENCE_LENGTH
from memory.models import Branch, Fact, FactLink
from memory.models.end_users import OF_NOBODY, get_owner
from memory.models.hashes import content_hash
from memory.texts import cut_line

MAX_EXCERPTS = 8
MAX_EXCERPT = 160  # characters
WIDTHS = (Fact.Visibility.PRIVATE, Fact.Visibility.SELECTIVE, Fact.Visibility.PUBLIC)
NAMESPACE = UUID("6f1c1f0e-6f0b-5d2e-9a53-3f0b9f4d43d0")


@dataclass(frozen=True)
class Reflection:
    """A reflection to write, with its group and the older one whose place it takes."""

    uid: UUID
    cluster: Cluster
    essence: str
    replaces: UUID | None = None
    is_models: bool = False

    @property
    def members(self) -> Sequence[Fact]:
        return self.cluster.members

    def build_fields(self) -> dict[str, Any]:
        """Return the content of the fact."""
        first = self.members[0]
        return {
            "fact_text": describe_members(self.essence, self.members),
            "essence": self.essence,
            "category": choose_category(self.members),
            "confidence": min(fact.confidence for fact in self.members),
            "visibility": min((fact.visibility for fact in self.members), key=WIDTHS.index),
            **REFLECTED,
            **{name: getattr(first, name) for name in BOUNDS if name not in OF_NOBODY},
            **get_owner(first).list_columns(),
        }

    def build_links(self, known: Iterable[tuple[UUID, UUID]]) -> list[FactLink]:
        """Return the links to the members, and of each member to the one that weighs most."""
        first, *others = self.members
        cosines = np.clip(self.cluster.weights, 0, 1).tolist()
        links = [
            FactLink(
                from_id=self.uid, to_id=fact.uid, link_type=FactLink.Type.CONSOLIDATED_FROM, weight=weight
            )
            for fact, weight in zip(self.members, cosines, strict=True)
        ]
        pairs = {frozenset(pair) for pair in known}
        links += [
            FactLink(from_id=fact.uid, to_id=first.uid, link_type=FactLink.Type.ASSOCIATED)
            for fact in others
            if frozenset((fact.uid, first.uid)) not in pairs
        ]
        return links


def build_reflection(branch: Branch, cluster: Cluster) -> Reflection:
    """Return the reflection of a group; its id derives from the target, the members and what they say."""
    members = ":".join(sorted(describe_member(fact) for fact in cluster.members))
    uid = uuid.uuid5(NAMESPACE, f"{branch.project_id}:{branch.name}:{members}")
    return Reflection(uid, cluster, cut_line(cluster.members[0].essence, ESSENCE_LENGTH))


def describe_member(fact: Fact) -> str:
    """Return what of a member a reflection repeats: where it changes, the group is proposed anew."""
    return f"{fact.uid}:{fact.content_hash}:{content_hash(fact.essence)}"


def replace_essence(reflection: Reflection, sentence: str) -> Reflection:
    """Return a reflection with the sentence of a model."""
    return replace(reflection, essence=sentence, is_models=True)


def describe_members(essence: str, members: Sequence[Fact]) -> str:
    """Return the text of a reflection: its line, and excerpts of the members as evidence."""
    lines = dict.fromkeys(cut_line(fact.fact_text, MAX_EXCERPT) for fact in members[:MAX_EXCERPTS])
    return "\n".join([essence, *(f"- {line}" for line in lines if line != essence)])


def choose_category(members: Sequence[Fact]) -> str:
    """Return the category of most members; of equal ones that of the first."""
    names = [fact.category for fact in members]
    return max(dict.fromkeys(names), key=names.count)
