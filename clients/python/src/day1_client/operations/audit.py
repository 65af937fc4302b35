"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Audit(Group):
    """The operations of audit."""

    def list(
        self, *, action: str | None = None, after: t.When | None = None, before: t.When | None = None,
        by: str | None = None, cursor: str | None = None, kind: str | None = None, limit: int | None = None,
        ordering: Literal["-at", "at"] | None = None, request_id: str | None = None,
        target: str | None = None,
    ) -> Page[t.Audit, t.AuditPage]:
        """List the entries of the audit, newest first."""
        return self._page("audit.list", "GET /audit", locals())


class AsyncAudit(AsyncGroup):
    """The operations of audit, to be awaited."""

    list = pages(Audit.list)
