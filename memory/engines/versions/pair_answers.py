"""Answers of curators on pairs of facts. The app to the right that keeps the questions brings them.

A commit that answers is shown and reverted with its answers; of a pair that was kept nobody is asked again.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from memory.extensions import load_extensions
from memory.models import Branch, Fact

Pair = tuple[UUID, UUID]


class PairAnswers(Protocol):
    """Interface of the questions on pairs of facts, and of their answers."""

    def find_answers(self, branch_id: int, seqs: Collection[int]) -> Any:
        """Return a queryset of what commits of a branch answered or asked again.

        Its rows have the fields ``branch``, ``seq``, ``fact_id`` and ``other_id``.
        """

    def undo_answers(self, branch_id: int, seq: int, undone_by: int) -> int:
        """Ask again what a commit answered, close what it asked again; return how many."""

    def find_kept(self, pairs: Collection[Pair], points: Mapping[int, int]) -> set[Pair]:
        """Return the pairs of which a curator decided that both stay, on branches up to these commits."""

    def ask_about(self, branch: Branch, pairs: Iterable[tuple[Fact, Fact]]) -> None:
        """Ask once about each pair of a newer fact and the older one whose place it takes."""

    def blank_questions(self, project_id: UUID, uids: Collection[UUID]) -> list[tuple[int, int]]:
        """Close the questions about facts, keep no detail of them; return branch and commit of each."""


@cache
def get_pair_answers() -> PairAnswers:
    """Return what keeps the answers."""
    (made,) = load_extensions("pair_answers").values()
    answers: PairAnswers = made()
    return answers
