"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Webhooks(Group):
    """The operations of webhooks."""

    def create(
        self, url: str, *, idempotency_key: str | None = None, branches: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
    ) -> t.NewWebhook:
        """Make a webhook; its secret is told once."""
        return self._send("webhooks.create", "POST /webhooks", locals())

    def delete(self, id: str) -> None:
        """Delete a webhook."""
        return self._send("webhooks.delete", "DELETE /webhooks/{id}", locals())

    def failures(
        self, id: str, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.WebhookFailure, t.WebhookFailurePage]:
        """List the events that a webhook did not take."""
        return self._page("webhooks.failures", "GET /webhooks/{id}/failures", locals())

    def get(self, id: str) -> t.Webhook:
        """Read a webhook."""
        return self._send("webhooks.get", "GET /webhooks/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: t.Ordering | None = None,
    ) -> Page[t.Webhook, t.WebhookPage]:
        """List the webhooks, newest first."""
        return self._page("webhooks.list", "GET /webhooks", locals())

    def replay(self, id: str, *, idempotency_key: str | None = None, event: int | None = None) -> t.Webhook:
        """Send events again that a webhook did not take."""
        return self._send("webhooks.replay", "POST /webhooks/{id}/replay", locals())

    def rotate(
        self, id: str, *, idempotency_key: str | None = None, grace_seconds: int | None = None,
    ) -> t.NewWebhook:
        """Give a webhook a new secret."""
        return self._send("webhooks.rotate", "POST /webhooks/{id}/rotate", locals())

    def update(
        self, id: str, *, branches: Sequence[str] | None = None, kinds: Sequence[str] | None = None,
        state: Literal["active", "paused"] | None = None, url: str | None = None,
    ) -> t.Webhook:
        """Change, pause or resume a webhook."""
        return self._send("webhooks.update", "PATCH /webhooks/{id}", locals())


class AsyncWebhooks(AsyncGroup):
    """The operations of webhooks, to be awaited."""

    create = awaits(Webhooks.create)
    delete = awaits(Webhooks.delete)
    failures = pages(Webhooks.failures)
    get = awaits(Webhooks.get)
    list = pages(Webhooks.list)
    replay = awaits(Webhooks.replay)
    rotate = awaits(Webhooks.rotate)
    update = awaits(Webhooks.update)
