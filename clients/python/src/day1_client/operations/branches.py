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


class Branches(Group):
    """The operations of branches."""

    def auto_archive(
        self, *, idempotency_key: str | None = None, dry_run: bool | None = None,
    ) -> t.ArchiveReport:
        """Archive such branches, or tell which."""
        return self._send("branches.auto_archive", "POST /branches/auto-archive", locals())

    def create(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        at: t.At | None = None, owner: str | None = None, parent: str | None = None,
        purpose: str | None = None, session_id: str | None = None, tags: Sequence[str] | None = None,
        task_id: str | None = None, ttl_days: int | Null | None = None,
    ) -> t.Branch:
        """Make a branch."""
        return self._send("branches.create", "POST /branches", locals())

    def delete(
        self, name: str, *, agent_id: str | None = None, session_id: str | None = None,
        task_id: str | None = None,
    ) -> t.Branch:
        """Archive a branch; nothing is deleted."""
        return self._send("branches.delete", "DELETE /branches/{name}", locals())

    def diff(
        self, name: str, *, against: str | None = None, against_at: t.At | None = None,
        at: t.At | None = None, base: t.Base | None = None, change: t.ChangeValue | Sequence[t.ChangeValue] |
        None = None, cursor: str | None = None, limit: int | None = None, type: t.Type | None = None,
    ) -> Page[t.Difference, t.Diff]:
        """Compare a branch with another point."""
        return self._page("branches.diff", "GET /branches/{name}/diff", locals())

    def enrich(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        owner: str | None = None, purpose: str | None = None, session_id: str | None = None,
        tags: Sequence[str] | None = None, task_id: str | None = None, ttl_days: int | Null | None = None,
    ) -> t.Branch:
        """Change what is kept about a branch."""
        return self._send("branches.enrich", "POST /branches/{name}/enrich", locals())

    def expired(
        self, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.Expired, t.ExpiredPage]:
        """Branches whose days are over, or that were merged whole."""
        return self._page("branches.expired", "GET /branches/expired", locals())

    def get(self, name: str, *, if_none_match: str | None = None) -> t.Branch:
        """Read a branch."""
        return self._send("branches.get", "GET /branches/{name}", locals())

    def list(
        self, *, archived: bool | None = None, cursor: str | None = None, limit: int | None = None,
        name: str | None = None, ordering: Literal["name", "-name", "-head_at", "head_at", "-head", "head",
        "-created_at", "created_at"] | None = None, owner: str | None = None, tag: str | None = None,
    ) -> Page[t.Branch, t.BranchPage]:
        """List branches by name."""
        return self._page("branches.list", "GET /branches", locals())

    def log(
        self, name: str, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.TitledCommit, t.TitledCommitPage]:
        """The branch's own commits, newest first."""
        return self._page("branches.log", "GET /branches/{name}/log", locals())

    def merge(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        class_: Sequence[t.Class] | None = None, cursor: str | None = None,
        decisions: Sequence[t.DecisionInput] | None = None, dry_run: bool | None = None,
        force: bool | None = None, ids: Sequence[str] | None = None, into: str | None = None,
        limit: int | None = None, message: str | None = None, session_id: str | None = None,
        strategy: t.Strategy | None = None, target: str | None = None, task_id: str | None = None,
        type: str | None = None,
    ) -> t.Merge:
        """Merge a branch, or show the plan."""
        return self._send("branches.merge", "POST /branches/{name}/merge", locals())

    def policy(self, name: str) -> t.PolicyInForce:
        """The policy in force on a branch."""
        return self._send("branches.policy", "GET /branches/{name}/policy", locals())

    def restore(
        self, name: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.Branch:
        """Take an archived branch back into use."""
        return self._send("branches.restore", "POST /branches/{name}/restore", locals())

    def stats(self, name: str) -> t.BranchStats:
        """What a branch holds and who works on it."""
        return self._send("branches.stats", "GET /branches/{name}/stats", locals())

    def topology(
        self, *, cursor: str | None = None, limit: int | None = None, name: str | None = None,
        owner: str | None = None, state: Literal["live", "expired", "merged", "archived"] |
        Sequence[Literal["live", "expired", "merged", "archived"]] | None = None, tag: str | None = None,
    ) -> Page[t.TreeNode, t.Tree]:
        """The tree of branches."""
        return self._page("branches.topology", "GET /branches/topology", locals())

    def update(
        self, name: str, *, agent_id: str | None = None, owner: str | None = None, purpose: str | None = None,
        session_id: str | None = None, tags: Sequence[str] | None = None, task_id: str | None = None,
        ttl_days: int | Null | None = None,
    ) -> t.Branch:
        """Change what is kept about a branch, as POST does."""
        return self._send("branches.update", "PATCH /branches/{name}/enrich", locals())


class AsyncBranches(AsyncGroup):
    """The operations of branches, to be awaited."""

    auto_archive = awaits(Branches.auto_archive)
    create = awaits(Branches.create)
    delete = awaits(Branches.delete)
    diff = pages(Branches.diff)
    enrich = awaits(Branches.enrich)
    expired = pages(Branches.expired)
    get = awaits(Branches.get)
    list = pages(Branches.list)
    log = pages(Branches.log)
    merge = awaits(Branches.merge)
    policy = awaits(Branches.policy)
    restore = awaits(Branches.restore)
    stats = awaits(Branches.stats)
    topology = pages(Branches.topology)
    update = awaits(Branches.update)
