"""Figures of a project, as JSON or CSV."""

from analytics.answers.figures import CSV, stream_csv
from analytics.engines import answers
from analytics.engines.engine import AnalyticsEngine
from memory.answers.derived import derive_shape, render_derived
from memory.operations.base import Answer, Resource


def answer(kind: type) -> Answer:
    return Answer(derive_shape(kind), render_derived, files={CSV: stream_csv})


engine = AnalyticsEngine()

ANALYTICS = Resource("analytics", "analytics")
ANALYTICS.add_read(
    "overview",
    engine.overview,
    "What a branch holds and what happened",
    answer(answers.Overview),
)
ANALYTICS.add_read(
    "sessions",
    engine.session_analytics,
    "What a session did",
    answer(answers.SessionFigures),
    path="sessions/<path:session_id>",
)
ANALYTICS.add_read(
    "agents",
    engine.agent_analytics,
    "What an agent did",
    answer(answers.AgentFigures),
    path="agents/<path:agent_id>",
)
ANALYTICS.add_read(
    "end_users",
    engine.end_users,
    "What a branch holds of each end user",
    answer(answers.EndUsers),
    path="end-users",
)
ANALYTICS.add_read(
    "trends",
    engine.trends,
    "What was written over time",
    answer(answers.Trends),
)
ANALYTICS.add_read(
    "conversations",
    engine.conversation_analytics,
    "Who said how much",
    answer(answers.ConversationFigures),
    path="conversations/<uuid:conversation_id>",
)
ANALYTICS.add_read(
    "curation",
    engine.curation_analytics,
    "Verdicts, answers and junk",
    answer(answers.CurationFigures),
)
