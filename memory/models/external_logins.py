"""Accounts at a login provider, and the second factors of accounts here."""

from hashlib import sha256

from django.conf import settings
from django.db import models
from django_mysql.models import FixedCharField


class ExternalLogin(models.Model):
    """An account at a provider that logs in a user of this server. A provider names it by its subject alone:
    names and addresses change hands.
    """

    id = FixedCharField(max_length=64, primary_key=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    issuer = models.TextField()
    subject = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"

    @staticmethod
    def build_id(issuer: str, subject: str) -> str:
        """Return the key of an account: what names it may be longer than a database compares."""
        return sha256(f"{issuer}\n{subject}".encode("utf-8", "replace")).hexdigest()
