"""Sessions: the runs of agents, and the facts that they wrote."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.sessions.manager import SessionManager
from memory.models import Session
from memory.views.base import ProjectPage


class Sessions(ProjectPage):
    template_name = "sessions.html"
    section = "sessions"
    title = _("Sessions")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        name = self.reader.branch.name if self.request.GET.get("branch") else ""
        filters: dict[str, Any] = {
            field: self.request.GET.get(field, "").strip() for field in ("status", "agent_id")
        }
        page = SessionManager().get_recent_sessions(
            actor=self.reader.actor, branch_name=name, **filters, **self.paging()
        )
        statuses = Session.Status.choices
        return super().get_context_data(page=page, only=name, filters=filters, statuses=statuses, **kwargs)


class SessionPage(ProjectPage):
    """One session, named by ?key=, since a client's id may contain any characters."""

    template_name = "session.html"
    section = "sessions"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        key = self.request.GET.get("key", "")
        session = SessionManager().get_session(session_id=key, actor=self.reader.actor)
        learned = FactEngine().list_facts(
            actor=self.reader.actor,
            branch_name=session.branch.name,
            filters=FactFilter.of({"session_id": [key]}),
            **self.paging(),
        )
        return super().get_context_data(title=key, session=session, page=learned, **kwargs)
