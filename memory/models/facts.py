"""Facts, and the data outside their history: verdicts, confirmations, use."""

import uuid
from collections.abc import Collection
from datetime import datetime
from itertools import product
from typing import Any, ClassVar, Self

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField, dumps
from memory.db.indexes import FullTextIndex
from memory.db.lineage import EVERYBODY, EndUser
from memory.models import hashes
from memory.models.base import ERASED_MARK, OPEN, ORIGIN, Blank, BranchedModel, MemoryKind
from memory.models.end_users import OfEndUser, get_owner
from memory.models.nodes import uuid7
from memory.models.projects import Project

# Few facts are proposals, and a curator lists all that are waiting.
PROPOSED_INDEX = models.Index(
    fields=["branch", "seq_to"], condition=models.Q(status="created"), name="fact_proposed"
)

# In the place of bopen: what a branch shows at a point is counted, by these columns too, without its rows.
SHOWN_INDEX = models.Index(
    fields=["branch", "seq_to", "seq_from", "deleted", "status", "source_type", "category"],
    name="fact_bshown",
)

# Facts of no repository are found by the other indexes.
REPOSITORY_INDEX = models.Index(
    fields=["branch", "repository", "uid"], condition=models.Q(repository__gt=""), name="fact_brepository"
)


# Most facts have no id where they come from; a program asks for those that it has written by theirs.
SOURCE_INDEX = models.Index(
    fields=["branch", "source_id"], condition=models.Q(source_id__gt=""), name="fact_bsource"
)

# Facts with a key are listed in the order of their paths; most facts have none.
PATH_INDEX = models.Index(
    fields=["branch", "path", "seq_to"], condition=models.Q(path__isnull=False), name="fact_bpath"
)

# Facts of end users are listed, counted and erased by whose they are; those of nobody are not in it.
USER_INDEX = models.Index(
    fields=["branch", "user_id", "uid"], condition=models.Q(user_id__gt=""), name="fact_buser"
)

# Between the namespace and the key of a path. No segment is empty, so it stands nowhere else, and every path
# of a namespace, and of all below it, is in one range.
KEY_MARK = "//"

# The source_id of a summary of an agent's facts begins with it.
SUMMARY_PREFIX = "summary:"


class Fact(BranchedModel, OfEndUser):
    class Kind(models.TextChoices):
        OBSERVATION = "OBSERVATION"
        BELIEF = "BELIEF"
        TASK = "TASK"
        OUTPUT_DRAFT = "OUTPUT_DRAFT"
        NOTE = "NOTE"
        REFLECTION = "REFLECTION"

    class Priority(models.TextChoices):
        P1 = "P1"
        P2 = "P2"
        P3 = "P3"
        P4 = "P4"

    class Status(models.TextChoices):
        CREATED = "created"
        ACTIVE = "active"
        DONE = "done"
        SUPERSEDED = "superseded"
        ARCHIVED = "archived"

    class SourceType(models.TextChoices):
        MANUAL = "manual"
        OBSERVATION = "observation"
        EXTRACTION = "extraction"
        CONSOLIDATION = "consolidation"
        MERGE = "merge"
        CHERRY_PICK = "cherry_pick"
        BUNDLE_IMPORT = "bundle_import"
        IMPORT = "import"

    class Origin(models.TextChoices):
        EXPERIENCE = "EXPERIENCE"
        SEEDED_LLM = "SEEDED_LLM"
        DISTILLED_LLM = "DISTILLED_LLM"
        DREAMING = "DREAMING"

    class Visibility(models.TextChoices):
        PRIVATE = "private"
        SELECTIVE = "selective"
        PUBLIC = "public"

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "fact",
        title="essence",
        rank=1,
        claim=frozenset(
            {"fact_text", "essence", "status", "held_status", "valid_from", "valid_until", "value"}
        ),
        maxima=frozenset({"confidence", "updated_cycle"}),
        sets=frozenset({"tags"}),
        mappings=frozenset({"metadata"}),
        origin=ORIGIN | {"source_type", "origin", "created_cycle"},
        derived=frozenset({"content_hash", "norm_hash", "judged_hash", "path"}),
        unseen=frozenset({"held_status"}),
        marks=frozenset({"updated_cycle"}),
    )
    TEXT: ClassVar[str] = "fact_text"
    HIDDEN_FROM_WRITERS: ClassVar[bool] = True
    SEARCHED: ClassVar[frozenset[str]] = frozenset({Status.ACTIVE, Status.DONE})
    # Their source_id is the id that they had where they come from.
    IMPORTED: ClassVar[frozenset[str]] = frozenset({SourceType.IMPORT, SourceType.BUNDLE_IMPORT})
    # Proposals are compared with others too, to show a reviewer what a proposal repeats.
    COMPARED: ClassVar[frozenset[str]] = SEARCHED | {Status.CREATED}

    # Erased facts are archived, so that no search, context or briefing shows them.
    ERASED: ClassVar[dict[str, Any]] = {
        "fact_text": ERASED_MARK,
        "essence": ERASED_MARK,
        "category": "general",
        "status": Status.ARCHIVED.value,
        "held_status": "",
        "source_id": "",
        "source": "",
        "pinned": False,
        "tags": [],
        "metadata": {},
        "path": None,
        "value": None,
        "content_hash": Blank.DIGEST,
        "norm_hash": Blank.DIGEST,
        "judged_hash": Blank.DIGEST,
    }

    QUOTED: ClassVar[dict[str, int]] = {"fact_text": 16, "essence": 16}

    # Attributes outside the history; memory.engines.facts.assessment sets them.
    verification_status: str
    verified_at: datetime | None
    verified_by: str
    verification_method: str
    verification_reason: str
    confirmation_count: int
    access_count: int
    last_accessed_at: datetime | None
    embedding_state: str
    embedding_model: str
    score: float  # of a hit on the list of facts
    inherited: bool  # whether the list of a branch has it of those that it was made of

    fact_text = models.TextField()
    essence = models.CharField(max_length=200)
    category = models.CharField(max_length=100, default="general")
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.OBSERVATION)
    priority = models.CharField(max_length=2, choices=Priority.choices, default=Priority.P3)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.ACTIVE)
    held_status = models.CharField(
        max_length=20, blank=True, default="", help_text="The status an archived fact goes back to."
    )
    confidence = models.FloatField(default=0.7)
    parent_id = models.UUIDField(null=True, blank=True)
    source_type = models.CharField(max_length=20, choices=SourceType.choices, default=SourceType.MANUAL)
    source_id = models.CharField(max_length=200, blank=True, default="")
    source = models.CharField(max_length=200, blank=True, default="")
    repository = models.CharField(
        max_length=1000, blank=True, default="", help_text="Where it was learned; else that of its session."
    )
    origin = models.CharField(max_length=20, choices=Origin.choices, default=Origin.EXPERIENCE)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.SELECTIVE)
    created_cycle = models.BigIntegerField(default=0)
    updated_cycle = models.BigIntegerField(default=0)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    pinned = models.BooleanField(default=False)
    tags = JSONTextField(default=list)
    metadata = JSONTextField(default=dict)
    # An item is a fact with a path, see docs/decisions/0089. All three are null in other facts.
    path = models.CharField(max_length=770, null=True, editable=False)
    value = JSONTextField(null=True, editable=False)
    embed = models.BooleanField(null=True, editable=False, help_text="False: words alone find it.")
    content_hash = FixedCharField(max_length=64, help_text="SHA-256 of the text: the key of its vector.")
    norm_hash = FixedCharField(max_length=32, help_text="Of the normalised text: equal texts are one fact.")
    judged_hash = FixedCharField(
        max_length=32, help_text="Of text, essence and category: what a verdict is on."
    )

    class Meta(BranchedModel.Meta):
        indexes = [
            *(index for index in BranchedModel.Meta.indexes if index.name != "%(class)s_bopen"),
            SHOWN_INDEX,
            models.Index(fields=["branch", "norm_hash"], name="fact_bnorm"),
            models.Index(fields=["branch", "session_id", "uid"], name="fact_bsession"),
            REPOSITORY_INDEX,
            SOURCE_INDEX,
            # Few facts replace another one: the index leaves out the others where the database can.
            models.Index(
                fields=["parent_id"], condition=models.Q(parent_id__isnull=False), name="fact_parent"
            ),
            PROPOSED_INDEX,
            PATH_INDEX,
            USER_INDEX,
            # Few facts end: a curator lists those that do so soon.
            models.Index(
                fields=["branch", "expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="fact_bexpires",
            ),
            models.Index(
                fields=["branch", "valid_until"],
                condition=models.Q(valid_until__isnull=False),
                name="fact_buntil",
            ),
            FullTextIndex(
                fields=["fact_text"],
                tokens=["category", "kind", "status", "session_id", "agent_id", "user_id", "app_id"],
                name="memory_fact_fts",
            ),
        ]

    def __str__(self) -> str:
        return self.essence

    @property
    def namespace(self) -> str | None:
        return self.path.partition(KEY_MARK)[0] if self.path else None

    @property
    def key(self) -> str | None:
        return self.path.partition(KEY_MARK)[2] if self.path else None

    @property
    def derives_uid(self) -> bool:
        return self.path is not None

    @property
    def searchable(self) -> bool:
        return self.status in self.SEARCHED

    @classmethod
    def searchable_q(cls) -> models.Q:
        return models.Q(status__in=sorted(cls.SEARCHED))

    @classmethod
    def embedded_q(cls) -> models.Q:
        return models.Q(embed__isnull=True)

    def compute_hashes(self) -> None:
        """Compute the three hashes from the content. Two items are never one fact, whatever they say."""
        content = write_content(self.fact_text, self.path, self.value, get_owner(self))
        self.content_hash = hashes.content_hash(self.fact_text)
        self.norm_hash = hashes.norm_hash(content)
        self.judged_hash = hashes.judged_hash(content, self.essence, self.category)


def write_content(text: str, path: str | None, value: Any, end_user: EndUser = EVERYBODY) -> str:
    """Return what a fact says: its text, where an item stands with its value, and of which end user it is."""
    stands = "" if path is None else f"\n{dumps([path, value])}"
    return f"{text}{stands}{write_owner(end_user)}"


def write_owner(end_user: EndUser) -> str:
    """Return whose something is, as a part of what tells it from others; "" for nobody's."""
    return f"\n{dumps([end_user.user_id, end_user.app_id])}" if end_user.user_id or end_user.app_id else ""


def build_path(namespace: str, key: str) -> str:
    """Return the path of an item."""
    return f"{namespace}{KEY_MARK}{key}"


def build_item_uid(
    project_id: uuid.UUID, path: str, ordinal: int = 0, end_user: EndUser = EVERYBODY
) -> uuid.UUID:
    """Return the id of the item of a path: the same on every branch, so that a merge compares what two
    branches put under one key. The ordinal is greater than 0 after an erasure of the item before. Each end
    user has paths of their own.

    Its first byte is 0: lists that are sorted by id, newest first, end with items.
    """
    digest = uuid.uuid5(project_id, f"item:{ordinal}:{path}{write_owner(end_user)}").int
    return uuid.UUID(int=digest & ~(0xFF << 120 | 0xF << 76) | 8 << 76)


def build_copy_uid(uid: uuid.UUID, vid: int) -> uuid.UUID:
    """Return the id under which a version of a fact becomes a fact of its own, when a merge keeps both."""
    return uuid.uuid5(uid, f"both:{vid}")


class FactAssessment(BranchedModel):
    """The verdict on a fact (``uid`` is the fact's). It applies while the fact's judged_hash is the same.

    The heuristic judges nothing: what it says is plausible or unverified, see docs/decisions/0064.
    """

    class Status(models.TextChoices):
        UNVERIFIED = "unverified"
        PLAUSIBLE = "plausible"
        VERIFIED = "verified"
        INVALIDATED = "invalidated"

    class Method(models.TextChoices):
        HUMAN = "human"
        JUDGE = "judge"
        HEURISTIC = "heuristic"

    KIND: ClassVar[MemoryKind] = MemoryKind("verdict", title="status", rank=2, states="fact")
    DERIVES_UID: ClassVar[bool] = True
    DERIVES_FROM_PREVIOUS: ClassVar[bool] = False
    OWNERS: ClassVar[dict[str, str]] = {"uid": "fact"}
    ERASED: ClassVar[dict[str, Any]] = {"reason": "", "judged_hash": Blank.DIGEST}
    QUOTED: ClassVar[dict[str, int]] = {"reason": 32}
    # What a person or a judge may say.
    JUDGEMENTS: ClassVar[tuple[str, ...]] = (Status.VERIFIED, Status.UNVERIFIED, Status.INVALIDATED)
    # What the heuristic's rows of before it could be plausible are read as.
    WEAKENED: ClassVar[dict[str, str]] = {
        Status.VERIFIED: Status.PLAUSIBLE.value,
        Status.INVALIDATED: Status.UNVERIFIED.value,
    }

    status = models.CharField(max_length=20, choices=Status.choices)
    method = models.CharField(max_length=20, choices=Method.choices)
    reason = models.TextField(blank=True, default="")
    by = models.CharField(max_length=200)
    at = models.DateTimeField()
    judged_hash = FixedCharField(max_length=32)

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "status"], name="assessment_bstatus"),
        ]

    def __str__(self) -> str:
        return f"{self.uid} {self.status}"

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **options: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **options)
        if {"status", "method"} <= set(field_names):
            row.status = cls.read_status(row.status, row.method)
        return row

    @classmethod
    def read_status(cls, status: str, method: str) -> str:
        """Return what a verdict counts as: the heuristic neither verifies nor invalidates."""
        return cls.WEAKENED.get(status, status) if method == cls.Method.HEURISTIC else status

    @classmethod
    def select_status(cls) -> models.Case:
        """Return the expression of what a stored verdict is read as."""
        weak = (
            models.When(method=cls.Method.HEURISTIC, status=stored, then=models.Value(read))
            for stored, read in cls.WEAKENED.items()
        )
        return models.Case(*weak, default=models.F("status"))

    @classmethod
    def list_stored(cls, statuses: Collection[str]) -> list[tuple[str, str]]:
        """Return the pairs of status and method, as they are stored, that are read as one of the statuses."""
        pairs = product(cls.Status.values, cls.Method.values)
        return [pair for pair in pairs if cls.read_status(*pair) in statuses]


class Confirmation(models.Model):
    """An independent source that stated the same fact; visible along the lineage until retracted."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    uid = models.UUIDField()
    branch_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    seq_to = models.BigIntegerField(default=OPEN, help_text="The commit that took it back.")
    source = models.CharField(max_length=420, help_text="The session or agent that confirmed it.")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["uid", "branch_id", "seq"], name="confirmation_uid")]


class FactUse(models.Model):
    """The recall count of a fact. Outside the history: a read makes no version."""

    uid = models.UUIDField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    access_count = models.PositiveBigIntegerField(default=0)
    last_accessed_at = models.DateTimeField()
