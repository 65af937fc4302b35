"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Keys(Group):
    """The operations of keys."""

    def create(
        self, label: str, scopes: Sequence[t.Scopes], *, idempotency_key: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch_patterns: Sequence[str] | None = None,
        default_branch: str | None = None, expires_at: t.When | Null | None = None,
        max_bytes: int | None = None, max_daily_writes: int | None = None, max_facts: int | None = None,
        max_streams: int | None = None, rate_per_minute: int | None = None, user_id: str | None = None,
    ) -> t.NewKey:
        """Make an API key; its token is told once."""
        return self._send("keys.create", "POST /keys", locals(), plain="agent_id app_id user_id")

    def list(
        self, *, agent_id: str | None = None, cursor: str | None = None, limit: int | None = None, ordering:
        Literal["-created_at", "created_at", "label", "-label", "agent_id", "-agent_id", "-last_used_at",
        "last_used_at", "expires_at", "-expires_at"] | None = None, state: Literal["valid", "expired",
        "revoked"] | None = None, user_id: str | None = None,
    ) -> Page[t.Key, t.KeyPage]:
        """List the project's keys, newest first."""
        return self._page("keys.list", "GET /keys", locals(), plain="agent_id user_id")

    def revoke(self, id: str, *, idempotency_key: str | None = None) -> t.Key:
        """End a key."""
        return self._send("keys.revoke", "POST /keys/{id}/revoke", locals())

    def rotate(
        self, id: str, *, idempotency_key: str | None = None, grace_seconds: int | None = None,
        take_over: bool | None = None,
    ) -> t.NewKey:
        """A new key in the place of an old one."""
        return self._send("keys.rotate", "POST /keys/{id}/rotate", locals())


class AsyncKeys(AsyncGroup):
    """The operations of keys, to be awaited."""

    create = awaits(Keys.create)
    list = pages(Keys.list)
    revoke = awaits(Keys.revoke)
    rotate = awaits(Keys.rotate)
