"""The web pages of the memory: all of a project's stand below /p/<its slug>/.

A page that has a branch in its path calls it branch_name; the others have ?branch= and ?at=.
"""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from memory.views.branches import Branches, BranchPage
from memory.views.fact import FactPage, Why
from memory.views.fact_actions import Act, Edit, Undo
from memory.views.facts import Facts
from memory.views.home import Help, Home
from memory.views.keys import Keys, RevokeKey, RotateKey
from memory.views.members import ChangeMember, Members, RemoveMember
from memory.views.navigation import Section, add_section
from memory.views.palette import Palette
from memory.views.place import Go
from memory.views.review import Answer, Review
from memory.views.search import Search
from memory.views.sessions import SessionPage, Sessions

urlpatterns = [
    path("", Home.as_view(), name="home"),
    path("go", Go.as_view(), name="go"),
    path("keys", Keys.as_view(), name="keys"),
    path("keys/<uuid:key_id>/rotate", RotateKey.as_view(), name="rotate-key"),
    path("keys/<uuid:key_id>/revoke", RevokeKey.as_view(), name="revoke-key"),
    path("members", Members.as_view(), name="members"),
    path("members/<int:member_id>", ChangeMember.as_view(), name="change-member"),
    path("members/<int:member_id>/remove", RemoveMember.as_view(), name="remove-member"),
    path("palette", Palette.as_view(), name="palette"),
    path("help", Help.as_view(), name="project-help"),
    path("search", Search.as_view(), name="search"),
    path("facts", Facts.as_view(), name="facts"),
    path("facts/<uuid:fact_id>", FactPage.as_view(), name="fact"),
    path("facts/<uuid:fact_id>/why", Why.as_view(), name="fact-why"),
    path("facts/<uuid:fact_id>/act", Act.as_view(), name="fact-act"),
    path("facts/<uuid:fact_id>/edit", Edit.as_view(), name="fact-edit"),
    path("undo/<uuid:commit_id>", Undo.as_view(), name="undo"),
    path("review", Review.as_view(), name="review"),
    path("review/<uuid:item_id>", Answer.as_view(), name="review-answer"),
    path("branches", Branches.as_view(), name="branches"),
    path("sessions", Sessions.as_view(), name="sessions"),
    path("session", SessionPage.as_view(), name="session"),
    path("branches/<path:branch_name>", BranchPage.as_view(), name="branch"),
]

add_section(Section("home", _("Home"), "home", "h", place=10))
add_section(Section("keys", _("API keys"), "key", "k", scope="admin", place=80))
add_section(Section("members", _("Members"), "members", "m", place=90))
add_section(Section("search", _("Search"), "search", "s", place=20))
add_section(Section("facts", _("Facts"), "facts", "f", place=30))
add_section(Section("branches", _("Branches"), "branch", "b", place=40))
add_section(Section("sessions", _("Sessions"), "agent", "e", place=50))
add_section(Section("review", _("Review"), "inbox", "r", scope="curate", place=15))
