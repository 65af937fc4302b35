"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class SigningKey(Group):
    """The operations of signing_key."""

    def create(self, *, idempotency_key: str | None = None) -> t.SigningKey:
        """Make the project's key, or a new one."""
        return self._send("signing_key.create", "POST /signing-key", locals())

    def get(self) -> t.SigningKey:
        """Read the public key of the project."""
        return self._send("signing_key.get", "GET /signing-key", locals())


class AsyncSigningKey(AsyncGroup):
    """The operations of signing_key, to be awaited."""

    create = awaits(SigningKey.create)
    get = awaits(SigningKey.get)
