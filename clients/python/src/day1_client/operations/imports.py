"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Imports(Group):
    """The operations of imports."""

    def create(
        self, product: t.Product, *, idempotency_key: str | None = None, branch: str | None = None,
        file: str | None = None,
    ) -> t.Import:
        """Begin an import from another product, or begin it again."""
        return self._send("imports.create", "POST /imports", locals(), plain="branch")

    def finish(
        self, id: str, *, idempotency_key: str | None = None,
        broken: Sequence[Mapping[str, Any]] | None = None, run: int | Null | None = None,
        skipped: Mapping[str, Any] | None = None,
    ) -> t.ImportReport:
        """Finish an import."""
        return self._send("imports.finish", "POST /imports/{id}/finish", locals())

    def get(self, id: str) -> t.ImportReport:
        """Read an import with its report."""
        return self._send("imports.get", "GET /imports/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "-updated_at", "updated_at", "file", "-file"] | None = None,
        product: t.Product | None = None, state: Literal["reading", "finished", "proposed"] | None = None,
    ) -> Page[t.Import, t.ImportPage]:
        """List imports, newest first."""
        return self._page("imports.list", "GET /imports", locals())

    def propose(
        self, id: str, *, idempotency_key: str | None = None, title: str | None = None,
        without: Sequence[t.Without] | None = None,
    ) -> t.MergeRequest:
        """Ask for a merge of what is good of an import."""
        return self._send("imports.propose", "POST /imports/{id}/propose", locals())

    def records(
        self, id: str, *, idempotency_key: str | None = None,
        links: Sequence[t.ImportLinkInput] | None = None,
        records: Sequence[t.ImportRecordInput] | None = None,
        relations: Sequence[Mapping[str, Any]] | None = None, run: int | Null | None = None,
    ) -> t.Import:
        """Write records of an import."""
        return self._send("imports.records", "POST /imports/{id}/records", locals())


class AsyncImports(AsyncGroup):
    """The operations of imports, to be awaited."""

    create = awaits(Imports.create)
    finish = awaits(Imports.finish)
    get = awaits(Imports.get)
    list = pages(Imports.list)
    propose = awaits(Imports.propose)
    records = awaits(Imports.records)
