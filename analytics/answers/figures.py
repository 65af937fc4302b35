"""Answers of analytics, and their form as CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework import serializers as s

from analytics.engines import answers as a
from memory.csv_text import write_line

CSV = "csv"
SHARE: dict[str, Any] = {"allow_null": True, "help_text": "From 0 to 1; null where there is nothing."}


def count_field(help_text: str | None = None) -> s.DictField:
    return s.DictField(child=s.IntegerField(), help_text=help_text)


class YieldShape(s.Serializer):
    """Facts that consolidation of sessions made of the messages and observations that it read."""

    runs = s.IntegerField()
    processed = s.IntegerField(help_text="Messages and observations that were read.")
    created = s.IntegerField(help_text="Facts that came of them.")
    rate = s.FloatField(allow_null=True)
    healthy = s.BooleanField(allow_null=True, help_text="From 5 to 15 %; null where nothing was read.")


class SpanShape(s.Serializer):
    """The branch and the range."""

    branch = s.CharField()
    since = s.DateTimeField()
    until = s.DateTimeField(help_text="The end of the last day or hour.")


class OverviewShape(SpanShape):
    """A branch as a whole, and what happened there in the last days."""

    counts = count_field("What the branch shows, by kind.")
    facts_by_status = count_field()
    facts_by_category = count_field("The 50 most frequent.")
    verification = count_field("Facts by the verdict on what they say now.")
    verified_share = s.FloatField(**SHARE)
    tokens = count_field("Of messages, by role.")
    model_tokens = count_field("What judge and consolidation cost in the range.")
    activity = count_field("What was written in the range, and searches.")
    consolidation = YieldShape()


class ToolShape(s.Serializer):
    """Calls of a tool."""

    tool = s.CharField()
    calls = s.IntegerField()
    failed = s.IntegerField()


class SessionFiguresShape(s.Serializer):
    """What a session did, on its branch."""

    session_id = s.CharField()
    branch = s.CharField()
    agent_id = s.CharField(allow_blank=True)
    status = s.CharField()
    started_at = s.DateTimeField()
    ended_at = s.DateTimeField(allow_null=True)
    conversations = s.IntegerField()
    messages = s.IntegerField()
    messages_by_role = count_field()
    tokens = count_field()
    facts = s.IntegerField()
    facts_by_status = count_field()
    facts_by_category = count_field()
    observations = s.IntegerField()
    observations_by_type = count_field()
    observations_by_outcome = count_field()
    tools = ToolShape(many=True)
    recalls = s.IntegerField(help_text="Searches of the session.")


class AgentFiguresShape(s.Serializer):
    """What an agent did on a branch, and what became of its facts."""

    agent_id = s.CharField()
    branch = s.CharField()
    sessions = s.IntegerField()
    sessions_by_status = count_field()
    first_session_at = s.DateTimeField(allow_null=True)
    last_session_at = s.DateTimeField(allow_null=True)
    conversations = s.IntegerField()
    facts = s.IntegerField()
    facts_by_status = count_field()
    facts_by_category = count_field()
    rejected = s.IntegerField(help_text="Facts that are invalidated.")
    rejected_share = s.FloatField(**SHARE)
    observations = s.IntegerField()
    tools = ToolShape(many=True)


class PointShape(s.Serializer):
    """What was written from ``start`` on."""

    start = s.DateTimeField()
    facts = s.IntegerField()
    messages = s.IntegerField()
    conversations = s.IntegerField()
    observations = s.IntegerField()
    recalls = s.IntegerField()
    misses = s.IntegerField(help_text="Searches that found nothing.")


class TrendsShape(SpanShape):
    """At most 400 points, each of ``periods`` days or hours."""

    granularity = s.ChoiceField(["day", "hour"])
    periods = s.IntegerField()
    points = PointShape(many=True)


class ConversationFiguresShape(s.Serializer):
    """Who said how much in a conversation, and what came of it."""

    conversation_id = s.UUIDField()
    branch = s.CharField()
    session_id = s.CharField(allow_blank=True)
    agent_id = s.CharField(allow_blank=True)
    status = s.CharField()
    messages = s.IntegerField(help_text="Of a fork with those that it shares.")
    shared_messages = s.IntegerField(help_text="Of a fork: how many of them it shares.")
    messages_by_role = count_field()
    tokens = s.IntegerField(help_text="Of these messages.")
    tokens_by_role = count_field()
    forks = s.IntegerField()
    facts = s.IntegerField(help_text="That were made of its messages, and are shown.")


class JunkShape(s.Serializer):
    """Facts in use that are worth a look; one may be in several."""

    in_use = s.IntegerField()
    never_recalled = s.IntegerField(help_text="Older than 30 days, that nobody recalled, pinned or judged.")
    stale = s.IntegerField(help_text="Past their end.")
    contradicted = s.IntegerField(help_text="With an open question whether another one is right.")
    near_duplicate = s.IntegerField(help_text="With an open question whether another one says the same.")
    shares = s.DictField(child=s.FloatField(allow_null=True), help_text="Of those in use, from 0 to 1.")


class AgentRecordShape(s.Serializer):
    """An agent's facts, and how many of them are invalidated."""

    agent_id = s.CharField()
    facts = s.IntegerField()
    rejected = s.IntegerField()
    rejected_share = s.FloatField(**SHARE)


class CurationFiguresShape(SpanShape):
    """What curators decided, what waits for them, and what is junk."""

    verdicts = count_field()
    verdicts_by_method = count_field()
    recent_verdicts = count_field("Verdicts in force that were given in the range.")
    answers = count_field("To questions, in the range.")
    open_questions = count_field()
    median_answer_hours = s.FloatField(allow_null=True)
    junk = JunkShape()
    agents = AgentRecordShape(many=True, help_text="The most rejected first, at most 100.")


def render_figures(found: Any) -> dict[str, Any]:
    """Return an answer of the engine as JSON has it."""
    return {one.name: render_value(getattr(found, one.name)) for one in fields(found)} | DERIVED[type(found)](
        found
    )


def render_value(value: Any) -> Any:
    if isinstance(value, a.Yield | a.Junk):
        return {**asdict(value), **DERIVED[type(value)](value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [asdict(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value


def derive_nothing(found: Any) -> dict[str, Any]:
    return {}


JUNK = ("never_recalled", "stale", "contradicted", "near_duplicate")
DERIVED: dict[type, Any] = dict.fromkeys(
    (a.SessionFigures, a.AgentFigures, a.Trends, a.ConversationFigures, a.CurationFigures), derive_nothing
) | {
    a.Overview: lambda one: {"verified_share": one.verified_share},
    a.Yield: lambda one: {"rate": one.rate, "healthy": one.is_healthy},
    a.Junk: lambda one: {"shares": {name: one.share(name) for name in JUNK}},
}


# ---- CSV -------------------------------------------------------------------------------------------------


def write_csv(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines: the points of trends as a table, everything else a figure a line."""
    for row in list_points(values["points"]) if "points" in values else list_figures(values):
        yield write_line(row)


def list_points(points: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Any]]:
    yield [one.name for one in fields(a.Point)]
    yield from (list(point.values()) for point in points)


def list_figures(values: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    yield ["figure", "of", "value"]
    yield from flatten(values, [])


def flatten(value: Any, path: list[str]) -> Iterator[Sequence[Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flatten(inner, [*path, str(name)])
    elif isinstance(value, list):
        for one in value:
            name, *columns = one
            for column in columns:
                yield from flatten(one[column], [*path, str(one[name]), column])
    else:
        yield [path[0], ".".join(path[1:]), value]


def stream_csv(values: dict[str, Any], name: str) -> StreamingHttpResponse:
    """Return figures as a file of CSV, line by line."""
    response = StreamingHttpResponse(write_csv(values), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="analytics-{name}.csv"'
    return response
