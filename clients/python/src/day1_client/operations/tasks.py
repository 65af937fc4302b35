"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Tasks(Group):
    """The operations of tasks."""

    def cancel(self, task: str, *, idempotency_key: str | None = None, result: str | None = None) -> t.Task:
        """Cancel a task and archive its branches."""
        return self._send("tasks.cancel", "POST /tasks/{task}/cancel", locals())

    def complete(
        self, task: str, *, idempotency_key: str | None = None, result: str | None = None,
    ) -> t.CompletedTask:
        """Complete a task: offer its durable facts to the parent."""
        return self._send("tasks.complete", "POST /tasks/{task}/complete", locals())

    def complete_agent(
        self, task: str, agent_id: str, *, idempotency_key: str | None = None,
    ) -> t.CompletedAgent:
        """Complete an agent's part: merge its branch into the task's."""
        return self._send("tasks.complete_agent", "POST /tasks/{task}/agents/{agent_id}/complete", locals(), plain="agent_id")

    def consolidate(
        self, task: str, *, idempotency_key: str | None = None, dry_run: bool | None = None,
    ) -> t.ConsolidationDetail:
        """Make one of what the agents of a task learned twice."""
        return self._send("tasks.consolidate", "POST /tasks/{task}/consolidate", locals())

    def context(self, task: str, *, max_tokens: int | None = None) -> t.TaskContext:
        """What an agent should know of a task."""
        return self._send("tasks.context", "GET /tasks/{task}/context", locals())

    def create(
        self, name: str, *, idempotency_key: str | None = None, description: str | None = None,
        objectives: Sequence[str] | None = None, parent: str | None = None, slug: str | None = None,
        task_type: str | None = None,
    ) -> t.CreatedTask:
        """Make a task with its branch."""
        return self._send("tasks.create", "POST /tasks", locals())

    def get(self, task: str) -> t.Task:
        """Read a task."""
        return self._send("tasks.get", "GET /tasks/{task}", locals())

    def join(
        self, task: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
    ) -> t.JoinedTask:
        """Join a task: a branch of one's own."""
        return self._send("tasks.join", "POST /tasks/{task}/join", locals())

    def list(
        self, *, agent_id: str | None = None, cursor: str | None = None, limit: int | None = None, ordering:
        Literal["-created_at", "created_at", "name", "-name", "-completed_at", "completed_at"] | None = None,
        state: Literal["active", "completed", "cancelled"] | None = None,
    ) -> Page[t.Task, t.TaskPage]:
        """List tasks, newest first."""
        return self._page("tasks.list", "GET /tasks", locals(), plain="agent_id")

    def update_objective(
        self, task: str, n: int, *, agent_id: str | None = None, note: str | None = None, state:
        Literal["todo", "active", "done", "blocked"] | None = None,
    ) -> t.Objective:
        """Change an objective."""
        return self._send("tasks.update_objective", "PATCH /tasks/{task}/objectives/{n}", locals())


class AsyncTasks(AsyncGroup):
    """The operations of tasks, to be awaited."""

    cancel = awaits(Tasks.cancel)
    complete = awaits(Tasks.complete)
    complete_agent = awaits(Tasks.complete_agent)
    consolidate = awaits(Tasks.consolidate)
    context = awaits(Tasks.context)
    create = awaits(Tasks.create)
    get = awaits(Tasks.get)
    join = awaits(Tasks.join)
    list = pages(Tasks.list)
    update_objective = awaits(Tasks.update_objective)
