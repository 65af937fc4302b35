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


class Replays(Group):
    """The operations of replays."""

    def cancel(self, id: str, *, idempotency_key: str | None = None) -> t.Replay:
        """Cancel a replay."""
        return self._send("replays.cancel", "POST /replays/{id}/cancel", locals())

    def complete(self, id: str, *, idempotency_key: str | None = None) -> t.Replay:
        """Mark a replay that went on by hand as done."""
        return self._send("replays.complete", "POST /replays/{id}/complete", locals())

    def context(self, id: str) -> t.ReplayContext:
        """What an agent goes on from, in chat format."""
        return self._send("replays.context", "GET /replays/{id}/context", locals())

    def diff(
        self, id: str, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.DiffRow, t.RowDiff]:
        """The differences of source and replay, message by message."""
        return self._page("replays.diff", "GET /replays/{id}/diff", locals())

    def get(self, id: str) -> t.Replay:
        """Read a replay."""
        return self._send("replays.get", "GET /replays/{id}", locals())

    def list(
        self, *, conversation_id: str | None = None, cursor: str | None = None, limit: int | None = None,
        ordering: Literal["-created_at", "created_at", "model", "-model", "-steps", "steps", "-finished_at",
        "finished_at"] | None = None, state: Literal["ready", "queued", "running", "waiting", "done",
        "stopped", "failed", "cancelled"] | Sequence[Literal["ready", "queued", "running", "waiting", "done",
        "stopped", "failed", "cancelled"]] | None = None,
    ) -> Page[t.Replay, t.ReplayPage]:
        """List replays, newest first."""
        return self._page("replays.list", "GET /replays", locals())

    def run(
        self, id: str, *, idempotency_key: str | None = None, max_cost: float | Null | None = None,
        max_steps: int | None = None, max_total_tokens: int | Null | None = None,
    ) -> t.Replay:
        """Have the model go on, in the background; again, after its last step."""
        return self._send("replays.run", "POST /replays/{id}/run", locals())

    def semantic_diff(self, id: str) -> t.SemanticDiff:
        """How source and replay differ in actions, reasoning and outcome."""
        return self._send("replays.semantic_diff", "GET /replays/{id}/semantic-diff", locals())


class AsyncReplays(AsyncGroup):
    """The operations of replays, to be awaited."""

    cancel = awaits(Replays.cancel)
    complete = awaits(Replays.complete)
    context = awaits(Replays.context)
    diff = pages(Replays.diff)
    get = awaits(Replays.get)
    list = pages(Replays.list)
    run = awaits(Replays.run)
    semantic_diff = awaits(Replays.semantic_diff)
