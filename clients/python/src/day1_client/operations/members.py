"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Members(Group):
    """The operations of members."""

    def create(
        self, username: str, *, idempotency_key: str | None = None, role: Literal["viewer", "curator",
        "maintainer", "owner"] | None = None,
    ) -> t.Member:
        """Add a member."""
        return self._send("members.create", "POST /members", locals())

    def get(self, username: str) -> t.Member:
        """Read a member."""
        return self._send("members.get", "GET /members/{username}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, name: str | None = None, ordering:
        Literal["joined_at", "-joined_at", "name", "-name", "role", "-role"] | None = None, role:
        Literal["viewer", "curator", "maintainer", "owner"] | None = None,
    ) -> Page[t.Member, t.MemberPage]:
        """List members."""
        return self._page("members.list", "GET /members", locals())

    def remove(
        self, username: str, *, idempotency_key: str | None = None, dry_run: bool | None = None,
    ) -> t.Departure:
        """Remove a member, with the keys, invitations and logins of theirs."""
        return self._send("members.remove", "POST /members/{username}/remove", locals())

    def update(self, username: str, role: Literal["viewer", "curator", "maintainer", "owner"]) -> t.Member:
        """Change the role of a member."""
        return self._send("members.update", "PATCH /members/{username}", locals())


class AsyncMembers(AsyncGroup):
    """The operations of members, to be awaited."""

    create = awaits(Members.create)
    get = awaits(Members.get)
    list = pages(Members.list)
    remove = awaits(Members.remove)
    update = awaits(Members.update)
