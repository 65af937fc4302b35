"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Templates(Group):
    """The operations of templates."""

    def create(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        at: t.At | None = None, description: str | None = None, session_id: str | None = None,
        source_branch: str | None = None, task_id: str | None = None, task_types: Sequence[str] | None = None,
    ) -> t.Template:
        """Make a template of a branch."""
        return self._send("templates.create", "POST /templates", locals())

    def deprecate(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        reason: str | None = None, session_id: str | None = None, task_id: str | None = None,
    ) -> t.Template:
        """Deprecate a template."""
        return self._send("templates.deprecate", "POST /templates/{name}/deprecate", locals())

    def diff(
        self, name: str, before: int, *, after: int | None = None, change: t.ChangeValue |
        Sequence[t.ChangeValue] | None = None, cursor: str | None = None, limit: int | None = None,
        type: t.Type | None = None,
    ) -> Page[t.Difference, t.Diff]:
        """Compare two versions."""
        return self._page("templates.diff", "GET /templates/{name}/diff", locals())

    def find(
        self, *, description: str | None = None, limit: int | None = None, task_type: str | None = None,
    ) -> t.TemplateMatches:
        """Find the template for a task."""
        return self._send("templates.find", "GET /templates/find", locals())

    def get(self, name: str, *, if_none_match: str | None = None) -> t.TemplateDetail:
        """Read a template."""
        return self._send("templates.get", "GET /templates/{name}", locals())

    def instantiate(
        self, name: str, target_branch: str, *, idempotency_key: str | None = None,
        agent_id: str | None = None, isolation: t.Isolation | None = None, session_id: str | None = None,
        task_id: str | None = None, version: int | None = None,
    ) -> t.TemplateInstance:
        """Begin a branch from a template."""
        return self._send("templates.instantiate", "POST /templates/{name}/instantiate", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["name", "-name",
        "-updated_at", "updated_at", "-created_at", "created_at"] | None = None,
        state: Literal["active", "deprecated"] | None = None, task_type: str | None = None,
    ) -> Page[t.Template, t.TemplatePage]:
        """List templates by name."""
        return self._page("templates.list", "GET /templates", locals())

    def outcome(
        self, name: str, outcome: Literal["success", "failure"], *, idempotency_key: str | None = None,
        agent_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None,
    ) -> t.TemplateUse:
        """Say what came of the work."""
        return self._send("templates.outcome", "POST /templates/{name}/outcome", locals())

    def update(
        self, name: str, new_source: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        at: t.At | None = None, description: str | None = None, session_id: str | None = None,
        task_id: str | None = None, task_types: Sequence[str] | None = None,
    ) -> t.Template:
        """Add a version."""
        return self._send("templates.update", "POST /templates/{name}/update", locals())


class AsyncTemplates(AsyncGroup):
    """The operations of templates, to be awaited."""

    create = awaits(Templates.create)
    deprecate = awaits(Templates.deprecate)
    diff = pages(Templates.diff)
    find = awaits(Templates.find)
    get = awaits(Templates.get)
    instantiate = awaits(Templates.instantiate)
    list = pages(Templates.list)
    outcome = awaits(Templates.outcome)
    update = awaits(Templates.update)
