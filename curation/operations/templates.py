"""What may be done with templates."""

from django.utils.translation import gettext_lazy as _

from curation.answers import templates as shapes
from curation.engines.fields.templates import TEMPLATE, TEMPLATE_FILTERS, TEMPLATE_USE, USING
from curation.engines.orders import TEMPLATES as ORDER
from curation.engines.templates.engine import TemplateEngine
from curation.models import Template
from memory.answers import branches as branch_shapes
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = TemplateEngine()
ROW = Answer(shapes.TemplateShape, shapes.render_template)

TEMPLATES = Resource("templates", "template", row=Row("name", "name"), model=Template, origin=STATED)
TEMPLATES.add(
    "create",
    engine.create_template,
    "Make a template of a branch",
    ROW,
    body="TemplateInput",
    about="A new template.",
    fields=TEMPLATE.select_fields(Use.CREATE),
)
TEMPLATES.add(
    "list", engine.list_templates, "List templates by name", ROW, filters=TEMPLATE_FILTERS, order=ORDER
)
TEMPLATES.show(
    "list",
    Column("name", _("Template"), "name", tone="text"),
    Column("version", _("Version"), "version", "number"),
    Column("state", head="state"),
    Column("task_types", head="types"),
    Column("used", _("Used"), "used", "number"),
    Column("succeeded", _("Succeeded"), "succeeded", "number"),
    Column("failed", _("Failed"), "failed", "number"),
    Column("updated_at", _("Renewed"), "updated", "time"),
    Column("description", head="text"),
)
TEMPLATES.add_read(
    "find",
    engine.find_template,
    "Find the template for a task",
    Answer(shapes.TemplateMatchesShape, shapes.render_matches),
    of_row=False,
)
TEMPLATES.add(
    "retrieve",
    engine.get_template,
    "Read a template",
    Answer(shapes.TemplateDetailShape, shapes.render_detail),
)
TEMPLATES.add_read(
    "diff",
    engine.diff_template,
    "Compare two versions",
    Answer(branch_shapes.DiffShape, branch_shapes.diff_shape, takes=("kind",), is_whole=True),
)
TEMPLATES.add(
    "instantiate",
    engine.instantiate_template,
    "Begin a branch from a template",
    Answer(shapes.TemplateInstanceShape, shapes.render_instance, codes=(201,)),
    body="TemplateUseInput",
    about="A working branch that begins from a template.",
    origin=USING,
    is_long=True,
)
TEMPLATES.add(
    "add_version",
    engine.update_template,
    "Add a version",
    ROW,
    path="update",  # the router's own update is a PUT
    body="TemplateUpdateInput",
    about="A new version of a template.",
    fields=TEMPLATE.select_fields(Use.UPDATE),
)
TEMPLATES.add(
    "deprecate",
    engine.deprecate_template,
    "Deprecate a template",
    ROW,
    body="TemplateDeprecateInput",
    about="Why it is not to be used any more.",
    fields=(TEMPLATE["reason"],),
)
TEMPLATES.add(
    "outcome",
    engine.record_outcome,
    "Say what came of the work",
    Answer(shapes.TemplateUseShape, shapes.render_use),
    body="TemplateOutcomeInput",
    about="The branch of the work, and what came of it.",
    fields=(TEMPLATE_USE["outcome"],),
)
