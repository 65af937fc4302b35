"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Observations(Group):
    """The operations of observations."""

    def create(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, embed: bool | None = None, message_id: str | Null | None = None,
        metadata: Mapping[str, Any] | None = None, observation_type: t.ObservationType | None = None,
        outcome: t.OutcomeValue | None = None, parent_id: str | Null | None = None, raw_input: Any = None,
        raw_output: Any = None, session_id: str | None = None, summary: str | None = None,
        task_id: str | None = None, tool_name: str | None = None, user_id: str | None = None,
    ) -> t.Observation:
        """Record an observation."""
        return self._send("observations.create", "POST /observations", locals())

    def delete(
        self, id: str, *, if_match: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, drop_copies: bool | None = None, erase: bool | None = None,
        expected_version: int | None = None, session_id: str | None = None, task_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Erasure | None:
        """Delete an observation."""
        return self._send("observations.delete", "DELETE /observations/{id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, after: t.When | None = None, agent_id: str | None = None,
        app_id: Sequence[str] | None = None, before: t.When | None = None, branch: str | None = None,
        dry_run: bool | None = None, ids: Sequence[str] | None = None, observation_type:
        Sequence[t.ObservationType] | None = None, outcome: Sequence[t.OutcomeValue] | None = None,
        repository: str | None = None, session_id: str | None = None, task_id: str | None = None,
        tool_name: Sequence[str] | None = None, user_id: Sequence[str] | None = None,
    ) -> t.Deletion:
        """Delete the observations that fit."""
        return self._send("observations.delete_many", "POST /observations/delete", locals())

    def deleted(
        self, *, app_id: str | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, session_id: str | None = None, user_id: str | None = None,
    ) -> Page[t.Observation, t.ObservationPage]:
        """List the deleted observations that can be restored."""
        return self._page("observations.deleted", "GET /observations/deleted", locals())

    def get(
        self, id: str, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        user_id: str | None = None,
    ) -> t.Observation:
        """Read an observation."""
        return self._send("observations.get", "GET /observations/{id}", locals())

    def list(
        self, *, after: t.When | None = None, agent_id: str | Sequence[str] | None = None,
        app_id: str | Sequence[str] | None = None, at: t.At | None = None, before: t.When | None = None,
        branch: str | None = None, cursor: str | None = None, limit: int | None = None, observation_type:
        t.ObservationType | Sequence[t.ObservationType] | None = None, ordering: t.Ordering | None = None,
        outcome: t.OutcomeValue | Sequence[t.OutcomeValue] | None = None, repository: str | None = None,
        session_id: str | Sequence[str] | None = None, task_id: str | Sequence[str] | None = None,
        tool_name: str | Sequence[str] | None = None, user_id: str | Sequence[str] | None = None,
    ) -> Page[t.Observation, t.ObservationPage]:
        """List observations, newest first."""
        return self._page("observations.list", "GET /observations", locals(), plain="agent_id")

    def restore(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None,
    ) -> t.Observation:
        """Restore a deleted observation."""
        return self._send("observations.restore", "POST /observations/{id}/restore", locals())

    def search(
        self, q: str, *, after: t.When | None = None, agent_id: str | Sequence[str] | None = None,
        app_id: str | Sequence[str] | None = None, at: t.At | None = None, before: t.When | None = None,
        branch: str | None = None, limit: int | None = None, observation_type: t.ObservationType |
        Sequence[t.ObservationType] | None = None, outcome: t.OutcomeValue | Sequence[t.OutcomeValue] | None =
        None, recipe: t.Recipe | None = None, repository: str | None = None,
        search_type: t.SearchType | None = None, session_id: str | Sequence[str] | None = None,
        task_id: str | Sequence[str] | None = None, tool_name: str | Sequence[str] | None = None,
        user_id: str | Sequence[str] | None = None,
    ) -> t.ObservationsFound:
        """Search observations."""
        return self._send("observations.search", "GET /observations/search", locals(), plain="agent_id")

    def timeline(
        self, *, after: t.When | None = None, agent_id: str | Sequence[str] | None = None,
        app_id: str | Sequence[str] | None = None, before: t.When | None = None, branch: str | None = None,
        cursor: str | None = None, limit: int | None = None, observation_type: t.ObservationType |
        Sequence[t.ObservationType] | None = None, outcome: t.OutcomeValue | Sequence[t.OutcomeValue] | None =
        None, repository: str | None = None, session_id: str | Sequence[str] | None = None,
        task_id: str | Sequence[str] | None = None, tool_name: str | Sequence[str] | None = None,
        user_id: str | Sequence[str] | None = None,
    ) -> Page[t.Observation, t.ObservationPage]:
        """What was observed between two times."""
        return self._page("observations.timeline", "GET /observations/timeline", locals(), plain="agent_id")


class AsyncObservations(AsyncGroup):
    """The operations of observations, to be awaited."""

    create = awaits(Observations.create)
    delete = awaits(Observations.delete)
    delete_many = awaits(Observations.delete_many)
    deleted = pages(Observations.deleted)
    get = awaits(Observations.get)
    list = pages(Observations.list)
    restore = awaits(Observations.restore)
    search = awaits(Observations.search)
    timeline = pages(Observations.timeline)
