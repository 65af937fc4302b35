"""What is answered of projects, of their templates, and of the server's trail."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers.keys import KeyShape
from memory.answers.rendering import build_renderer
from memory.engines.access.project_removal import Removal
from memory.engines.fields.base import Use
from memory.engines.fields.project_templates import PROJECT_TEMPLATE, TEMPLATE_PARTS
from memory.engines.fields.projects import PROJECT
from memory.models import ProjectTemplate


@d.declare_fields(PROJECT.select_fields(Use.ANSWER))
class ProjectShape(d.AnswerShape):
    """A project with its settings."""


class NewProjectShape(ProjectShape):
    """A project that was made, with its first key where one was asked for."""

    key = KeyShape(allow_null=True)
    token = s.CharField(allow_null=True, help_text="Of the key; null in the answer to a repeated request.")


class RemovalShape(s.Serializer):
    """A removal: of a project that is gone, or with the state removing of one that is being taken away."""

    id = s.UUIDField()
    slug = s.CharField()
    state = s.ChoiceField(choices=["removed", "removing"])
    rows = s.IntegerField(help_text="How many there were, every version counted.")
    removed = s.IntegerField(help_text="How many are gone.")
    counts = s.DictField(child=s.IntegerField(), help_text="Kind of row -> how many there were; {} later on.")


ProjectTemplateShape = d.declare_answer(
    PROJECT_TEMPLATE, "A template of projects; a part that it does not have is null."
)


class ServerEntryShape(s.Serializer):
    """An entry of the server's trail."""

    id = s.IntegerField()
    at = s.DateTimeField()
    actor_kind = s.CharField()
    actor_id = s.CharField()
    actor_label = s.CharField()
    surface = s.CharField()
    action = s.CharField()
    target = s.CharField()
    detail = s.DictField()


PART_NAMES = [one.name for one in TEMPLATE_PARTS]
render = build_renderer(ProjectShape)
render_key = build_renderer(KeyShape)
render_entry = build_renderer(ServerEntryShape)
_render_template = build_renderer(ProjectTemplateShape, *PART_NAMES)


def render_new(made: Any) -> dict[str, Any]:
    """Return a new project with its first key and the token of that."""
    key = render_key(made.key) if made.key else None
    return {**render(made.project), "key": key, "token": made.token}


def render_removal(removal: Removal) -> dict[str, Any]:
    """Return how far a removal has come."""
    project = removal.project
    return {
        "id": str(project.pk),
        "slug": project.slug,
        "state": "removed" if removal.is_done else "removing",
        "rows": project.rows_to_remove,
        "removed": project.rows_to_remove if removal.is_done else project.rows_removed,
        "counts": removal.counts,
    }


def render_template(template: ProjectTemplate) -> dict[str, Any]:
    """Return a template with its parts."""
    return _render_template(template, **{name: template.content.get(name) for name in PART_NAMES})
