"""Observations of agents: tool calls with their outcome, decisions, errors, discoveries, insights."""

from typing import Any, ClassVar

from django.db import models
from django_mysql.models import FixedCharField

from memory.command_lines import find_call_key
from memory.db.fields import JSONTextField
from memory.db.indexes import FullTextIndex
from memory.models import hashes
from memory.models.base import ERASED_MARK, Blank, BranchedModel, MemoryKind
from memory.models.end_users import OfEndUser


class Observation(BranchedModel, OfEndUser):
    """A record that nothing changes but a failure known later.

    The full output of a tool, if stored, is in the message ``message_id``.
    """

    class Type(models.TextChoices):
        TOOL_USE = "tool_use"
        DISCOVERY = "discovery"
        DECISION = "decision"
        ERROR = "error"
        INSIGHT = "insight"

    class Outcome(models.TextChoices):
        SUCCESS = "success"
        ERROR = "error"
        TIMEOUT = "timeout"

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "observation",
        title="summary",
        rank=4,
        mappings=frozenset({"metadata"}),
        derived=frozenset({"content_hash", "input_hash"}),
    )
    TEXT: ClassVar[str] = "summary"
    CAPTURED: ClassVar[bool] = True
    GOES_WITH: ClassVar[dict[str, str]] = {"message_id": "message"}
    ERASED: ClassVar[dict[str, Any]] = {
        "summary": ERASED_MARK,
        "raw_input": "",
        "raw_output": "",
        "metadata": {},
        "input_hash": Blank.DIGEST,
        "content_hash": Blank.DIGEST,
    }
    # Commands, and the first lines of what they print, are the same in many sessions.
    QUOTED: ClassVar[dict[str, int]] = {"summary": 32, "raw_input": 120, "raw_output": 120}

    observation_type = models.CharField(max_length=20, choices=Type.choices)
    tool_name = models.CharField(max_length=200, blank=True, default="")
    summary = models.TextField()
    raw_input = models.TextField(blank=True, default="")
    raw_output = models.TextField(blank=True, default="")
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.SUCCESS)
    input_hash = FixedCharField(max_length=32, help_text="Of tool and input: equal for the same call again.")
    parent_id = models.UUIDField(null=True, blank=True, help_text="The observation it follows from.")
    message_id = models.UUIDField(null=True, blank=True, help_text="The message that holds the full text.")
    metadata = JSONTextField(default=dict)
    embed = models.BooleanField(default=False, help_text="Whether it gets a vector.")
    content_hash = FixedCharField(max_length=64, help_text="SHA-256 of the summary: the key of its vector.")

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "session_id", "uid"], name="observation_bsession"),
            models.Index(fields=["branch", "session_id", "input_hash", "uid"], name="observation_bcall"),
            FullTextIndex(
                fields=["summary"],
                tokens=[
                    "observation_type",
                    "tool_name",
                    "outcome",
                    "session_id",
                    "agent_id",
                    "user_id",
                    "app_id",
                ],
                name="memory_observation_fts",
            ),
        ]

    def __str__(self) -> str:
        return self.summary[:80]

    @classmethod
    def embedded_q(cls) -> models.Q:
        return models.Q(embed=True)

    def compute_hashes(self) -> None:
        """Compute the hashes from the content."""
        self.content_hash = hashes.content_hash(self.summary)
        self.input_hash = hashes.norm_hash(find_call_key(self.tool_name, self.raw_input))
