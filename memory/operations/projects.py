"""What may be done with the project of a key: its settings."""

from memory.answers.projects import ProjectPageShape, ProjectShape, render, render_alone
from memory.engines.access.projects import ProjectSettingsEngine
from memory.engines.fields.base import Use
from memory.engines.fields.projects import PROJECT
from memory.models import Project
from memory.operations.base import Answer, Resource, Row

engine = ProjectSettingsEngine()
ROW = Answer(ProjectShape, render)

PROJECTS = Resource("projects", "project", row=Row("slug", "slug"), model=Project)
PROJECTS.add(
    "list",
    engine.get_project,
    "The project of this key, alone",
    Answer(ProjectPageShape, render_alone),
    without=("slug",),
)
PROJECTS.add("retrieve", engine.get_project, "Read the settings of the project", ROW)
PROJECTS.add(
    "partial_update",
    engine.update_project,
    "Change settings of the project",
    ROW,
    body="ProjectInput",
    about="Settings of a project; what is not given stays as it is.",
    fields=PROJECT.select_fields(Use.UPDATE),
)
