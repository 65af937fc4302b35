"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from day1_client import types as t


class Ingest(Group):
    """The operations of ingest."""

    def hook(
        self, body: Mapping[str, Any] | Sequence[Any], *, idempotency_key: str | None = None,
        branch: str | None = None, client: str | None = None,
    ) -> Any:
        """Take in events of an agent's program."""
        return self._send("ingest.hook", "POST /ingest/hook", locals(), query="branch client")


class AsyncIngest(AsyncGroup):
    """The operations of ingest, to be awaited."""

    hook = awaits(Ingest.hook)
