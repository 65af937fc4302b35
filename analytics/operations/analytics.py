"""Figures of a project, as JSON or CSV."""

from analytics.answers import figures as shapes
from analytics.engines.engine import AnalyticsEngine
from memory.operations.base import Answer, Resource


def answer(shape: type) -> Answer:
    return Answer(shape, shapes.render_figures, files={shapes.CSV: shapes.stream_csv})


engine = AnalyticsEngine()

ANALYTICS = Resource("analytics", "analytics")
ANALYTICS.add(
    "overview",
    engine.overview,
    "What a branch holds and what happened",
    answer(shapes.OverviewShape),
    verb="get",
)
ANALYTICS.add(
    "sessions",
    engine.session_analytics,
    "What a session did",
    answer(shapes.SessionFiguresShape),
    verb="get",
    path="sessions/<path:session_id>",
)
ANALYTICS.add(
    "agents",
    engine.agent_analytics,
    "What an agent did",
    answer(shapes.AgentFiguresShape),
    verb="get",
    path="agents/<path:agent_id>",
)
ANALYTICS.add(
    "trends",
    engine.trends,
    "What was written over time",
    answer(shapes.TrendsShape),
    verb="get",
)
ANALYTICS.add(
    "conversations",
    engine.conversation_analytics,
    "Who said how much",
    answer(shapes.ConversationFiguresShape),
    verb="get",
    path="conversations/<uuid:conversation_id>",
)
ANALYTICS.add(
    "curation",
    engine.curation_analytics,
    "Verdicts, answers and junk",
    answer(shapes.CurationFiguresShape),
    verb="get",
)
