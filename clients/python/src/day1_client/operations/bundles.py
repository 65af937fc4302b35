"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Bundles(Group):
    """The operations of bundles."""

    def create(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, conversations: bool | None = None, description: str | None = None,
        dry_run: bool | None = None, only_verified: bool | None = None, relations: bool | None = None,
        session_id: str | None = None, sign: bool | None = None, task_id: str | None = None,
    ) -> t.Bundle:
        """Make a bundle of a branch."""
        return self._send("bundles.create", "POST /bundles", locals())

    def delete(self, id: str, *, erase: bool | None = None) -> t.Erasure | None:
        """Delete a bundle."""
        return self._send("bundles.delete", "DELETE /bundles/{id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, dry_run: bool | None = None,
        ids: Sequence[str] | None = None, name: str | None = None,
        origin: Literal["created", "uploaded"] | None = None,
    ) -> t.Deletion:
        """Delete the bundles that fit."""
        return self._send("bundles.delete_many", "POST /bundles/delete", locals())

    def export(self, id: str, *, if_none_match: str | None = None) -> t.BundleDocument:
        """Export the document."""
        return self._send("bundles.export", "GET /bundles/{id}/export", locals())

    def get(self, id: str, *, if_none_match: str | None = None) -> t.Bundle:
        """Read what a bundle holds."""
        return self._send("bundles.get", "GET /bundles/{id}", locals())

    def import_(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, dry_run: bool | None = None, require_trusted: bool | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.BundleReport:
        """Import a bundle on a branch."""
        return self._send("bundles.import_", "POST /bundles/{id}/import", locals(), plain="branch")

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, name: str | None = None, ordering:
        Literal["-created_at", "created_at", "name", "-name", "-size", "size"] | None = None,
        origin: Literal["created", "uploaded"] | None = None,
    ) -> Page[t.Bundle, t.BundlePage]:
        """List bundles, newest first."""
        return self._page("bundles.list", "GET /bundles", locals())

    def restore(self, id: str, *, idempotency_key: str | None = None) -> t.Bundle:
        """Restore a deleted bundle."""
        return self._send("bundles.restore", "POST /bundles/{id}/restore", locals())

    def upload(
        self, format: str, schema_version: int, version: int, content: t.BundleContent, sha256: str, *,
        idempotency_key: str | None = None, branch: str | None = None,
        counts: Mapping[str, Any] | None = None, created_at: t.When | None = None,
        description: str | None = None, dry_run: bool | None = None, import_: bool | None = None,
        name: str | None = None, only_verified: bool | None = None, require_trusted: bool | None = None,
        signature: t.BundleSignature | None = None, source_branch: str | None = None,
    ) -> t.BundleUpload:
        """Keep a document, and import it."""
        return self._send("bundles.upload", "POST /bundles/upload", locals(), query="branch dry_run import name require_trusted", plain="branch")


class AsyncBundles(AsyncGroup):
    """The operations of bundles, to be awaited."""

    create = awaits(Bundles.create)
    delete = awaits(Bundles.delete)
    delete_many = awaits(Bundles.delete_many)
    export = awaits(Bundles.export)
    get = awaits(Bundles.get)
    import_ = awaits(Bundles.import_)
    list = pages(Bundles.list)
    restore = awaits(Bundles.restore)
    upload = awaits(Bundles.upload)
