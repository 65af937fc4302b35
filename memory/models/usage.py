"""What a project stores, and its own quota."""

from django.db import models

from memory.models.projects import Project


class ProjectUsage(models.Model):
    """Rows and bytes of a project, counted beside the writes and counted anew by a task.

    ``max_rows`` and ``max_bytes`` are its own quota: None is that of the server, 0 is no bound.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="usage")
    rows = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True, help_text="When it was last counted; None: it is due.")
    max_rows = models.BigIntegerField(null=True)
    max_bytes = models.BigIntegerField(null=True)
