"""Tallies that are stored: figures of a branch at one commit, from which those of another are derived."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models import Branch


class StoredTally(models.Model):
    """How many memories a branch showed at a seq, by some columns. It can be made anew at any time."""

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    measure = models.CharField(max_length=50)
    seq = models.BigIntegerField()
    versions = models.BigIntegerField(help_text="Versions written up to it, of the kinds that it counts.")
    counts = JSONTextField(default=list, help_text="[values of the columns, count] of each group.")
    made_at = models.DateTimeField(help_text="When its rows began to be read.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["branch", "measure", "seq"], name="one_tally_of_a_commit")
        ]

    def __str__(self) -> str:
        return f"{self.measure} at {self.seq}"
