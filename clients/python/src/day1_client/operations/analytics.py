"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class Analytics(Group):
    """The operations of analytics."""

    def agents(
        self, agent_id: str, *, at: t.At | None = None, branch: str | None = None,
        format: t.Format | None = None,
    ) -> t.AgentFigures:
        """What an agent did."""
        return self._send("analytics.agents", "GET /analytics/agents/{agent_id}", locals(), plain="agent_id branch")

    def conversations(
        self, conversation_id: str, *, at: t.At | None = None, branch: str | None = None,
        format: t.Format | None = None,
    ) -> t.ConversationFigures:
        """Who said how much."""
        return self._send("analytics.conversations", "GET /analytics/conversations/{conversation_id}", locals(), plain="branch")

    def curation(
        self, *, at: t.At | None = None, branch: str | None = None, days: int | None = None,
        format: t.Format | None = None,
    ) -> t.CurationFigures:
        """Verdicts, answers and junk."""
        return self._send("analytics.curation", "GET /analytics/curation", locals())

    def end_users(
        self, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        format: t.Format | None = None, user_id: str | None = None,
    ) -> t.EndUsers:
        """What a branch holds of each end user."""
        return self._send("analytics.end_users", "GET /analytics/end-users", locals())

    def overview(
        self, *, at: t.At | None = None, branch: str | None = None, days: int | None = None,
        format: t.Format | None = None,
    ) -> t.Overview:
        """What a branch holds and what happened."""
        return self._send("analytics.overview", "GET /analytics/overview", locals())

    def sessions(self, session_id: str, *, format: t.Format | None = None) -> t.SessionFigures:
        """What a session did."""
        return self._send("analytics.sessions", "GET /analytics/sessions/{session_id}", locals())

    def trends(
        self, *, at: t.At | None = None, branch: str | None = None, days: int | None = None,
        format: t.Format | None = None, granularity: t.Granularity | None = None, since: t.When | None = None,
        until: t.When | None = None,
    ) -> t.Trends:
        """What was written over time."""
        return self._send("analytics.trends", "GET /analytics/trends", locals())


class AsyncAnalytics(AsyncGroup):
    """The operations of analytics, to be awaited."""

    agents = awaits(Analytics.agents)
    conversations = awaits(Analytics.conversations)
    curation = awaits(Analytics.curation)
    end_users = awaits(Analytics.end_users)
    overview = awaits(Analytics.overview)
    sessions = awaits(Analytics.sessions)
    trends = awaits(Analytics.trends)
