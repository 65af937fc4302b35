"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Relations(Group):
    """The operations of relations."""

    def close(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, session_id: str | None = None, task_id: str | None = None,
        valid_until: t.When | Null | None = None,
    ) -> t.Relation:
        """Say until when it was true."""
        return self._send("relations.close", "POST /relations/{id}/close", locals())

    def create(
        self, source_entity: str, relation_type: str, target_entity: str, *,
        idempotency_key: str | None = None, agent_id: str | None = None, branch: str | None = None,
        confidence: float | None = None, properties: Mapping[str, Any] | None = None,
        session_id: str | None = None, task_id: str | None = None, valid_from: t.When | Null | None = None,
        valid_until: t.When | Null | None = None,
    ) -> t.WrittenRelation:
        """State a relation."""
        return self._send("relations.create", "POST /relations", locals())

    def get(
        self, id: str, *, if_none_match: str | None = None, at: t.At | None = None, branch: str | None = None,
    ) -> t.Relation:
        """Read a relation."""
        return self._send("relations.get", "GET /relations/{id}", locals())

    def graph(
        self, entity: str, *, at: t.At | None = None, branch: str | None = None, depth: int | None = None,
        relation_type: str | None = None,
    ) -> t.Graph:
        """What is connected to an entity."""
        return self._send("relations.graph", "GET /relations/graph", locals())

    def list(
        self, *, at: t.At | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, open_only: bool | None = None, ordering: t.Ordering | None = None,
        relation_type: str | None = None, source: str | None = None, target: str | None = None,
    ) -> Page[t.Relation, t.RelationPage]:
        """List relations."""
        return self._page("relations.list", "GET /relations", locals())


class AsyncRelations(AsyncGroup):
    """The operations of relations, to be awaited."""

    close = awaits(Relations.close)
    create = awaits(Relations.create)
    get = awaits(Relations.get)
    graph = awaits(Relations.graph)
    list = pages(Relations.list)
