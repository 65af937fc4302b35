"""End users: the people whom an agent serves, each with memory of their own."""

from typing import Any

from django.db import models

from memory.db.lineage import EVERYBODY, EndUser


class OfEndUser(models.Model):
    """A row that may belong to an end user and an app; "" where it belongs to nobody in particular.

    It stays with whom it was written for.
    """

    user_id = models.CharField(max_length=200, blank=True, default="")
    app_id = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        abstract = True


OF_NOBODY = {"user_id": "", "app_id": ""}  # the condition of what leaves a project for others


def get_owner(row: Any) -> EndUser:
    """Return the end user and the app that a row belongs to."""
    return EndUser(row.user_id, row.app_id) if row.user_id or row.app_id else EVERYBODY


def is_of_another(one: Any, other: Any) -> bool:
    """Return whether two rows belong to different end users or apps: they are never compared."""
    return get_owner(one) != get_owner(other)
