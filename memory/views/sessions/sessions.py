"""Sessions: the runs of agents, and the facts that they wrote."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.sessions.manager import SessionManager, set_titles
from memory.operations.sessions import SESSIONS
from memory.views.frame.panels import SESSION_LEADS, SESSION_PANELS
from memory.views.generic.deletion import DeletablePage, build_deletion
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import FIELDS, RUN_WORDS


class Sessions(ListPage):
    template_name = "sessions.html"
    section = "sessions"
    is_live = spans_branches = True
    title = _("Sessions")
    operation, words = SESSIONS["list"], RUN_WORDS
    labels = {"status": FIELDS["status"], "agent_id": _("Agent")}
    extra_context = {
        "search": _("Filters, such as agent:NAME or status:completed"),
        "drawing": "agent",
        "none_fits": _("No session fits."),
        "none_yet": _(
            "A session is one run of an agent. It appears here when a connected agent starts, "
            "or when a write names it:"
        ),
        "show_all": _("Show all sessions"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(only=self.branch_name, **kwargs)

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        set_titles(page.results)
        return page

    @property
    def place(self) -> dict[str, Any]:
        return {"actor": self.reader.actor, "branch_name": self.branch_name}

    @property
    def branch_name(self) -> str:
        """Return the branch that the address asks for; "" for all."""
        return self.reader.branch.name if self.request.GET.get("branch") else ""


class SessionPage(DeletablePage):
    """One session, named by ?key=, since a client's id may contain any characters."""

    template_name = "session.html"
    section = "sessions"
    is_live = spans_branches = True
    actions = build_deletion(SESSIONS, "sessions")

    @property
    def places(self) -> Mapping[str, Any]:
        return {"session_id": self.request.GET.get("key", "")}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        key = self.request.GET.get("key", "")
        session = SessionManager().get_session(session_id=key, actor=self.reader.actor)
        learned = FactEngine().list_facts(
            actor=self.reader.actor,
            branch_name=session.branch.name,
            filters=FactFilter.from_values({"session_id": [key]}),
            **self.paging(),
        )
        set_titles([session])
        leads = SESSION_LEADS.load(self.reader, session)
        panels = SESSION_PANELS.load(self.reader, session)
        return super().get_context_data(
            title=session.title, session=session, page=learned, leads=leads, panels=panels, **kwargs
        )
