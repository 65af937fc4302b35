"""The knowledge graph: typed edges between entities, true from a time until a time."""

import hashlib
import uuid

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.base import BranchedModel
from memory.models.hashes import normalise


class Relation(BranchedModel):
    """An edge. While it is open (no ``valid_until``) its triple of names stands once on a branch."""

    source_entity = models.CharField(max_length=200)
    target_entity = models.CharField(max_length=200)
    relation_type = models.CharField(max_length=200)
    # The names under which spellings are the same.
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
        return self.uid.hex if self.valid_until else digest_of(self.triple)


def name_key(name: str) -> str:
    """The form under which two spellings of a name are the same."""
    return normalise(name)


def digest_of(triple: tuple[str, str, str]) -> str:
    # Each part with its length before it: no two triples share one preimage.
    joined = "".join(f"{len(part)}:{part}" for part in triple)
    return hashlib.sha256(joined.encode()).hexdigest()[:32]


def uid_of(project_id: uuid.UUID, triple: tuple[str, str, str], ordinal: int) -> uuid.UUID:
    """The id of the n-th edge of a triple: two branches that make it make the same."""
    return uuid.uuid5(project_id, f"{digest_of(triple)}:{ordinal}")
