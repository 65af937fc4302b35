"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from day1_client import types as t
    from day1_client.pages import Page


class ProjectTemplates(Group):
    """The operations of project_templates."""

    def create(
        self, name: str, *, idempotency_key: str | None = None, instructions: Mapping[str, Any] | None = None,
        members: Sequence[Mapping[str, Any]] | None = None,
        policies: Sequence[Mapping[str, Any]] | None = None, project: str | None = None,
        rules_off: Sequence[str] | None = None, settings: Mapping[str, Any] | None = None,
    ) -> t.ProjectTemplate:
        """Make a template of projects, of a project or of what is given."""
        return self._send("project_templates.create", "POST /project-templates", locals())

    def delete(self, name: str) -> None:
        """Delete a template of projects."""
        return self._send("project_templates.delete", "DELETE /project-templates/{name}", locals())

    def get(self, name: str) -> t.ProjectTemplate:
        """Read a template of projects."""
        return self._send("project_templates.get", "GET /project-templates/{name}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.ProjectTemplate, t.ProjectTemplatePage]:
        """List templates of projects by name."""
        return self._page("project_templates.list", "GET /project-templates", locals())


class AsyncProjectTemplates(AsyncGroup):
    """The operations of project_templates, to be awaited."""

    create = awaits(ProjectTemplates.create)
    delete = awaits(ProjectTemplates.delete)
    get = awaits(ProjectTemplates.get)
    list = pages(ProjectTemplates.list)
