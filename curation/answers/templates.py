"""What is answered of templates."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers as s

from curation.engines.fields.templates import MEANING, TEMPLATE, TEMPLATE_USE, TEMPLATE_VERSION
from curation.engines.templates.engine import Instance, TemplateDetail
from curation.engines.templates.ranking import TemplateMatch
from curation.engines.templates.rows import measure_success, name_branch
from curation.models import Template
from memory.answers import copies as copy_shapes
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(TEMPLATE.select_fields(Use.ANSWER))
class TemplateShape(d.AnswerShape):
    """A template."""

    branch = s.CharField(help_text="The read-only branch of its newest version.")
    success_rate = s.FloatField(help_text="Of the work that ended; 0.5 before any did.")


TemplateVersionShape = d.declare_answer(TEMPLATE_VERSION, "A version of a template.")


@d.declare_fields(TEMPLATE_USE.select_fields(Use.ANSWER))
class TemplateUseShape(d.AnswerShape):
    """A branch that began from a template."""


class TemplateDetailShape(TemplateShape):
    """A template with its versions and uses."""

    versions = TemplateVersionShape(many=True, help_text="The newest first.")
    uses = TemplateUseShape(many=True, help_text="The newest 50, of branches that the key may use.")


class TemplateInstanceShape(TemplateUseShape):
    """A working branch that began from a template."""

    workspace = copy_shapes.WorkspaceShape(allow_null=True, help_text="With the isolation database.")


class TemplateMatchShape(s.Serializer):
    """A template that fits, and why."""

    template = TemplateShape()
    type_matches = s.BooleanField(help_text="Whether it is for this kind of work.")
    meaning = d.answer_field(MEANING)


class TemplateMatchesShape(s.Serializer):
    results = TemplateMatchShape(many=True, help_text="The best first; none where none fits.")


_render_row = build_renderer(TemplateShape, "branch", "success_rate")
render_version = build_renderer(TemplateVersionShape)
render_use = build_renderer(TemplateUseShape)


def render_template(row: Template) -> dict[str, Any]:
    """Return a template as a list has it."""
    branch = name_branch(row.name, row.version)
    return _render_row(row, branch=branch, success_rate=round(measure_success(row), 3))


def render_detail(found: TemplateDetail) -> dict[str, Any]:
    """Return a template with its versions and uses."""
    return render_template(found.template) | {
        "versions": [render_version(one) for one in found.versions],
        "uses": [render_use(one) for one in found.uses],
    }


def render_instance(made: Instance) -> dict[str, Any]:
    """Return a working branch that began from a template."""
    workspace = copy_shapes.workspace(made.workspace) if made.workspace else None
    return render_use(made.use) | {"workspace": workspace}


def render_match(found: TemplateMatch) -> dict[str, Any]:
    meaning = round(found.meaning, 3)
    return {
        "template": render_template(found.template),
        "type_matches": found.type_matches,
        "meaning": meaning,
    }


def render_matches(found: Sequence[TemplateMatch]) -> dict[str, Any]:
    return {"results": [render_match(one) for one in found]}
