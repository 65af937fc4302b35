"""Work handles: the branch that a program works on, between otherwise independent calls."""

from django.db import models
from django.utils import timezone
from django_mysql.models import FixedCharField

from memory.models.branches import Branch


class WorkHandle(models.Model):
    """A branch and a repository under a secret name of its owner. Only the hash of the name is stored."""

    hash = FixedCharField(max_length=64, primary_key=True)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    repository = models.CharField(max_length=1000, blank=True, default="")
    owner = models.CharField(max_length=100, help_text="The key or user that it is bound to.")
    used_at = models.DateTimeField(default=timezone.now, db_index=True)
