"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Invitations(Group):
    """The operations of invitations."""

    def create(
        self, *, idempotency_key: str | None = None, days: int | None = None, max_uses: int | None = None,
        note: str | None = None, role: Literal["viewer", "curator", "maintainer", "owner"] | None = None,
    ) -> t.NewInvitation:
        """Invite by link."""
        return self._send("invitations.create", "POST /invitations", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "expires_at", "-expires_at"] | None = None,
    ) -> Page[t.Invitation, t.InvitationPage]:
        """List invitations, newest first."""
        return self._page("invitations.list", "GET /invitations", locals())

    def revoke(self, id: str, *, idempotency_key: str | None = None) -> t.Invitation:
        """Revoke an invitation."""
        return self._send("invitations.revoke", "POST /invitations/{id}/revoke", locals())


class AsyncInvitations(AsyncGroup):
    """The operations of invitations, to be awaited."""

    create = awaits(Invitations.create)
    list = pages(Invitations.list)
    revoke = awaits(Invitations.revoke)
