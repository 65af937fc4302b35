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


class ReplayBatches(Group):
    """The operations of replay_batches."""

    def create(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None, branch: str | None = None,
        conversation_ids: Sequence[str] | None = None, extra_context: str | None = None,
        filters: Mapping[str, Any] | None = None, max_cost: float | Null | None = None,
        max_steps: int | None = None, max_tokens: int | Null | None = None,
        max_total_cost: float | Null | None = None, max_total_tokens: int | Null | None = None,
        memory: t.MemoryStateInput | None = None, model: str | None = None, name: str | None = None,
        score: bool | None = None, session_id: str | None = None, start: t.Start | None = None,
        system_prompt: str | None = None, task_id: str | None = None, temperature: float | Null | None = None,
        tools_allow: Sequence[str] | None = None, tools_deny: Sequence[str] | None = None,
    ) -> t.BatchReport:
        """Replay many conversations in the background."""
        return self._send("replay_batches.create", "POST /replay-batches", locals())

    def get(self, id: str) -> t.BatchReport:
        """What a batch of replays has come to."""
        return self._send("replay_batches.get", "GET /replay-batches/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "name", "-name"] | None = None,
    ) -> Page[t.ReplayBatch, t.ReplayBatchPage]:
        """List batches of replays, newest first."""
        return self._page("replay_batches.list", "GET /replay-batches", locals())

    def run(
        self, id: str, *, idempotency_key: str | None = None, max_cost: float | Null | None = None,
        max_steps: int | None = None, max_total_cost: float | Null | None = None,
        max_total_tokens: int | Null | None = None,
    ) -> t.BatchReport:
        """Go on with the replays of a batch that stopped or failed."""
        return self._send("replay_batches.run", "POST /replay-batches/{id}/run", locals())

    def stop(self, id: str, *, idempotency_key: str | None = None) -> t.BatchReport:
        """Stop the replays of a batch that are not done."""
        return self._send("replay_batches.stop", "POST /replay-batches/{id}/stop", locals())


class AsyncReplayBatches(AsyncGroup):
    """The operations of replay_batches, to be awaited."""

    create = awaits(ReplayBatches.create)
    get = awaits(ReplayBatches.get)
    list = pages(ReplayBatches.list)
    run = awaits(ReplayBatches.run)
    stop = awaits(ReplayBatches.stop)
