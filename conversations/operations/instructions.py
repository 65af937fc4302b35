"""What may be done with what a project wants remembered."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from conversations.answers.remember import (
    InstructionsShape,
    StandingShape,
    render_instructions,
    render_standing,
)
from conversations.engines.instructions import InstructionsEngine
from conversations.models import Instructions
from memory.engines.sessions.standing import list_standing
from memory.operations.base import Answer, Resource
from memory.operations.columns import Column


def render_set(done: tuple[Instructions, bool]) -> dict[str, Any]:
    """Return the instructions that hold now."""
    return render_instructions(done[0])


engine = InstructionsEngine()
ROW = Answer(InstructionsShape, render_instructions)

INSTRUCTIONS = Resource("instructions", "instructions", model=Instructions)
INSTRUCTIONS.add("list", engine.get_instructions, "Read what the project wants remembered", ROW)
INSTRUCTIONS.add(
    "create",
    engine.set_instructions,
    "Set what the project wants remembered",
    Answer(InstructionsShape, render_set, lambda done: done[1]),
    body="InstructionsInput",
    about="What becomes the next version; a preset brings its text and categories.",
)
INSTRUCTIONS.add_read(
    "versions",
    engine.list_versions,
    "List the versions, the newest first",
    ROW,
)
INSTRUCTIONS.add_read(
    "standing",
    list_standing,
    "What holds in a repository, for its files of instructions",
    Answer(StandingShape, render_standing, takes=("repository",)),
)
INSTRUCTIONS.show(
    "versions",
    Column("number", _("Version"), "number", "number"),
    Column("preset", _("For"), "preset"),
    Column("text", _("What is to be remembered"), "text", tone="text", late=2),
    Column("categories", _("Categories"), kind="names", tone="text"),
    Column("created_by", _("By"), "by", late=1),
    Column("created_at", _("Since"), "at", "time"),
)
