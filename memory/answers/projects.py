"""What is answered of a project: its settings."""

from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer, page_shape
from memory.engines.fields.base import Use
from memory.engines.fields.projects import PROJECT
from memory.engines.support.pagination import Page
from memory.models import Project


@d.declare_fields(PROJECT.select_fields(Use.ANSWER))
class ProjectShape(d.AnswerShape):
    """A project with its settings."""


class ProjectPageShape(s.Serializer):
    results = ProjectShape(many=True)
    next = s.CharField(allow_null=True, help_text="A cursor, or null.")
    previous = s.CharField(allow_null=True, help_text="A cursor, or null.")


set_override(ProjectPageShape, "many", False)
render = build_renderer(ProjectShape)


def render_alone(project: Project) -> dict[str, Any]:
    """Return the page that has one project."""
    return page_shape(Page([project], None, None), render)
