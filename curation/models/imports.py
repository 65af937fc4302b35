"""Imports: what another product remembered, on a branch apart, with what became of each of its records."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.branches import Branch
from memory.models.projects import MadeRow, ProjectRow


class MemoryImport(ProjectRow, MadeRow):
    """One file or folder of another product. Its facts stand on its branch; here is what is no fact."""

    class Product(models.TextChoices):
        BASIC_MEMORY = "basic-memory"
        CLAUDE_MEM = "claude-mem"
        ENGRAVA = "engrava"
        GRAPHITI = "graphiti"
        LANGGRAPH = "langgraph"
        LETTA = "letta"
        MCP_MEMORY = "mcp-memory"
        MEM0 = "mem0"
        ZEP = "zep"

    class State(models.TextChoices):
        READING = "reading"
        FINISHED = "finished"
        PROPOSED = "proposed"

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    product = models.CharField(max_length=20, choices=Product.choices)
    file = models.CharField(max_length=200, blank=True, help_text="Its name, without the folder.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.READING)
    counts = JSONTextField(default=dict, help_text="What became of the records of the last run -> how many.")
    named = JSONTextField(default=list, help_text="The first records that are no fact of their own, and why.")
    request = models.UUIDField(null=True, help_text="The merge request that brings the rest on.")
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["branch"], name="import_branch")]
        indexes = [models.Index(fields=["project", "state"], name="import_state")]

    def __str__(self) -> str:
        return f"{self.product} {self.file}".strip()
