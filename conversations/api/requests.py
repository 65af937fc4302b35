"""Request serializers for replays, for OpenAPI. The engines validate."""

from rest_framework import serializers as s

from conversations.engines.fields import MEMORY, REPLAY
from conversations.engines.replays.batches import MAX_CONVERSATIONS, STARTS
from conversations.engines.replays.engine import LIMITS
from memory.answers.declared_serializers import RequestShape, declare_fields, request_field
from memory.answers.requests import OnBranch, Stated
from memory.engines.fields.base import Use


@declare_fields([REPLAY[name].with_traits(null=False) for name in LIMITS])
class ReplayLimitsInput(RequestShape):
    """Limits that take the place of those that the replay had."""


def describe_money() -> s.FloatField:
    return s.FloatField(
        required=False, min_value=0, help_text="Money that all replays may cost together, by the prices."
    )


class BatchLimitsInput(ReplayLimitsInput):
    """Limits that take the place of those that the batch and its replays had."""

    max_total_cost = describe_money()


@declare_fields(REPLAY.select_fields(Use.CREATE))
class ReplayBatchInput(OnBranch, Stated):
    """Which conversations are replayed, by id or by filters, and with what; the newest by default."""

    conversation_ids = s.ListField(
        child=s.UUIDField(), min_length=1, max_length=MAX_CONVERSATIONS, required=False
    )
    filters = s.DictField(required=False, help_text="Those of the list of conversations.")
    start = s.ChoiceField(
        choices=STARTS, required=False, help_text="The prompt at which each is forked; the first by default."
    )
    name = s.CharField(required=False, allow_blank=True, max_length=200)
    memory = request_field(MEMORY)
    max_total_cost = describe_money()
