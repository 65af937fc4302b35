"""The base of branched rows: each row is one version of a memory on one branch.

A change closes the open version of a ``uid`` on its branch (``seq_to``) and adds one. ``vid`` names the
version across branches (a merge that copies a version keeps it), ``prev_vid`` its predecessor and
``merged_vid`` the other parent. ``rid`` never leaves the server. See docs/decisions/0001.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar

from django.db import models

from memory.db.fields import RowIdField
from memory.db.querysets import VersionedManager
from memory.models.branches import Branch
from memory.models.checksums import compute_checksum
from memory.models.nodes import new_rid, uuid7

OPEN = 2**62  # the seq_to of a version that no later one has closed
ERASED_MARK = "[erased]"  # what a reader sees in the place of an erased text
ORIGIN = frozenset({"session_id", "task_id", "agent_id", "user_id", "app_id", "created_at"})


@dataclass(frozen=True)
class MemoryKind:
    """Declaration of a kind of memory. ``rank`` orders kinds: owners before their parts.

    Where both sides of a merge changed a field, ``claim`` fields conflict together, ``counters`` add up, of
    ``maxima`` the greater and of ``minima`` the smaller value stays, ``sets`` and ``mappings`` are merged by
    element, of ``ordered`` fields the later value stays, and ``origin`` fields keep the target's value. Any
    other field conflicts by itself.
    """

    name: str
    title: str  # the column with the line that names a memory
    rank: int
    claim: frozenset[str] = frozenset()
    counters: frozenset[str] = frozenset()
    maxima: frozenset[str] = frozenset()
    minima: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: frozenset[str] = ORIGIN
    derived: frozenset[str] = frozenset()  # computed from other fields
    unseen: frozenset[str] = frozenset()  # kept, but no part of a comparison
    marks: frozenset[str] = frozenset()  # moved by every edit: alone no change that a merge asks about
    states: str = ""  # the kind that it is a statement on: a verdict on a fact
    identity: tuple[str, ...] = ()  # columns of an identity other than the id
    numbered: str = ""  # the number of a part within its owner
    fork_columns: tuple[str, ...] = ()  # of an owner: what it was forked from, and the last part of both


class Blank(Enum):
    """What an erasure puts into a column whose blank value depends on the row."""

    DIGEST = "digest"  # a keyed hash of the former value: equal values of one memory stay equal
    OWN_SLOT = "own slot"  # the slot of the row's uid instead of that of its content


class SealedModel(models.Model):
    """A row whose ``SEALED`` columns stay as they were written, which their checksum tells."""

    TEXT: ClassVar[str] = ""
    SEALED: ClassVar[tuple[str, ...]]

    checksum = models.BigIntegerField(null=True, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def content_fields(cls) -> tuple[str, ...]:
        return cls.SEALED

    def set_checksum(self) -> None:
        self.checksum = compute_checksum(self)


class BranchedModel(models.Model):
    rid = RowIdField(primary_key=True, default=new_rid, editable=False)
    uid = models.UUIDField(default=uuid7, editable=False)
    branch = models.ForeignKey(
        Branch, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    seq_from = models.BigIntegerField()
    seq_to = models.BigIntegerField(default=OPEN)
    deleted = models.BooleanField(default=False)
    vid = models.BigIntegerField()
    prev_vid = models.BigIntegerField(null=True)
    merged_vid = models.BigIntegerField(null=True)
    version = models.PositiveIntegerField(default=1)
    # One unique column: branch and identity while open and not deleted. It resolves races.
    slot = models.CharField(max_length=120, null=True, unique=True)
    session_id = models.CharField(max_length=200, blank=True, default="")
    task_id = models.CharField(max_length=200, blank=True, default="")
    agent_id = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    checksum = models.BigIntegerField(
        null=True, editable=False, help_text="Of the content; null: older than checksums."
    )

    objects = VersionedManager()

    KIND: ClassVar[MemoryKind]
    TEXT: ClassVar[str] = ""  # the column that is embedded, in models with vector search
    DERIVES_UID: ClassVar[bool] = (
        False  # of every row: whether the uid is derived from the content, and so may recur
    )
    # Whether commits do not see versions in quarantine: nothing else can take their slots.
    HIDDEN_FROM_WRITERS: ClassVar[bool] = False
    # Whether a version is derived from the one before it: what makes a new statement is not.
    DERIVES_FROM_PREVIOUS: ClassVar[bool] = True
    # Columns with the uid of a memory that this one is a part of or a statement on -> that memory's model.
    OWNERS: ClassVar[dict[str, str]] = {}
    # Whether it is captured of a session, with which it is deleted.
    CAPTURED: ClassVar[bool] = False
    # Columns with the uid of a memory with which this one is deleted -> the kind of that memory.
    GOES_WITH: ClassVar[dict[str, str]] = {}
    # The column with the uid of the memory that this one is a copy of; an erasure takes the copies too.
    COPIED_FROM: ClassVar[str] = ""

    # Columns with content -> what an erasure leaves in them. Empty for a model without content.
    ERASED: ClassVar[dict[str, Any]] = {}
    # Columns whose erased text is searched in other rows -> the letters (memory.texts.measure_text) that it
    # takes to be that text, and no other. What anybody may write, such as names, types, tags and categories,
    # is not among them.
    QUOTED: ClassVar[dict[str, int]] = {}

    # Fields that identify the version; everything else is content.
    VERSION_FIELDS: ClassVar[frozenset[str]] = frozenset(
        "rid uid branch seq_from seq_to deleted vid prev_vid merged_vid version slot updated_at"
        " checksum".split()
    )

    class Meta:
        abstract = True
        indexes = [
            # No index contains the primary key: on the production database it would stay empty.
            models.Index(fields=["branch", "uid", "seq_to"], name="%(class)s_buid"),
            models.Index(fields=["branch", "seq_from", "uid"], name="%(class)s_bseq"),
            models.Index(fields=["branch", "seq_to"], name="%(class)s_bopen"),
            models.Index(fields=["uid"], name="%(class)s_uid"),
        ]

    def identity(self) -> str:
        """Return the key that may be open only once on a branch."""
        return self.uid.hex

    def owner_keys(self) -> list[tuple[str, Any]]:
        """Return kind and uid of each memory that this one is a part of or a statement on."""
        return [(kind, getattr(self, column)) for column, kind in self.OWNERS.items()]

    @property
    def derives_uid(self) -> bool:
        """Return whether the uid is derived from the content, and so may recur."""
        return self.DERIVES_UID

    @property
    def searchable(self) -> bool:
        """Return whether a search finds the row by default."""
        return True

    @classmethod
    def searchable_q(cls) -> models.Q:
        """Return the condition for rows that a search finds by default."""
        return models.Q()

    @classmethod
    def embedded_q(cls) -> models.Q:
        """Return the condition for rows of a model with ``TEXT`` that get a vector."""
        return models.Q()

    @classmethod
    @cache
    def content_fields(cls) -> tuple[str, ...]:
        return tuple(f.attname for f in cls._meta.concrete_fields if f.name not in cls.VERSION_FIELDS)

    @classmethod
    def blank_values(cls) -> dict[str, Any]:
        """Return the columns that an erasure sets to the same value in every row."""
        return {name: value for name, value in cls.ERASED.items() if not isinstance(value, Blank)}

    def set_checksum(self) -> None:
        """Compute the checksum of the content, which every write of it ends with."""
        self.checksum = compute_checksum(self)

    def content_values(self) -> dict[str, Any]:
        """Return the values that a new version starts from."""
        return dict(zip(self.content_fields(), self._read_content()(self), strict=True))

    @classmethod
    @cache
    def _read_content(cls) -> Callable[[Any], tuple[Any, ...]]:
        return attrgetter(*cls.content_fields())


class DeletableModel(models.Model):
    """A row without versions: its deletion is a time and a name, which a restore takes away."""

    deleted_at = models.DateTimeField(null=True, blank=True)
    deleted_by = models.CharField(max_length=200, blank=True, default="", help_text="Empty: it is there.")

    class Meta:
        abstract = True

    def mark_deleted(self, at: datetime | None, by: str = "") -> None:
        """Store when it was deleted and by whom; None stands for a restore."""
        self.deleted_at, self.deleted_by = at, by
        self.save(update_fields=["deleted_at", "deleted_by"])
