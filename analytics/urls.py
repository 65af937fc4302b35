"""The pages of analytics, below the address of a project in both frames."""

from django.utils.translation import gettext_lazy as _

from analytics.views.added_figure import load_added_figure
from analytics.views.agents import AgentPage, load_session, load_yesterday
from analytics.views.dashboard import Insights, MovedAnalytics
from memory.views.frame.frames import WEB, Page, build_patterns
from memory.views.frame.navigation import Section, add_section
from memory.views.frame.panels import HOME_PANELS, SESSION_PANELS
from memory.views.sessions.home import add_home_figure

PAGES: list[Page] = [
    ("insights", Insights, "insights"),
    ("analytics", MovedAnalytics, "analytics"),
    ("agent", AgentPage, "agent"),
]
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("insights", _("Insights"), "chart", "g", order=10, place="insights"))
add_home_figure(load_added_figure)
HOME_PANELS.add("yesterday.html", load_yesterday)
SESSION_PANELS.add("session_figures.html", load_session)
