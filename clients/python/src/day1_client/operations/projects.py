"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Projects(Group):
    """The operations of projects."""

    def create(
        self, slug: str, *, idempotency_key: str | None = None, age_facts: bool | None = None,
        category_ttl_days: Mapping[str, Any] | None = None, consolidate_agents: bool | None = None,
        dream_allow_zero_confirmation: bool | None = None, dream_cohesion: float | None = None,
        dream_every_n_cycles: int | None = None, dream_min_age_cycles: int | None = None,
        dream_min_size: int | None = None, dream_origins: str | None = None,
        durable_categories: str | None = None, fact_budget: int | Null | None = None,
        key: t.FirstKeyInput | Null | None = None, least_evidence: float | Null | None = None,
        limits: Mapping[str, Any] | None = None, member_limit: int | Null | None = None,
        members: Sequence[t.NewMemberInput] | None = None, name: str | None = None,
        propose_reflections: bool | None = None, recipe: str | None = None,
        redact_secrets: bool | None = None, require_second_factor: bool | None = None,
        stale_after_days: int | Null | None = None, template: str | None = None,
        user_fact_limit: int | Null | None = None,
    ) -> t.NewProject:
        """Make a project, with what a template says, members and a first key."""
        return self._send("projects.create", "POST /projects", locals())

    def delete(self, slug: str, *, confirm: str | None = None) -> t.Removal:
        """Remove a project with all that it holds."""
        return self._send("projects.delete", "DELETE /projects/{slug}", locals())

    def get(self, slug: str, *, if_none_match: str | None = None) -> t.Project:
        """Read the settings of a project."""
        return self._send("projects.get", "GET /projects/{slug}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, name: str | None = None, ordering:
        Literal["slug", "-slug", "name", "-name", "-created_at", "created_at"] | None = None,
        slug: str | None = None,
    ) -> Page[t.Project, t.ProjectPage]:
        """List the project of this key; all projects for a key of the server."""
        return self._page("projects.list", "GET /projects", locals())

    def update(
        self, slug: str, *, if_match: str | None = None, age_facts: bool | None = None,
        category_ttl_days: Mapping[str, Any] | None = None, consolidate_agents: bool | None = None,
        dream_allow_zero_confirmation: bool | None = None, dream_cohesion: float | None = None,
        dream_every_n_cycles: int | None = None, dream_min_age_cycles: int | None = None,
        dream_min_size: int | None = None, dream_origins: str | None = None,
        durable_categories: str | None = None, expected_version: int | None = None,
        fact_budget: int | Null | None = None, least_evidence: float | Null | None = None,
        limits: Mapping[str, Any] | None = None, member_limit: int | Null | None = None,
        name: str | None = None, propose_reflections: bool | None = None, recipe: str | None = None,
        redact_secrets: bool | None = None, require_second_factor: bool | None = None,
        stale_after_days: int | Null | None = None, user_fact_limit: int | Null | None = None,
    ) -> t.Project:
        """Change settings of a project."""
        return self._send("projects.update", "PATCH /projects/{slug}", locals())


class AsyncProjects(AsyncGroup):
    """The operations of projects, to be awaited."""

    create = awaits(Projects.create)
    delete = awaits(Projects.delete)
    get = awaits(Projects.get)
    list = pages(Projects.list)
    update = awaits(Projects.update)
