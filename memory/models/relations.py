"""The knowledge graph: typed edges between entities, valid from a time until a time."""

import hashlib
import uuid
from typing import Any, ClassVar

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.base import ERASED_MARK, Blank, BranchedModel, MemoryKind
from memory.models.hashes import normalise_text


class Relation(BranchedModel):
    """An edge. While it is open (no ``valid_until``) its triple of names is unique on a branch."""

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "relation",
        title="relation_type",
        rank=3,
        counters=frozenset({"strength"}),
        maxima=frozenset({"confidence"}),
        minima=frozenset({"valid_from"}),
        mappings=frozenset({"properties"}),
        derived=frozenset({"source_key", "target_key", "type_key"}),
        identity=("source_key", "type_key", "target_key"),
    )
    DERIVES_UID: ClassVar[bool] = True
    ERASED: ClassVar[dict[str, Any]] = {
        "source_entity": ERASED_MARK,
        "target_entity": ERASED_MARK,
        "relation_type": ERASED_MARK,
        "properties": {},
        "source_key": Blank.DIGEST,
        "target_key": Blank.DIGEST,
        "type_key": Blank.DIGEST,
        "slot": Blank.OWN_SLOT,
    }

    source_entity = models.CharField(max_length=200)
    target_entity = models.CharField(max_length=200)
    relation_type = models.CharField(max_length=200)
    # The normalised names, equal for all spellings.
    source_key = models.CharField(max_length=200, editable=False)
    target_key = models.CharField(max_length=200, editable=False)
    type_key = models.CharField(max_length=200, editable=False)
    properties = JSONTextField(default=dict)
    confidence = models.FloatField(default=1.0)
    strength = models.PositiveIntegerField(default=1, help_text="How often it was stated while open.")
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "source_key"], name="relation_bsource"),
            models.Index(fields=["branch", "target_key"], name="relation_btarget"),
        ]

    def __str__(self) -> str:
        return f"{self.source_entity} {self.relation_type} {self.target_entity}"

    @property
    def triple(self) -> tuple[str, str, str]:
        return self.source_key, self.type_key, self.target_key

    def identity(self) -> str:
        return self.uid.hex if self.valid_until else hash_triple(self.triple)


def name_key(name: str) -> str:
    """Return the normal form of a name, equal for all its spellings."""
    return normalise_text(name)


def hash_triple(triple: tuple[str, str, str]) -> str:
    # Each part follows its length: no two triples have the same input of the hash.
    joined = "".join(f"{len(part)}:{part}" for part in triple)
    return hashlib.sha256(joined.encode()).hexdigest()[:32]


def build_relation_uid(project_id: uuid.UUID, triple: tuple[str, str, str], ordinal: int) -> uuid.UUID:
    """Return the id of the n-th edge of a triple; it is the same on every branch."""
    return uuid.uuid5(project_id, f"{hash_triple(triple)}:{ordinal}")
