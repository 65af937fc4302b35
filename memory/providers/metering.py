"""Who pays for a request to a model server: it is counted before it is sent, and corrected by its answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

BYTES_PER_TOKEN = 3  # of UTF-8: too many tokens rather than too few, save for digits and rare signs
ANSWER_TOKENS = 1000  # that an answer of unknown length is expected to have


@dataclass(frozen=True)
class Tokens:
    """Tokens of a request and its answer; ``are_estimated`` where no server told them."""

    sent: int = 0
    answered: int = 0
    are_estimated: bool = False

    @property
    def total(self) -> int:
        return self.sent + self.answered


class Bill(Protocol):
    """A request that is paid for."""

    def settle(self, spent: Tokens) -> None:
        """Put what it has cost in the place of what it was expected to cost. Never raises."""


class Payer(Protocol):
    """Who pays."""

    def buy(self, expected: Tokens) -> Bill:
        """Count a request that is about to be sent. Raises ModelBudgetSpent, or ProviderUnavailable where it
        cannot be counted.
        """


_payer: ContextVar[Payer | None] = ContextVar("payer", default=None)


@contextmanager
def paying(payer: Payer) -> Iterator[None]:
    """Have somebody pay for the requests to model servers inside."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


def get_payer() -> Payer:
    """Return who pays. Raises RuntimeError for nobody: no request is sent that nobody counts."""
    if (payer := _payer.get()) is None:
        raise RuntimeError("nobody pays for this request to a model server: see memory.providers.metering")
    return payer


def estimate_tokens(*texts: str) -> int:
    """Return about how many tokens texts have."""
    return sum(len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1 for text in texts)


def read_spent(answer: Any, expected: Tokens, body_bytes: int) -> Tokens:
    """Return the tokens of an answer: as its server tells them, else estimated."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if isinstance(usage, dict) and (sent := count_tokens(usage, "prompt_tokens")):
        return Tokens(sent, count_tokens(usage, "completion_tokens"))
    answered = min(body_bytes // BYTES_PER_TOKEN, expected.answered)
    return Tokens(expected.sent, answered, are_estimated=True)


def count_tokens(usage: Any, name: str) -> int:
    """Return a count of an answer's usage; 0 where the server sent none."""
    value = usage.get(name) if isinstance(usage, dict) else 0
    return value if type(value) is int and 0 <= value < 2**31 else 0
