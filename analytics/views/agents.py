"""An agent's own page, its part of a session's page, and what agents did on the day before, for Home."""

from datetime import UTC, date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import ngettext

from analytics.engines.days import AgentDay
from analytics.engines.engine import AnalyticsEngine
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import NotFound
from memory.models import Session
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import ViewContext

engine = AnalyticsEngine()
MAX_SESSIONS = 10


class AgentPage(ProjectPage):
    """One agent, named by ?key=, since its name may contain any characters."""

    reads_past = True
    template_name, section = "agent.html", "insights"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        agent = request.GET.get("key", "")
        try:
            self.figures = engine.agent_analytics(agent_id=agent, **self.reader.read_args)
        except NotFound:
            found = engine.agent_analytics(agent_id=agent, actor=self.reader.actor)
            if found.branch == self.reader.branch.name:
                raise  # it did nothing until the point that is read
            return redirect(self.reader.url("agent", key=agent, branch=found.branch, at=""))
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        agent = self.request.GET.get("key", "")
        sessions = SessionManager().get_recent_sessions(
            actor=self.reader.actor, branch_name=self.reader.branch.name, agent_id=agent, limit=MAX_SESSIONS
        )
        self.reader.name_sessions(session.key for session in sessions.results)
        return super().get_context_data(title=agent, one=self.figures, sessions=sessions, **kwargs)


def load_session(reader: ViewContext, session: Session) -> Any:
    """Return the figures of a session for its page."""
    return engine.session_analytics(session_id=session.key, actor=reader.actor)


def load_yesterday(reader: ViewContext) -> Any:
    """Return the day before the one that is read, and what each agent did then; None before the first day."""
    today = reader.moment.astimezone(UTC).date()
    if today == date.min:
        return None
    day = today - timedelta(days=1)
    return {
        "day": day,
        "agents": [describe_day(one) for one in engine.list_agent_days(actor=reader.actor, day=day)],
    }


def describe_day(one: AgentDay) -> dict[str, Any]:
    """Return one sentence on an agent's day."""
    calls = ngettext("{n} call of tools", "{n} calls of tools", one.calls).format(n=one.calls)
    if one.failed:
        calls += " " + ngettext("({n} failed)", "({n} failed)", one.failed).format(n=one.failed)
    parts = [
        (one.sessions, ngettext("{n} session", "{n} sessions", one.sessions).format(n=one.sessions)),
        (one.calls, calls),
        (one.facts, ngettext("{n} new fact", "{n} new facts", one.facts).format(n=one.facts)),
    ]
    sentence = ", ".join(text for count, text in parts if count)
    return {"agent_id": one.agent_id, "sentence": sentence, "categories": one.categories}
