"""Typed edges from a fact to a fact, an observation or a message."""

import hashlib
from typing import Any, ClassVar

from django.db import models
from django_mysql.models import FixedCharField

from memory.models.base import BranchedModel, MemoryKind
from memory.models.facts import Fact
from memory.models.projects import Project

JUDGED_WEIGHT = 0.5  # of a link to a later statement that rests on a model's verdict, not on rules
NEAR_WEIGHT = 0.25  # of one that rests on nothing but the nearness of both in meaning


class FactLink(BranchedModel):
    class Type(models.TextChoices):
        ASSOCIATED = "ASSOCIATED"
        DEPENDS_ON = "DEPENDS_ON"
        DERIVED_FROM = "DERIVED_FROM"
        MESSAGE_OF = "MESSAGE_OF"
        BRIDGE = "BRIDGE"
        CONSOLIDATED_FROM = "CONSOLIDATED_FROM"
        CONTESTED_BY = "CONTESTED_BY"

    class Target(models.TextChoices):
        FACT = "fact"
        OBSERVATION = "observation"
        MESSAGE = "message"

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "link",
        title="link_type",
        rank=7,
        maxima=frozenset({"weight"}),
        identity=("from_id", "to_id", "to_type", "link_type"),
    )
    OWNERS: ClassVar[dict[str, str]] = {"from_id": "fact", "to_id": "fact"}

    from_id = models.UUIDField()
    to_id = models.UUIDField()
    to_type = models.CharField(max_length=20, choices=Target.choices, default=Target.FACT)
    link_type = models.CharField(max_length=20, choices=Type.choices)
    weight = models.FloatField(default=1.0)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["from_id"], name="factlink_from"),
            models.Index(fields=["to_id"], name="factlink_to"),
        ]

    def identity(self) -> str:
        edge = f"{self.from_id.hex}{self.to_id.hex}{self.to_type}{self.link_type}"
        return hashlib.sha256(edge.encode()).hexdigest()[:32]

    def owner_keys(self) -> list[tuple[str, Any]]:
        return [("fact", self.from_id), (self.to_type, self.to_id)]

    def __str__(self) -> str:
        return f"{self.from_id} {self.link_type} {self.to_id}"


# From what a fact was made: what is wrong with the one end is wrong with the other.
DERIVING = (FactLink.Type.CONSOLIDATED_FROM, FactLink.Type.DERIVED_FROM, FactLink.Type.MESSAGE_OF)


class PairVerdict(models.Model):
    """What a language model says that a later statement does to an earlier one, without either text.

    It is about both texts as they were: of one that changed there is no verdict.
    """

    class Verdict(models.TextChoices):
        REPLACES = "replaces"
        NARROWS = "narrows"
        SAME = "same"
        OTHER = "other"
        UNSURE = "unsure"

    slot = FixedCharField(max_length=32, primary_key=True, help_text="Of both facts and their texts.")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    newer_id = models.UUIDField()
    older_id = models.UUIDField()
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    model = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.newer_id} {self.verdict} {self.older_id}"

    @staticmethod
    def build_slot(older: Fact, newer: Fact) -> str:
        """Return the key of the verdict on two facts in this order, by their present texts."""
        parts = (older.uid.hex, newer.uid.hex, older.content_hash, newer.content_hash)
        return hashlib.sha256("|".join(parts).encode()).hexdigest()[:32]
