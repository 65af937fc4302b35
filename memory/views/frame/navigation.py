"""The one navigation of both frames: eight places of a project, then the lists of the whole server."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.actors import Actor
from memory.engines.access.members import build_member_actor, list_memberships
from memory.engines.access.second_factors import has_factor_for
from memory.models import Membership
from memory.views.frame.frames import ADMIN
from memory.views.frame.view_context import COUNTERS, REQUESTS, REVIEW, ViewContext

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

LAST = "day1_project"  # in the session: the project that was open last
COUNT_IDS = {REVIEW: "open-questions", REQUESTS: "open-requests"}  # of their elements


@dataclass(frozen=True)
class Place:
    """One of the eight entries of the menu; what it holds are its sections."""

    name: str
    title: "StrOrPromise"
    icon: str


PLACES = (
    Place("home", _("Home"), "home"),
    Place("review", _("Review"), "inbox"),
    Place("search", _("Search"), "search"),
    Place("facts", _("Facts"), "facts"),
    Place("sessions", _("Sessions"), "agent"),
    Place("branches", _("Branches"), "branch"),
    Place("insights", _("Insights"), "chart"),
    Place("settings", _("Settings"), "gear"),
)
PLACE_NAMES = [place.name for place in PLACES]


@dataclass(frozen=True)
class Section:
    """A part of a place. ``name`` is its URL's, ``letter`` the key after g, ``scope`` is needed to see it.

    Without ``is_tab`` the place's own page leads there. A place with groups opens with an overview, where
    each section says with ``describe`` how it stands; its tabs are those of its group.
    """

    name: str
    title: "StrOrPromise"
    icon: str
    letter: str
    scope: str = "read"
    order: int = 50
    place: str = "facts"
    is_tab: bool = True
    group: "StrOrPromise" = ""
    describe: Callable[[ViewContext], Any] | None = None


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


Counter = Callable[[str], str | None]  # how much waits in the section of a name; None: nothing is counted

ACCESS, BEHAVIOUR = _("Access"), _("Behaviour")  # groups of settings
SHARE, SAFETY = pgettext_lazy("settings", "Share"), _("Safety")
SECTIONS: list[Section] = []
SERVER_LISTS = (
    ("auth_user", _("Users"), "person"),
    ("memory_project", _("Projects"), "project"),
    ("memory_membership", _("Roles"), "members"),
    ("django_celery_beat_periodictask", _("Periodic tasks"), "clock"),
)


def add_section(section: Section) -> None:
    """Add a section; "" is no letter. Raises ValueError for a letter or name that is taken, or no place."""
    if any(section.letter == other.letter != "" or section.name == other.name for other in SECTIONS):
        raise ValueError(f"The letter {section.letter} or the name {section.name} is taken.")
    SECTIONS.append(section)
    SECTIONS.sort(key=lambda one: (PLACE_NAMES.index(one.place), one.order))


def add_setting(
    name: str,
    title: "StrOrPromise",
    icon: str,
    letter: str = "",
    *,
    group: "StrOrPromise",
    order: int,
    describe: Callable[[ViewContext], Any],
    scope: str = "read",
) -> None:
    """Add a part of the settings; ``describe`` says in their overview how it stands."""
    add_section(Section(name, title, icon, letter, scope, order, "settings", group=group, describe=describe))


def sections_for(actor: Actor) -> list[Section]:
    """Return the sections that the actor may open."""
    return [section for section in SECTIONS if actor.has_scope(section.scope)]


def list_entries(
    request: HttpRequest, reader: Any = None, section: str = ""
) -> list[tuple[Any, list[Entry]]]:
    """Return the groups of the menu, each with its title: only what would not be refused.

    On a page of the whole server there is no reader: its project is the one that was open last.
    """
    if reader:
        groups = [(reader.project.name, list(_list_reader_places(reader, section)))]
    elif member := last_member(request):
        groups = [(member.project.name, list(_list_member_places(member, request)))]
    else:
        groups = []
    if request.user.is_superuser:
        groups.append((_("Server"), list(_list_server_entries(request, reader, section))))
    return groups


def list_tabs(reader: Any, section: str) -> list[Entry]:
    """Return the sections of the place that is read, of one group of them; none where it is a single one."""
    present = next((one for one in SECTIONS if one.name == section), None)
    if present is None:
        return []
    place = [one for one in sections_for(reader.actor) if one.place == present.place and one.is_tab]
    mine = [one for one in place if one.group in ("", present.group)]
    return [_link_section(one, reader.url, section) for one in mine] if len(mine) > 1 else []


def list_links(reader: Any) -> list[Entry]:
    """Return every section that the reader may open: where the keys lead to."""
    return [_link_section(one, reader.url, "") for one in sections_for(reader.actor)]


def last_member(request: HttpRequest) -> Membership | None:
    """Return where the person was last, else the first project that they belong to."""
    members = list_memberships(request.user)
    last = request.session.get(LAST)
    return next((one for one in members if one.project.slug == last), members[0] if members else None)


def _link_section(section: Section, url: Callable[[str], str], current: str) -> Entry:
    is_current = section.name == current
    return Entry(section.title, section.icon, url(section.name), section.letter, is_current)


def _list_reader_places(reader: Any, current: str) -> Iterable[Entry]:
    return _list_places(reader.actor, reader.url, partial(count_for_reader, reader), current)


def _list_member_places(member: Membership, request: HttpRequest) -> Iterable[Entry]:
    """Return the places of a project whose page is not read; its counts are for who may read it."""
    actor = build_member_actor(member, request.user, ADMIN.surface)
    count = partial(count_for_actor, actor) if has_factor_for(member.project, request.session) else count_none
    return _list_places(actor, lambda name: ADMIN.reverse(name, member.project.slug), count)


def _list_places(
    actor: Actor, url: Callable[[str], str], count: Counter, current: str = ""
) -> Iterable[Entry]:
    """Yield the places with a section that may be opened; a place opens with its first."""
    sections = sections_for(actor)
    for place in PLACES:
        mine = [one for one in sections if one.place == place.name]
        counted = next((one.name for one in mine if one.name in COUNT_IDS), "")
        is_current = any(one.name == current for one in mine)
        if mine:
            waiting, count_id = count(counted) if counted else None, COUNT_IDS.get(counted, "")
            yield Entry(place.title, place.icon, url(mine[0].name), "", is_current, waiting, count_id)


def count_for_reader(reader: Any, name: str) -> str | None:
    """Return how much waits in a section; None where nothing is counted."""
    if name == REVIEW:
        questions: str = reader.open_questions
        return questions
    return count_for_actor(reader.actor, name)


def count_for_actor(actor: Actor, name: str) -> str | None:
    return COUNTERS[name](actor, None) if name in COUNTERS else None


def count_none(_name: str) -> None:
    return None


def _list_server_entries(request: HttpRequest, reader: Any, section: str) -> Iterable[Entry]:
    """Yield the lists of the whole server; that of projects is a page, which stands below a project."""
    for name, title, icon in SERVER_LISTS:
        if reader and name == "memory_project":
            yield Entry(title, icon, reader.url("projects"), is_current=section == "projects")
            continue
        url = reverse(f"admin:{name}_changelist")
        app = url.removesuffix("/").rpartition("/")[0] + "/"  # any page of its app
        yield Entry(title, icon, url, is_current=request.path.startswith(app))
