"""Response serializers for replays."""

from typing import Any

from rest_framework import serializers as s

from conversations.engines.fields.replays import REPLAY
from conversations.engines.replays.batches import BatchReport
from conversations.models import Replay, ReplayBatch
from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@declare_fields(REPLAY.select_fields(Use.ANSWER))
class ReplayShape(AnswerShape):
    """A replay, as it is read."""

    memory = s.DictField(help_text="The state of the memory that the context was told from.")


class ReplayBatchShape(s.Serializer):
    """Replays of many conversations with the same parameters."""

    id = s.UUIDField()
    branch = s.CharField()
    name = s.CharField()
    start = s.CharField(help_text="The prompt at which each is forked.")
    parameters = s.DictField()
    max_total_cost = s.FloatField(allow_null=True, help_text="Money that its replays may cost together.")
    skipped = s.DictField(child=s.CharField(), help_text="Conversation -> why it is not replayed.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class BatchReportShape(ReplayBatchShape):
    """A batch with what it has come to so far."""

    states = s.DictField(child=s.IntegerField(), help_text="Replays by state.")
    totals = s.DictField(child=s.IntegerField(), help_text="Steps, calls, tokens, calls of unknown tools.")
    cost = s.FloatField(allow_null=True, help_text="null without prices.")
    verdicts = s.DictField(child=s.IntegerField(), help_text="Of the semantic diffs.")
    similarity = s.DictField(child=s.FloatField(), help_text="Averages: actions, reasoning, result.")
    source_scores = s.DictField(
        child=s.FloatField(), help_text="Averages by dimension of judged scores, where both sides have one."
    )
    replay_scores = s.DictField(child=s.FloatField())
    notes = s.ListField(child=s.CharField(), help_text="Why replays wait, stopped or failed, each once.")


class ReplayContextShape(s.Serializer):
    """What an agent goes on from, in the format of OpenAI's chat API."""

    replay_id = s.UUIDField()
    model = s.CharField()
    messages = s.ListField(child=s.DictField())
    tools = s.ListField(child=s.DictField())
    tokens = s.IntegerField(help_text="About how many the messages have.")
    temperature = s.FloatField(allow_null=True)
    max_tokens = s.IntegerField(allow_null=True)


_replay = build_renderer(ReplayShape, "memory")

render_batch = build_renderer(ReplayBatchShape, "branch")


def batch(row: ReplayBatch) -> dict[str, Any]:
    return render_batch(row, branch=row.branch.name)


def report(found: BatchReport) -> dict[str, Any]:
    names = ("states", "totals", "cost", "verdicts", "similarity", "notes")
    scores = {
        "source_scores": {one.dimension: one.source for one in found.scores},
        "replay_scores": {one.dimension: one.replay for one in found.scores},
    }
    return {**batch(found.batch), **{name: getattr(found, name) for name in names}, **scores}


def replay(row: Replay) -> dict[str, Any]:
    return _replay(row, memory=row.memory_state)
