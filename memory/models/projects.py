"""Projects, which are the tenants, their members, and links that make members."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7


class ProjectManager(models.Manager["Project"]):
    """The projects that are there: one that is being removed is none of them."""

    def get_queryset(self) -> models.QuerySet["Project"]:
        return super().get_queryset().filter(removed_at=None)


class Project(models.Model):
    """A tenant: branches, sessions, keys and memory belong to exactly one project."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(_("name in addresses"), max_length=100, unique=True)
    # The settings; what they mean and may be is declared in memory.engines.fields.projects.
    recipe = models.CharField(_("search recipe"), max_length=50, blank=True)
    redact_secrets = models.BooleanField(default=True)
    require_second_factor = models.BooleanField(default=False)
    durable_categories = models.CharField(max_length=500, blank=True)
    least_evidence = models.FloatField(null=True, blank=True)
    age_facts = models.BooleanField(default=False)
    category_ttl_days = JSONTextField(default=dict, editable=False)
    stale_after_days = models.PositiveIntegerField(null=True, blank=True)
    fact_budget = models.PositiveIntegerField(null=True, blank=True)
    consolidate_agents = models.BooleanField(default=False)
    propose_reflections = models.BooleanField(default=False)
    dream_min_size = models.PositiveIntegerField(default=3)
    dream_cohesion = models.FloatField(default=0.83)
    dream_min_age_cycles = models.PositiveBigIntegerField(default=0)
    dream_every_n_cycles = models.PositiveBigIntegerField(default=0)
    dream_allow_zero_confirmation = models.BooleanField(default=True)
    dream_origins = models.CharField(max_length=200, blank=True)
    rules_off = JSONTextField(default=list, editable=False)  # rules that learn nothing; see Learning
    created_at = models.DateTimeField(_("made"), auto_now_add=True)
    version = models.PositiveIntegerField(default=1, editable=False)  # of the settings
    member_limit = models.PositiveIntegerField(null=True, blank=True)
    user_fact_limit = models.PositiveIntegerField(null=True, blank=True)
    limits = JSONTextField(default=dict, editable=False)  # see memory.limits
    former_slugs = JSONTextField(default=list, editable=False)  # pages at these lead to the present one
    removed_at = models.DateTimeField(null=True, editable=False)  # since when it is being removed
    rows_to_remove = models.BigIntegerField(default=0, editable=False)
    rows_removed = models.BigIntegerField(default=0, editable=False)

    objects = ProjectManager()
    every = models.Manager["Project"]()

    class Meta:
        verbose_name, verbose_name_plural = _("project"), _("projects")
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """Return whether it is there, or is being removed."""
        return "removing" if self.removed_at else "open"

    @property
    def removal(self) -> dict[str, Any] | None:
        """Return how far its removal has come; None where it is not being removed."""
        if not self.removed_at:
            return None
        return {
            "since": self.removed_at.isoformat(),
            "rows": self.rows_to_remove,
            "removed": self.rows_removed,
        }


class ProjectRow(models.Model):
    """A row of a project, with an id of its own. Nothing leads from the project to it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")

    class Meta:
        abstract = True


class MadeRow(models.Model):
    """A row that says who made it, and when."""

    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True


class ProjectTemplate(models.Model):
    """What a new project may begin with: settings, policies, members, and what other apps add."""

    name = models.CharField(max_length=100, primary_key=True)
    content = JSONTextField(default=dict, help_text="Part -> its value.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_by_kind = models.CharField(max_length=10, blank=True, default="")
    created_by_id = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a project; ``memory.actors.ROLE_SCOPES`` says what each may do."""

    class Role(models.TextChoices):
        """The roles, the narrowest first."""

        VIEWER = "viewer"
        CURATOR = "curator"
        MAINTAINER = "maintainer"
        OWNER = "owner"

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("project")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user")
    )
    role = models.CharField(_("role"), max_length=20, choices=Role.choices, default=Role.VIEWER)
    # What groups at a login provider give, "" is nothing; and then what people gave, see group_roles.
    group_role = models.CharField(max_length=20, choices=Role.choices, blank=True, default="", editable=False)
    given_role = models.CharField(max_length=20, blank=True, default="", editable=False)
    # Who let the person in, and by which link.
    created_by = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_by_kind = models.CharField(max_length=10, blank=True, default="", editable=False)
    created_by_id = models.CharField(max_length=64, blank=True, default="", editable=False)
    invitation_id = models.UUIDField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("membership"), _("memberships")
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_membership")]

    def __str__(self) -> str:
        words = {"user": self.user, "role": gettext(self.role), "project": self.project}
        return gettext("%(user)s is %(role)s of %(project)s") % words

    @property
    def actor_id(self) -> str:
        """Return the id under which the history has what the person does."""
        return str(self.user_id)


class Invitation(models.Model):
    """A link with a role, for a number of people, until a time. Only the hash of its secret is stored."""

    class State(models.TextChoices):
        OPEN = "open"
        USED = "used"
        EXPIRED = "expired"
        REVOKED = "revoked"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, choices=Membership.Role.choices)
    note = models.CharField(max_length=200, blank=True, help_text="For whom it is.")
    secret_hash = FixedCharField(max_length=64, unique=True, editable=False)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_by_kind = models.CharField(max_length=10, blank=True, default="")
    created_by_id = models.CharField(max_length=64, blank=True, default="")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.role} {self.note}".strip()

    @property
    def state(self) -> str:
        """Return whether it can be accepted now, or why not."""
        if self.revoked_at:
            return self.State.REVOKED.value
        if self.uses >= self.max_uses:
            return self.State.USED.value
        return (self.State.EXPIRED if self.expires_at <= timezone.now() else self.State.OPEN).value


class LoginLink(models.Model):
    """A link that logs a user in once, until a time. Only the hash of its secret is stored."""

    secret_hash = FixedCharField(max_length=64, primary_key=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.user} until {self.expires_at:%Y-%m-%d %H:%M}"
