"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Questions(Group):
    """The operations of questions."""

    def create(
        self, text: str, expected: Sequence[str], *, idempotency_key: str | None = None,
        branch: str | None = None, category: str | None = None, note: str | None = None,
        repository: str | None = None,
    ) -> t.SavedQuestion:
        """Save a question."""
        return self._send("questions.create", "POST /questions", locals())

    def create_many(
        self, questions: Sequence[t.QuestionLineInput], *, idempotency_key: str | None = None,
        branch: str | None = None,
    ) -> t.SavedQuestions:
        """Save several questions."""
        return self._send("questions.create_many", "POST /questions/bulk", locals())

    def delete(self, id: str) -> None:
        """Delete a question."""
        return self._send("questions.delete", "DELETE /questions/{id}", locals())

    def get(self, id: str) -> t.SavedQuestion:
        """Read a question."""
        return self._send("questions.get", "GET /questions/{id}", locals())

    def list(
        self, *, category: str | None = None, cursor: str | None = None, limit: int | None = None, ordering:
        Literal["-created_at", "created_at", "branch", "-branch", "category", "-category"] | None = None,
    ) -> Page[t.SavedQuestion, t.SavedQuestionPage]:
        """List questions, newest first."""
        return self._page("questions.list", "GET /questions", locals())

    def update(
        self, id: str, *, category: str | None = None, expected: Sequence[str] | None = None,
        note: str | None = None, repository: str | None = None, text: str | None = None,
    ) -> t.SavedQuestion:
        """Change a question."""
        return self._send("questions.update", "PATCH /questions/{id}", locals())


class AsyncQuestions(AsyncGroup):
    """The operations of questions, to be awaited."""

    create = awaits(Questions.create)
    create_many = awaits(Questions.create_many)
    delete = awaits(Questions.delete)
    get = awaits(Questions.get)
    list = pages(Questions.list)
    update = awaits(Questions.update)
