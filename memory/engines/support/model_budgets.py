"""Budgets of models: each request to a model server is counted for its project before it is sent.

One statement counts it if there is a budget left, so two processes never spend the same one, and a process
that is killed leaves what its request was expected to cost. See docs/decisions/0099.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from django.db import DatabaseError
from django.db.models import F, Q, QuerySet, Sum, Value

from memory import metrics
from memory.clock import read_time
from memory.db.transactions import retry_transaction, write_transaction
from memory.exceptions import Day1Error, ModelBudgetSpent, ProviderUnavailable
from memory.limits import MODEL_CALLS, MODEL_TOKENS, MONTH, find_reset, name_period
from memory.models import Consumption
from memory.models.usage import get_usage
from memory.providers.metering import Tokens, paying

logger = logging.getLogger(__name__)
CALLS, TOKENS = MODEL_CALLS.name, MODEL_TOKENS.name
RETRY_SECONDS = 900  # after which what waits for a budget looks again
REFUSED_SECONDS = 5.0  # in which a process refuses a project again without asking the database
UNCOUNTED = "what it costs cannot be counted now"

_refusals: dict[UUID, tuple[float, ModelBudgetSpent]] = {}


@dataclass(frozen=True)
class ProjectPayer:
    """A project that pays."""

    project_id: UUID

    def buy(self, expected: Tokens) -> "ProjectBill":
        """Count a request, and reserve its tokens. Raises ModelBudgetSpent, ProviderUnavailable."""
        if (known := _refusals.get(self.project_id)) and monotonic() < known[0]:
            metrics.add("day1_model_calls", state="refused")
            raise known[1]
        bill = ProjectBill(self.project_id, Consumption.name_slot(self.project_id, MONTH), expected.total)
        limits = get_usage(self.project_id).limits
        try:
            is_bought = bill.reserve(limits[CALLS], limits[TOKENS])
        except (DatabaseError, Day1Error) as error:
            raise ProviderUnavailable(reason=UNCOUNTED) from error
        if not is_bought:
            metrics.add("day1_model_calls", state="refused")
            refusal = self._build_refusal(limits[CALLS], limits[TOKENS], expected)
            _refusals[self.project_id] = monotonic() + REFUSED_SECONDS, refusal
            raise refusal
        metrics.add("day1_model_calls", state="sent")
        return bill

    def _build_refusal(self, max_calls: int, max_tokens: int, expected: Tokens) -> ModelBudgetSpent:
        row, now = read_month(self.project_id), read_time()
        part, used, limit, needed = "tokens", row.tokens, max_tokens, expected.total
        if max_calls and row.calls >= max_calls:
            part, used, limit, needed = "calls", row.calls, max_calls, 1
        resets_at = find_reset(MONTH, now)
        return ModelBudgetSpent(
            part=part,
            used=used,
            limit=limit,
            needed=needed,
            resets_at=f"{resets_at:%Y-%m-%d}",
            retry_after=min(RETRY_SECONDS, int((resets_at - now).total_seconds()) + 1),
        )


@dataclass(frozen=True)
class ProjectBill:
    """A request that a project pays for, in the month in which it was sent."""

    project_id: UUID
    slot: str
    reserved: int

    def reserve(self, max_calls: int, max_tokens: int) -> bool:
        """Count the request if there is a budget left for it, and return whether; 0 is no limit."""
        is_left = Q()
        if max_calls:
            is_left &= Q(calls__lt=max_calls)
        if max_tokens:
            spent = F("output_tokens") + F("reserved_tokens")
            is_left &= Q(input_tokens__lte=Value(max_tokens - self.reserved) - spent)
        taken = {"calls": F("calls") + 1, "reserved_tokens": F("reserved_tokens") + self.reserved}
        return bool(self._change(lambda row: row.filter(is_left).update(**taken)))

    def settle(self, spent: Tokens) -> None:
        """Put what the request has cost in the place of what was reserved for it. Never raises."""
        changes = {
            "reserved_tokens": F("reserved_tokens") - self.reserved,
            "input_tokens": F("input_tokens") + spent.sent,
            "output_tokens": F("output_tokens") + spent.answered,
            "estimated_tokens": F("estimated_tokens") + spent.total * spent.are_estimated,
        }
        metrics.add("day1_model_tokens", spent.sent, direction="sent")
        metrics.add("day1_model_tokens", spent.answered, direction="answered")
        try:
            self._change(lambda row: row.update(**changes))
        except (DatabaseError, Day1Error):
            logger.warning("A request to a model stays counted as %d tokens.", self.reserved, exc_info=True)

    @retry_transaction
    def _change(self, change: Callable[[QuerySet[Consumption]], int]) -> int:
        """Change the row of the month, which its first request makes."""
        row = Consumption.objects.filter(pk=self.slot)
        with write_transaction():
            if not row.exists():
                Consumption.make_row(self.slot, self.project_id)
            return change(row)


@contextmanager
def paid_by(project_id: UUID) -> Iterator[None]:
    """Have a project pay for the requests to model servers inside."""
    with paying(ProjectPayer(project_id)):
        yield


def forget_refusals() -> None:
    """Ask the database again: a budget was changed."""
    _refusals.clear()


def read_month(project_id: UUID) -> Consumption:
    """Return what a project has spent this month."""
    row = Consumption.objects.filter(pk=Consumption.name_slot(project_id, MONTH)).first()
    return row or Consumption(project_id=project_id)


def read_spending() -> Iterator[tuple[str, str, float]]:
    """Yield name, help and value of what all projects together have spent this month, for operators."""
    rows = Consumption.objects.filter(period=name_period(MONTH, read_time()))
    total = rows.aggregate(
        calls=Sum("calls"),
        tokens=Sum(F("input_tokens") + F("output_tokens") + F("reserved_tokens")),
        estimated=Sum("estimated_tokens"),
    )
    yield "model_calls_month", "Requests to model servers this month, of all projects.", total["calls"] or 0
    yield "model_tokens_month", "Tokens of these, with those under way.", total["tokens"] or 0
    yield "model_tokens_estimated_month", "Those that no server told.", total["estimated"] or 0
    shares = [share_used(row) for row in rows]
    yield "model_budget_used_ratio", "The most that a project has used of its budget.", max(shares, default=0)
    yield "model_budgets_spent", "Projects whose budget is used up.", sum(share >= 1 for share in shares)


def share_used(row: Consumption) -> float:
    """Return the share of its budget that a project has used; 1 where the next request was refused."""
    limits = get_usage(row.project_id).limits
    used = {CALLS: row.calls, TOKENS: row.tokens}
    return max((used[name] / limits[name] for name in used if limits[name]), default=0.0)
