"""Sessions: what agents did, and what came of it."""

from typing import Any

from memory.engines.facts import FactEngine
from memory.engines.filters import FactFilter
from memory.engines.session_manager import SessionManager
from memory.views.base import ProjectPage


class Sessions(ProjectPage):
    template_name = "sessions.html"
    section = "sessions"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        name = self.reader.branch.name if self.request.GET.get("branch") else ""
        page = SessionManager().get_recent_sessions(
            actor=self.reader.actor, branch_name=name, **self.paging()
        )
        return super().get_context_data(page=page, only=name, **kwargs)


class SessionPage(ProjectPage):
    """One session, named by ?key=, since a client may put anything into its id."""

    template_name = "session.html"
    section = "sessions"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        key = self.request.GET.get("key", "")
        session = SessionManager().get_session(session_id=key, actor=self.reader.actor)
        learned = FactEngine().list_facts(
            actor=self.reader.actor, branch_name=session.branch.name, filters=FactFilter(session_id=(key,)),
            **self.paging(),
        )  # fmt: skip
        return super().get_context_data(session=session, page=learned, **kwargs)
