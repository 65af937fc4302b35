"""The one navigation of both frames: the sections of a project, then the lists of the whole server."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memory.actors import ROLE_SCOPES, SCOPES, Actor
from memory.engines.access.members import build_member_actor, list_memberships
from memory.models import Membership
from memory.views.frames import ADMIN
from memory.views.view_context import COUNTERS, REQUESTS, REVIEW

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

LAST = "day1_project"  # in the session: the project that was open last
COUNT_IDS = {REVIEW: "open-questions", REQUESTS: "open-requests"}  # of their elements
SEPARATE_FROM = 80  # sections from this order on stand apart: who may use the project, and what was done


@dataclass(frozen=True)
class Section:
    """A section. ``name`` is its URL's, ``letter`` the key after g, ``scope`` is required to see it."""

    name: str
    title: "StrOrPromise"
    icon: str
    letter: str
    scope: str = "read"
    order: int = 50


@dataclass(frozen=True)
class Entry:
    """An entry as it is drawn."""

    title: "StrOrPromise"
    icon: str
    url: str
    letter: str = ""
    is_current: bool = False
    count: str | None = None  # None where nothing is counted
    count_id: str = ""
    is_separate: bool = False


SECTIONS: list[Section] = []
SERVER_LISTS = (
    ("auth_user", _("Users"), "person"),
    ("memory_project", _("Projects"), "project"),
    ("memory_membership", _("Roles"), "members"),
    ("django_celery_beat_periodictask", _("Periodic tasks"), "clock"),
)


def add_section(section: Section) -> None:
    """Add a section; "" is no letter. Raises ValueError if its letter or name is taken."""
    if any(section.letter == other.letter != "" or section.name == other.name for other in SECTIONS):
        raise ValueError(f"The letter {section.letter} or the name {section.name} is taken.")
    SECTIONS.append(section)
    SECTIONS.sort(key=lambda one: one.order)


def sections_for(actor: Actor) -> Iterable[Section]:
    """Return the sections that the actor may open."""
    return [section for section in SECTIONS if actor.has_scope(section.scope)]


def list_entries(
    request: HttpRequest, reader: Any = None, section: str = ""
) -> list[tuple[Any, list[Entry]]]:
    """Return the groups of the navigation, each with its title: only what would not be refused.

    On a page of the whole server there is no reader: its project is the one that was open last.
    """
    if reader:
        name, entries = reader.project.name, list(_list_reader_entries(reader, section))
    elif member := last_member(request):
        name, entries = member.project.name, list(_list_member_entries(member, request.user))
    else:
        name, entries = "", []
    groups: list[tuple[Any, list[Entry]]] = [
        (name, [one for one in entries if not one.is_separate]),
        ("", [one for one in entries if one.is_separate]),
    ]
    if request.user.is_superuser:
        groups.append((_("Server"), list(_list_server_entries(request))))
    return [group for group in groups if group[1]]


def last_member(request: HttpRequest) -> Membership | None:
    """Return where the person was last, else the first project that they belong to."""
    members = list_memberships(request.user)
    last = request.session.get(LAST)
    return next((one for one in members if one.project.slug == last), members[0] if members else None)


def _list_reader_entries(reader: Any, current: str) -> Iterable[Entry]:
    for one in sections_for(reader.actor):
        is_current, apart = one.name == current, one.order >= SEPARATE_FROM
        count, count_id = count_for_reader(reader, one.name), COUNT_IDS.get(one.name, "")
        yield Entry(one.title, one.icon, reader.url(one.name), one.letter, is_current, count, count_id, apart)


def count_for_reader(reader: Any, name: str) -> str | None:
    """Return how much waits in a section; None where nothing is counted."""
    if name == REVIEW:
        questions: str = reader.open_questions
        return questions
    return COUNTERS[name](reader.actor, None) if name in COUNTERS else None


def _list_member_entries(member: Membership, user: Any) -> Iterable[Entry]:
    highest = SCOPES.index(ROLE_SCOPES[member.role])
    for one in SECTIONS:
        if SCOPES.index(one.scope) <= highest:
            url = ADMIN.reverse(one.name, member.project.slug)
            counter = COUNTERS.get(one.name)
            count = counter(build_member_actor(member, user, ADMIN.surface), None) if counter else None
            apart = one.order >= SEPARATE_FROM
            yield Entry(one.title, one.icon, url, one.letter, count=count, is_separate=apart)


def _list_server_entries(request: HttpRequest) -> Iterable[Entry]:
    for name, title, icon in SERVER_LISTS:
        url = reverse(f"admin:{name}_changelist")
        app = url.removesuffix("/").rpartition("/")[0] + "/"  # any page of its app
        yield Entry(title, icon, url, is_current=request.path.startswith(app))
