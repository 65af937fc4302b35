"""Columns in which people and programs may have repeated a text that is erased."""

from dataclasses import dataclass
from typing import Any

from memory.extensions import load_extensions
from memory.models import (
    AgentTask,
    Branch,
    Commit,
    FactAssessment,
    MergeDecision,
    MergeRequest,
    Question,
    RecallLog,
    Session,
    Snapshot,
    TaskObjective,
    Vector,
    Workspace,
)


@dataclass(frozen=True)
class TracedColumns:
    """Columns of a model, with the path to its project.

    ``about`` is the field that names the one memory that they are about: they go with it, whatever they say.
    """

    model: Any
    names: tuple[str, ...]
    project: str = "project"
    about: str = ""


COLUMNS = (
    TracedColumns(Session, ("summary", "context")),
    TracedColumns(RecallLog, ("query",)),
    TracedColumns(Question, ("text", "note", "category")),
    TracedColumns(Commit, ("message",), "branch__project"),
    TracedColumns(Branch, ("purpose",)),
    TracedColumns(Snapshot, ("description",)),
    TracedColumns(Workspace, ("description",)),
    TracedColumns(FactAssessment, ("reason",), "branch__project"),
    TracedColumns(Vector, ("error",)),
    TracedColumns(MergeRequest, ("title", "description", "reason")),
    TracedColumns(MergeDecision, ("text",), "request__project", about="uid"),
    TracedColumns(AgentTask, ("name", "description", "result")),
    TracedColumns(TaskObjective, ("text", "note"), "task__project"),
)


def list_columns() -> list[TracedColumns]:
    """Return the columns of this app and of those to its right."""
    others = load_extensions("traced_columns").values()
    return [*COLUMNS, *(one for columns in others for one in columns)]
