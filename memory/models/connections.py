"""Programs that people connected by OAuth. Of codes and tokens only hashes are stored."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.projects import ProjectRow


class OAuthClient(models.Model):
    """A program that may ask people to connect it. What it says of itself is not verified."""

    id = FixedCharField(max_length=64, primary_key=True, editable=False, help_text="SHA-256 of client_id.")
    client_id = models.TextField()
    name = models.CharField(max_length=200)
    redirect_uris = JSONTextField(default=list)
    read_at = models.DateTimeField(help_text="When it registered, or its document was read.")

    def __str__(self) -> str:
        return self.name


class Connection(ProjectRow):
    """What a person lets a program do in a project; its access token is a key, which it renews."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    client = models.ForeignKey(OAuthClient, on_delete=models.CASCADE, related_name="+")
    scopes = JSONTextField(default=list)
    branch_patterns = JSONTextField(default=list)
    resource = models.CharField(max_length=200, blank=True, help_text="Path of this server; empty is all.")
    redirect_uri = models.TextField()
    code_hash = FixedCharField(max_length=64, unique=True, editable=False)
    code_challenge = models.CharField(max_length=128, editable=False)
    code_expires_at = models.DateTimeField()
    code_used_at = models.DateTimeField(null=True, blank=True)
    # Every refresh token of a connection has the family; only the newest has the other hash.
    family_hash = FixedCharField(max_length=64, null=True, unique=True, editable=False)
    refresh_hash = models.CharField(max_length=64, blank=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.client} · {self.user}"

    @property
    def label(self) -> str:
        """Return how the trail and commits name it: the program, and who connected it."""
        name = f"{self.client.name} · {self.user.get_username()}"
        return name if len(name) <= 200 else f"{name[:199]}…"

    @property
    def ended(self) -> bool:
        """Return whether it opens nothing any more."""
        return bool(self.revoked_at) or (self.expires_at is not None and self.expires_at <= timezone.now())

    @property
    def client_name(self) -> str:
        return self.client.name

    @property
    def client_id_text(self) -> str:
        return self.client.client_id

    @property
    def username(self) -> str:
        return str(self.user.get_username())

    @property
    def last_used_at(self) -> datetime | None:
        used: datetime | None = self.key.last_used_at
        return used
