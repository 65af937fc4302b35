"""Hook events that were ingested already."""

from django.db import models
from django_mysql.models import FixedCharField

from memory.models.projects import Project


class IngestedEvent(models.Model):
    """One event, by a hash of its client, session, agent, name and own id: it is ingested only once."""

    id = FixedCharField(max_length=64, primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(db_index=True)
