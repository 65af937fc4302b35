"""One judgement: the votes of a model on a case, or why there is none."""

import time
from dataclasses import dataclass

from curation.engines.cases import Case
from curation.engines.prompts import VERIFY, build_messages
from curation.engines.ratings import Rating, combine_votes, parse_rating, rate_by_heuristic
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.models import FactAssessment
from memory.providers.chat import ChatServer

Method = FactAssessment.Method


@dataclass
class Judgement:
    """A rating, who gave it and what it cost. ``fallback`` says why the heuristic stood in for the judge."""

    rating: Rating
    method: str = Method.HEURISTIC
    model: str = ""
    prompt: str = ""
    votes: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    took_ms: float = 0.0
    fallback: str = ""

    @property
    def verdict(self) -> str:
        """Return what the thresholds make of the average; the heuristic only guesses."""
        return FactAssessment.read_status(self.rating.verdict, self.method)


def judge_case(judge: ChatServer, case: Case, votes: int) -> Judgement:
    """Ask a judge for its votes; where an answer is nonsense, the heuristic stands in for it.

    Raises ProviderUnavailable when the judge does not answer.
    """
    started, found = time.perf_counter(), Judgement(rate_by_heuristic(case.fact))
    ratings: list[Rating] = []
    try:
        for _vote in range(votes):
            found.calls += 1
            messages = build_messages(case)
            answer = judge.complete(messages)
            found.input_tokens += answer.input_tokens
            found.output_tokens += answer.output_tokens
            ratings.append(parse_rating(answer.text, messages[-1].content))
    except ProviderNonsense as error:
        found.fallback = describe_error(error)
    else:
        found.rating, found.method = combine_votes(ratings), Method.JUDGE
        found.model, found.prompt, found.votes = judge.model[:200], VERIFY, votes
    found.took_ms = round((time.perf_counter() - started) * 1000, 1)
    return found


def describe_error(error: ProviderUnavailable) -> str:
    """Return why there is no judgement, as it is stored."""
    return error.text[:500]
