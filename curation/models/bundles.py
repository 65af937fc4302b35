"""The ids that memories of a bundle have in a project."""

import hashlib
from uuid import UUID

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.base import DeletableModel
from memory.models.branches import Branch
from memory.models.projects import MadeRow, Project, ProjectRow

TIME_BITS = 48


def derive_uid(project_id: UUID, uid: UUID) -> UUID:
    """Return the id that a memory of a bundle has in a project: the same with each import.

    It keeps the time of an id of version 7, so that lists have their order.
    """
    digest = hashlib.sha256(f"bundle:{project_id}:{uid}".encode()).digest()
    time = uid.int >> (128 - TIME_BITS) if uid.version == 7 else 0
    rest = int.from_bytes(digest[:10], "big")
    value = (time << 80) | (rest & ~(0xF << 76) & ~(0x3 << 62)) | (7 << 76) | (2 << 62)
    return UUID(int=value)


DELETED = "deleted"  # the origin of a bundle that is no more than a number that is taken


class StoredManager(models.Manager["Bundle"]):
    """The bundles with a document, those that were deleted and can be restored among them."""

    def get_queryset(self) -> models.QuerySet["Bundle"]:
        return super().get_queryset().exclude(origin=DELETED)


class BundleManager(StoredManager):
    """The bundles that are there."""

    def get_queryset(self) -> models.QuerySet["Bundle"]:
        return super().get_queryset().filter(deleted_at=None)


class Bundle(ProjectRow, MadeRow, DeletableModel):
    """A document with facts, links, conversations and relations. It never changes but for erasures.

    A newer version is another bundle of the same name.
    """

    class Origin(models.TextChoices):
        CREATED = "created"
        UPLOADED = "uploaded"

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    description = models.TextField(blank=True)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.CREATED)
    source = models.ForeignKey(
        Branch, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )
    source_branch = models.CharField(max_length=200, blank=True, help_text="As the document names it.")
    only_verified = models.BooleanField(default=True)
    counts = JSONTextField(default=dict, help_text="Kind of memory -> how many.")
    left_out = JSONTextField(default=dict, help_text="Why facts are not in it -> how many.")
    redacted = models.PositiveIntegerField(default=0, help_text="Secrets that were taken out.")
    bundle_data = models.TextField(help_text="The document, as it is exported.")
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the document.")
    sha256 = models.CharField(max_length=64)
    signature = models.CharField(max_length=100, blank=True)
    public_key = models.CharField(max_length=50, blank=True, help_text="Of who signed it.")
    owner = models.CharField(max_length=100, help_text="The key or user that made or uploaded it.")
    hidden = models.BooleanField(default=False, help_text="Whether a quarantine hides it.")

    objects = BundleManager()
    stored = StoredManager()
    every = models.Manager["Bundle"]()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "version"], name="one_bundle_of_a_version")
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class SigningKey(MadeRow):
    """The key with which a project signs. The private half is encrypted, and never leaves the server."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="+")
    private_key = models.TextField(help_text="Encrypted with the secret key of the server.")
    public_key = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.public_key


class TrustedKey(MadeRow):
    """A key of somebody else whose signature a project trusts."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    public_key = models.CharField(max_length=50)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_trusted_key_of_a_name"),
            models.UniqueConstraint(fields=["project", "public_key"], name="one_name_of_a_trusted_key"),
        ]

    def __str__(self) -> str:
        return self.name
