"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Jobs(Group):
    """The operations of jobs."""

    def get(self, id: str) -> t.Job:
        """Read how far a job is."""
        return self._send("jobs.get", "GET /jobs/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "-total", "total", "-finished_at", "finished_at"] | None = None,
    ) -> Page[t.Job, t.JobPage]:
        """List jobs, newest first."""
        return self._page("jobs.list", "GET /jobs", locals())


class AsyncJobs(AsyncGroup):
    """The operations of jobs, to be awaited."""

    get = awaits(Jobs.get)
    list = pages(Jobs.list)
