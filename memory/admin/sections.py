"""The side bar: the pages of the project that is open, then those of the whole server."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memory.actors import ROLE_SCOPES, SCOPES
from memory.engines.members import memberships_of
from memory.models import Membership
from memory.views.base import LAST
from memory.views.reader import Reader

# The name of the URL, the title, the icon, and the scope that it takes to see the page. An app to the right
# puts its own among them.
SECTIONS = [
    ("facts", _("Facts"), "facts", "read"),
    ("review", _("Review"), "inbox", "curate"),
    ("branches", _("Branches"), "branch", "read"),
    ("sessions", _("Sessions"), "agent", "read"),
    ("observations", _("Observations"), "command", "read"),
    ("relations", _("Relations"), "link", "read"),
    ("keys", _("API keys"), "key", "admin"),
    ("members", _("Members"), "members", "admin"),
    ("audit", _("Audit"), "history", "admin"),
]
OF_SERVER = (
    ("auth_user", _("Users"), "person"),
    ("memory_project", _("Projects"), "project"),
    ("django_celery_beat_periodictask", _("Periodic tasks"), "clock"),
)


def add_section(after: str, name: str, title: Any, icon: str, scope: str = "read") -> None:
    """One more page of a project, after the one of this name."""
    names = [section[0] for section in SECTIONS]
    if name not in names:
        SECTIONS.insert(names.index(after) + 1, (name, title, icon, scope))


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """For unfold: only what would not be refused."""
    groups = []
    if reader := getattr(request, "day1_reader", None):
        groups.append({"title": reader.project.name, "items": _of_reader(request, reader)})
    elif member := last_member(request):
        groups.append({"title": member.project.name, "items": _of_member(member)})
    if request.user.is_superuser:
        groups.append({"title": _("Server"), "separator": True, "items": _of_server(request)})
    return groups


def last_member(request: HttpRequest) -> Membership | None:
    """Where the person was last, else the first project that they belong to."""
    members = memberships_of(request.user)
    last = request.session.get(LAST)
    return next((one for one in members if one.project.slug == last), members[0] if members else None)


def _of_reader(request: HttpRequest, reader: Reader) -> list[dict[str, Any]]:
    lit = getattr(request, "day1_section", "")
    return [
        {"title": title, "icon": icon, "link": reader.url(f"admin:{name}"), "active": name == lit}
        for name, title, icon, scope in SECTIONS
        if reader.actor.can(scope)
    ]


def _of_member(member: Membership) -> list[dict[str, Any]]:
    """On a page of the server: no page of the project is lit."""
    held = SCOPES.index(ROLE_SCOPES[member.role])
    slug = member.project.slug
    return [
        {"title": title, "icon": icon, "link": reverse(f"admin:{name}", args=[slug]), "active": False}
        for name, title, icon, scope in SECTIONS
        if SCOPES.index(scope) <= held
    ]


def _of_server(request: HttpRequest) -> list[dict[str, Any]]:
    found = []
    for name, title, icon in OF_SERVER:
        link = reverse(f"admin:{name}_changelist")
        lit = request.path.startswith(link.removesuffix("/").rpartition("/")[0] + "/")  # any page of its app
        found.append({"title": title, "icon": icon, "link": link, "active": lit})
    return found
