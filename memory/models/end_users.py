"""End users: the people whom an agent serves, each with memory of their own."""

from django.db import models


class OfEndUser(models.Model):
    """A row that may belong to an end user and an app; "" where it belongs to nobody in particular.

    It stays with whom it was written for.
    """

    user_id = models.CharField(max_length=200, blank=True, default="")
    app_id = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        abstract = True
