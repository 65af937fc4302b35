"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from day1_client import types as t
    from day1_client.pages import Page


class Policies(Group):
    """The operations of policies."""

    def delete(self, pattern: str) -> None:
        """Delete a policy."""
        return self._send("policies.delete", "DELETE /policies/{pattern}", locals())

    def get(self, pattern: str) -> t.Policy:
        """Read the policy of a pattern."""
        return self._send("policies.get", "GET /policies/{pattern}", locals())

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Page[t.Policy, t.PolicyPage]:
        """List policies by pattern."""
        return self._page("policies.list", "GET /policies", locals())

    def update(
        self, pattern: str, *, accept_methods: Sequence[t.AcceptMethods] | None = None,
        approvals: int | None = None, author_may_approve: bool | None = None,
        direct_writes: t.DirectWrites | None = None, gates: Sequence[t.Gates] | None = None,
    ) -> t.Policy:
        """Set rules of a policy, or make one."""
        return self._send("policies.update", "PATCH /policies/{pattern}", locals())


class AsyncPolicies(AsyncGroup):
    """The operations of policies, to be awaited."""

    delete = awaits(Policies.delete)
    get = awaits(Policies.get)
    list = pages(Policies.list)
    update = awaits(Policies.update)
