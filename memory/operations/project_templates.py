"""What may be done with templates of projects, and the trail of what is done with whole projects."""

from memory.answers import projects as shapes
from memory.engines.access.project_templates import ProjectTemplateEngine
from memory.engines.fields.base import Use
from memory.engines.fields.project_templates import PROJECT_TEMPLATE
from memory.models import ProjectTemplate
from memory.operations.base import GONE, Answer, Resource, Row

engine = ProjectTemplateEngine()
ROW = Answer(shapes.ProjectTemplateShape, shapes.render_template)

TEMPLATES = Resource(
    "project-templates",
    "project-template",
    row=Row("name", "name"),
    model=ProjectTemplate,
    is_of_server=True,
)
TEMPLATES.add(
    "create",
    engine.create_template,
    "Make a template of projects, of a project or of what is given",
    ROW,
    body="ProjectTemplateInput",
    about="A new template: what a project has, what is given, or both.",
    fields=PROJECT_TEMPLATE.select_fields(Use.CREATE),
    example={"name": "support", "project": "acme"},
)
TEMPLATES.add("list", engine.list_templates, "List templates of projects by name", ROW)
TEMPLATES.add("retrieve", engine.get_template, "Read a template of projects", ROW)
TEMPLATES.add("destroy", engine.delete_template, "Delete a template of projects", GONE)
