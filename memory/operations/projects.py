"""What may be done with projects: a key reads and changes its own, who keeps the server all of them."""

from django.utils.translation import gettext_lazy as _

from memory.answers import projects as shapes
from memory.engines.access.projects import ProjectEngine
from memory.engines.fields.base import Use
from memory.engines.fields.orders import PROJECTS as ORDER
from memory.engines.fields.projects import PROJECT, PROJECT_FILTERS
from memory.models import Project
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = ProjectEngine()
ROW = Answer(shapes.ProjectShape, shapes.render)
SETTINGS = PROJECT.select_fields(Use.UPDATE)

PROJECTS = Resource("projects", "project", row=Row("project_slug", "slug"), model=Project, is_of_server=True)
PROJECTS.add(
    "create",
    engine.create_project,
    "Make a project, with what a template says, members and a first key",
    Answer(shapes.NewProjectShape, shapes.render_new, codes=(201,), untold={"token": None}),
    body="NewProjectInput",
    about="A new project. All but its slug may be left out.",
    fields=SETTINGS,
    without=("began", "prepare"),
    example={"slug": "acme", "name": "Acme", "template": "support", "key": {"scopes": ["write"]}},
)
PROJECTS.add(
    "list",
    engine.list_projects,
    "List the project of this key; all projects for a key of the server",
    ROW,
    filters=PROJECT_FILTERS,
    order=ORDER,
)
PROJECTS.show(
    "list",
    Column("slug", _("Name in addresses"), "slug", order="slug"),
    Column("name", _("Name"), "name", order="name"),
    Column("state", _("State"), "state", "word"),
    Column("created_at", _("Made"), "made", "time"),
)
PROJECTS.add("retrieve", engine.get_project, "Read the settings of a project", ROW)
PROJECTS.add(
    "partial_update",
    engine.update_project,
    "Change settings of a project",
    ROW,
    body="ProjectInput",
    about="Settings of a project; what is not given stays as it is.",
    fields=SETTINGS,
)
PROJECTS.add(
    "destroy",
    engine.remove_project,
    "Remove a project with all that it holds",
    Answer(
        shapes.RemovalShape,
        shapes.render_removal,
        codes=(200, 202),
        choose_code=lambda removal: 200 if removal.is_done else 202,
    ),
    without=("check",),
)
