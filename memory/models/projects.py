"""Projects, which are the tenants, their members, and links that make members."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7

MAX_DAYS = 3650
MAX_BUDGET = 10_000_000
MAX_MEMBERS = 1_000_000
MIN_GROUP, MAX_GROUP = 2, 30  # observations of a reflection
MIN_COHESION = 0.5


class ProjectManager(models.Manager["Project"]):
    """The projects that are there: one that is being removed is none of them."""

    def get_queryset(self) -> models.QuerySet["Project"]:
        return super().get_queryset().filter(removed_at=None)


class Project(models.Model):
    """A tenant: branches, sessions, keys and memory belong to exactly one project."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(_("name in addresses"), max_length=100, unique=True)
    recipe = models.CharField(
        _("search recipe"), max_length=50, blank=True, help_text=_("Empty means the default of the server.")
    )
    redact_secrets = models.BooleanField(
        _("secrets are taken out"),
        default=True,
        help_text=_("Passwords, tokens and keys are taken out of whatever is written. Off: they are stored."),
    )
    require_second_factor = models.BooleanField(
        _("members need a second factor"),
        default=False,
        help_text=_("Members see the project only with a second factor. API keys are not affected."),
    )
    durable_categories = models.CharField(
        _("categories that outlive a task"),
        max_length=500,
        blank=True,
        help_text=_(
            "Facts of these categories are offered to the parent branch when a task is completed,"
            " separated by commas. Empty means the default of the server."
        ),
    )
    least_evidence = models.FloatField(
        _("least evidence"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text=_(
            "Between 0 and 1. A search whose hits have less says that nothing is known."
            " Empty means what was measured for the embedder: 0.05 with minilm;"
            " with others 0, where whatever is found is known."
        ),
    )
    age_facts = models.BooleanField(
        _("facts age by themselves"),
        default=False,
        help_text=_("Every day, facts that are expired, old or over the budget are archived; see Ageing."),
    )
    category_ttl_days = JSONTextField(_("days to live by category"), default=dict, editable=False)
    stale_after_days = models.PositiveIntegerField(
        _("stale after days"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_DAYS)],
        help_text=_("Facts of priority P3 and P4 that nobody recalled for so long. Empty means never."),
    )
    fact_budget = models.PositiveIntegerField(
        _("facts of a branch"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_BUDGET)],
        help_text=_("How many facts of its own a branch may have in use. Empty means any number."),
    )
    consolidate_agents = models.BooleanField(
        _("what agents know is consolidated by itself"),
        default=False,
        help_text=_("Every night, facts that an agent learned twice on main are merged, and one sums up."),
    )
    propose_reflections = models.BooleanField(
        _("reflections are proposed by themselves"),
        default=False,
        help_text=_("Every night, observations on main that are alike become a merge request; see Dreaming."),
    )
    dream_min_size = models.PositiveIntegerField(
        _("observations of a reflection"),
        default=3,
        validators=[MinValueValidator(MIN_GROUP), MaxValueValidator(MAX_GROUP)],
        help_text=_("So many at least."),
    )
    dream_cohesion = models.FloatField(
        _("cohesion of a reflection"),
        default=0.83,
        validators=[MinValueValidator(MIN_COHESION), MaxValueValidator(1.0)],
        help_text=_("How like the middle of its group each observation is at least, 0.5 to 1."),
    )
    dream_min_age_cycles = models.PositiveBigIntegerField(
        _("cycles before an observation is read"),
        default=0,
        help_text=_("Turns of the branch since it was written; 0 reads all."),
    )
    dream_every_n_cycles = models.PositiveBigIntegerField(
        _("cycles between two nightly runs"),
        default=0,
        help_text=_("A night with fewer turns since the last run is left out; 0 leaves none out."),
    )
    dream_allow_zero_confirmation = models.BooleanField(
        _("unconfirmed observations are read"),
        default=True,
        help_text=_("Otherwise only those that a second source confirmed."),
    )
    dream_origins = models.CharField(
        _("origins that are read"),
        max_length=200,
        blank=True,
        help_text=_("Separated by commas. Empty means EXPERIENCE."),
    )
    rules_off = JSONTextField(default=list, editable=False)  # rules that learn nothing; see Learning
    created_at = models.DateTimeField(_("made"), auto_now_add=True)
    version = models.PositiveIntegerField(default=1, editable=False)  # of the settings
    member_limit = models.PositiveIntegerField(
        _("members at most"), null=True, blank=True, help_text=_("Empty means any number.")
    )
    user_fact_limit = models.PositiveIntegerField(
        _("facts of an end user"), null=True, blank=True, help_text=_("Empty means any number.")
    )
    limits = JSONTextField(_("limits"), default=dict, editable=False)  # see memory.limits
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
