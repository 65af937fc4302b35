"""What a project wants remembered, version by version."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.db.fields import JSONTextField
from memory.models.projects import ProjectRow


class Instructions(ProjectRow):
    """A version of a project's instructions; the one with the highest number holds."""

    class Preset(models.TextChoices):
        CODING = "coding", _("Work on code")
        ASSISTANT = "assistant", _("A person’s assistant")
        SUPPORT = "support", _("Support of customers")
        OWN = "own", _("Words of your own")

    number = models.PositiveIntegerField()
    preset = models.CharField(max_length=20, choices=Preset.choices)
    text = models.TextField()
    categories = JSONTextField(default=list)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="one_instruction_of_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.project_id} {self.number}"
