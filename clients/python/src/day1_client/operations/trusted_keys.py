"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class TrustedKeys(Group):
    """The operations of trusted_keys."""

    def create(self, name: str, public_key: str, *, idempotency_key: str | None = None) -> t.TrustedKey:
        """Trust a key."""
        return self._send("trusted_keys.create", "POST /trusted-keys", locals())

    def delete(self, name: str) -> None:
        """Trust a key no more."""
        return self._send("trusted_keys.delete", "DELETE /trusted-keys/{name}", locals())

    def list(self) -> t.TrustedKeys:
        """List trusted keys by name."""
        return self._send("trusted_keys.list", "GET /trusted-keys", locals())


class AsyncTrustedKeys(AsyncGroup):
    """The operations of trusted_keys, to be awaited."""

    create = awaits(TrustedKeys.create)
    delete = awaits(TrustedKeys.delete)
    list = awaits(TrustedKeys.list)
