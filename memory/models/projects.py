"""The tenant, and who belongs to it."""

from django.conf import settings
from django.db import models

from memory.models.nodes import uuid7


class Project(models.Model):
    """A tenant: branches, sessions, keys and memory belong to exactly one project."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=100, unique=True)
    recipe = models.CharField(
        max_length=50, blank=True, help_text="The search recipe; empty means the default of the server."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What a person may do in a project. viewer = read, curator = curate, maintainer = all."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        CURATOR = "curator"
        MAINTAINER = "maintainer"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"
