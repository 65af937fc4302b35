"""What replays cost by the prices of the settings, and the money that a batch of them may cost together."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q, Sum

from conversations.models import Replay, ReplayBatch
from memory.conf import conf
from memory.db.transactions import retry_transaction
from memory.engines.support.leases import Lease
from memory.exceptions import Invalid

MAX_ANSWER_TOKENS = 8192  # at most, where money is limited and the replay names no other number
MIN_ANSWER_TOKENS = 256  # what no money is left for when fewer could be paid


class ReplaySpent(Exception):
    """The next step would cost more than the replay has left."""


class BatchSpent(Exception):
    """The next step would cost more than the batch has left."""


class BatchReserved(Exception):
    """The next step may still fit: what is left is reserved for steps that are under way."""


def has_prices() -> bool:
    settings = conf()
    return bool(settings.replay_input_price or settings.replay_output_price)


def require_prices(field: str) -> None:
    """Refuse a limit of money where no price is known. Raises Invalid."""
    if not has_prices():
        raise Invalid(
            "A limit of money needs prices: set DAY1_REPLAY_INPUT_PRICE and DAY1_REPLAY_OUTPUT_PRICE.",
            field=field,
        )


def price_tokens(input_tokens: int, output_tokens: int) -> float:
    """Return what tokens cost by the prices of the settings."""
    settings = conf()
    paid = input_tokens * settings.replay_input_price + output_tokens * settings.replay_output_price
    return paid / 1e6


def measure_cost(row: Replay) -> float | None:
    """Return what a replay has cost by the prices of the settings; None without prices."""
    return round(price_tokens(row.input_tokens, row.output_tokens), 6) if has_prices() else None


def sum_costs(rows: Iterable[Replay]) -> float | None:
    """Return what replays have cost together; None without prices."""
    costs = [cost for row in rows if (cost := measure_cost(row)) is not None]
    return round(sum(costs), 6) if costs else None


def fit_answer(row: Replay, input_tokens: int, money: float) -> int:
    """Return how many tokens of an answer money pays for behind an input; 0 where that is no answer."""
    most, least = row.max_tokens or MAX_ANSWER_TOKENS, row.max_tokens or MIN_ANSWER_TOKENS
    left, price = money - price_tokens(input_tokens, 0), conf().replay_output_price
    if left < 0:
        return 0
    fitting = min(most, int(round(left * 1e6 / price, 6))) if price else most
    return fitting if fitting >= least else 0


def bound_answer(row: Replay, input_tokens: int) -> int | None:
    """Return how many tokens the next answer may have, None for any number. Raises ReplaySpent."""
    if row.max_cost is None:
        return row.max_tokens
    if found := fit_answer(row, input_tokens, row.max_cost - (measure_cost(row) or 0)):
        return found
    raise ReplaySpent(f"The next step would cost more than {row.max_cost}.")


@retry_transaction
def reserve_answer(row: Replay, lease: Lease, input_tokens: int) -> int | None:
    """Return how many tokens the next answer may have, and set aside what it may cost of its batch's money.

    None is any number. The row of the batch is locked, so that two workers never spend the same money. Raises
    ReplaySpent, BatchSpent, BatchReserved, LeaseLost.
    """
    answer = bound_answer(row, input_tokens)
    if row.batch_id is None:
        return answer
    with transaction.atomic():
        batch = ReplayBatch.objects.select_for_update().get(pk=row.batch_id)
        if batch.max_total_cost is None:
            return answer
        spent, reserved = measure_batch(batch, row)
        if not fit_answer(row, input_tokens, batch.max_total_cost - spent):
            raise BatchSpent(f"The next step would take the batch over {batch.max_total_cost}.")
        if not (fitting := fit_answer(row, input_tokens, batch.max_total_cost - spent - reserved)):
            raise BatchReserved
        answer = min(answer or fitting, fitting)
        lease.update(reserved_cost=price_tokens(input_tokens, answer))
    return answer


def measure_batch(batch: ReplayBatch, row: Replay) -> tuple[float, float]:
    """Return what the replays of a batch have cost, and what is reserved for steps of others under way."""
    sums: dict[str, Any] = batch.replays.aggregate(
        read=Sum("input_tokens"),
        written=Sum("output_tokens"),
        reserved=Sum("reserved_cost", filter=Q(state=Replay.State.RUNNING) & ~Q(pk=row.pk)),
    )
    return price_tokens(sums["read"] or 0, sums["written"] or 0), sums["reserved"] or 0.0
