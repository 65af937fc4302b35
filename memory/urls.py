"""The pages of the memory, below the address of a project in both frames.

A page with a branch in its path names the parameter branch_name; the others take ?branch= and ?at=.
"""

from django.utils.translation import gettext_lazy as _

from memory.discovery import import_modules
from memory.views.access.agent_setup import FirstEvent
from memory.views.access.keys import Keys, RevokeKey, RotateKey, describe_keys
from memory.views.access.members import ChangeMember, Invite, Members, RemoveMember, RevokeInvitation
from memory.views.branches.branches import Branches, BranchPage
from memory.views.branches.commits import CommitPage
from memory.views.branches.topology import Expired, Topology
from memory.views.facts.capture import ObservationPage, Observations, RelationPage, Relations
from memory.views.facts.fact_actions import Act, Edit, Undo
from memory.views.facts.fact_detail import FactPage, Why
from memory.views.facts.fact_list import Facts
from memory.views.facts.search import Search
from memory.views.frame import frames
from memory.views.frame.command_palette import Palette
from memory.views.frame.frames import WEB, Page, build_patterns
from memory.views.frame.location_switch import SwitchLocation
from memory.views.frame.navigation import ACCESS, SAFETY, Section, add_section, add_setting
from memory.views.generic.list_page import describe_list
from memory.views.sessions.home import Help, Home
from memory.views.sessions.sessions import SessionPage, Sessions
from memory.views.store.audit import Audit, describe_newest

PAGES: list[Page] = [
    ("", Home, "home"),
    ("go", SwitchLocation, "go"),
    ("audit", Audit, "audit"),
    ("first-event", FirstEvent, "first-event"),
    ("keys", Keys, "keys"),
    ("keys/<uuid:key_id>/rotate", RotateKey, "rotate-key"),
    ("keys/<uuid:key_id>/revoke", RevokeKey, "revoke-key"),
    ("members", Members, "members"),
    ("members/<int:member_id>", ChangeMember, "change-member"),
    ("members/<int:member_id>/remove", RemoveMember, "remove-member"),
    ("members/invitations", Invite, "invite"),
    ("members/invitations/<uuid:invitation_id>/revoke", RevokeInvitation, "revoke-invitation"),
    ("palette", Palette, "palette"),
    ("help", Help, "project-help"),
    ("search", Search, "search"),
    ("facts", Facts, "facts"),
    ("facts/<uuid:fact_id>", FactPage, "fact"),
    ("facts/<uuid:fact_id>/why", Why, "fact-why"),
    ("facts/<uuid:fact_id>/act", Act, "fact-act"),
    ("facts/<uuid:fact_id>/edit", Edit, "fact-edit"),
    ("observations", Observations, "observations"),
    ("observations/<uuid:observation_id>", ObservationPage, "observation"),
    ("relations", Relations, "relations"),
    ("relations/<uuid:relation_id>", RelationPage, "relation"),
    ("commits/<slug:commit>", CommitPage, "commit"),
    ("undo/<uuid:commit_id>", Undo, "undo"),
    ("branches", Branches, "branches"),
    ("branches/topology", Topology, "topology"),
    ("branches/expired", Expired, "expired"),
    ("sessions", Sessions, "sessions"),
    ("session", SessionPage, "session"),
    ("branches/<path:branch_name>", BranchPage, "branch"),
]
import_modules("memory.views")
PAGES += frames.PAGES  # of views that say themselves where they are shown
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("home", _("Home"), "home", "h", order=10, place="home"))
add_section(Section("sessions", _("Sessions"), "agent", "e", order=10, place="sessions"))
add_section(Section("activity", _("Activity"), "clock", "j", order=40, place="sessions"))
add_section(Section("search", _("Search"), "search", "s", order=10, place="search"))
add_section(Section("facts", _("Facts"), "facts", "f", order=10))
add_section(Section("questions", _("Saved questions"), "verified", "u", order=20, place="insights"))
add_section(Section("observations", _("Observations"), "command", "o", order=30, place="sessions"))
add_section(Section("graph", _("Graph"), "link", "l", order=40, place="insights"))
add_section(Section("branches", _("Branches"), "branch", "b", order=10, place="branches"))
add_section(Section("merge-requests", _("Merge requests"), "merge", "q", order=20, place="branches"))
add_setting(
    "keys", _("Agents & keys"), "key", "k", scope="admin", group=ACCESS, order=10, describe=describe_keys
)
add_setting("members", _("Members"), "members", "m", group=ACCESS, order=20, describe=describe_list(Members))
add_setting(
    "audit", _("Audit"), "history", "a", scope="admin", group=SAFETY, order=95, describe=describe_newest
)
