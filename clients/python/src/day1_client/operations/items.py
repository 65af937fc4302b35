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


class Items(Group):
    """The operations of items."""

    def batch(
        self, calls: Sequence[t.ItemCallInput], *, idempotency_key: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        session_id: str | None = None, task_id: str | None = None, user_id: str | None = None,
        wait: t.Wait | None = None,
    ) -> t.ItemResults:
        """Put, get, delete and search up to 1,000 items at once."""
        return self._send("items.batch", "POST /items/batch", locals(), query="wait")

    def delete(
        self, namespace: str, key: str, *, if_match: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, expected_version: int | None = None,
        session_id: str | None = None, task_id: str | None = None, user_id: str | None = None,
    ) -> None:
        """Delete the item under a key."""
        return self._send("items.delete", "DELETE /items/{namespace}/{key}", locals())

    def get(
        self, namespace: str, key: str, *, if_none_match: str | None = None, app_id: str | None = None,
        at: t.At | None = None, branch: str | None = None, renew: bool | None = None,
        user_id: str | None = None,
    ) -> t.Item:
        """Read the item under a key."""
        return self._send("items.get", "GET /items/{namespace}/{key}", locals())

    def list(
        self, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        cursor: str | None = None, limit: int | None = None, prefix: str | None = None,
        user_id: str | None = None, where: str | None = None,
    ) -> Page[t.Item, t.ItemPage]:
        """List items in the order of namespace and key."""
        return self._page("items.list", "GET /items", locals())

    def namespaces(
        self, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        depth: int | None = None, limit: int | None = None, offset: int | None = None,
        prefix: str | None = None, suffix: str | None = None, user_id: str | None = None,
    ) -> t.Namespaces:
        """List the namespaces of items."""
        return self._send("items.namespaces", "GET /items/namespaces", locals())

    def put(
        self, namespace: str, key: str, value: Any, *, if_match: str | None = None,
        if_none_match: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, category: str | None = None, confidence: float | None = None,
        embed: bool | None = None, expected_version: int | None = None,
        expires_at: t.When | Null | None = None, metadata: Mapping[str, Any] | None = None,
        only_new: bool | None = None, only_present: bool | None = None, repository: str | None = None,
        session_id: str | None = None, source: str | None = None, tags: Sequence[str] | None = None,
        task_id: str | None = None, text: str | None = None, ttl: int | Null | None = None,
        user_id: str | None = None, visibility: t.Visibility | None = None, wait: t.Wait | None = None,
    ) -> t.WrittenItem:
        """Make or replace the item under a key."""
        return self._send("items.put", "PUT /items/{namespace}/{key}", locals(), query="wait", nulls="value")


class AsyncItems(AsyncGroup):
    """The operations of items, to be awaited."""

    batch = awaits(Items.batch)
    delete = awaits(Items.delete)
    get = awaits(Items.get)
    list = pages(Items.list)
    namespaces = awaits(Items.namespaces)
    put = awaits(Items.put)
