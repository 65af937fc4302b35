"""The view context: the person's actor in the chosen project, on a branch, at a point in time.

All of it is in the address: /p/<project>/… ?branch=…&at=…
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest
from django.urls import get_script_prefix, resolve, reverse
from django.utils import timezone

from memory.actors import SCOPES, Actor
from memory.engines.access.members import build_member_actor, list_memberships
from memory.engines.access.second_factors import require_factor
from memory.engines.branches.manager import BranchManager
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.sessions.manager import list_named
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.engines.versions.policies import find_direct_writes
from memory.exceptions import Conflict, Invalid, NotFound
from memory.models import Branch, Commit, Membership, Project, Session
from memory.models.policies import DirectWrites
from memory.views.frame.frames import WEB, Frame
from memory.views.text.times import format_time

SEQ = re.compile(r"\d{1,18}")
MAX_COUNTED_QUESTIONS = 100  # open questions are counted up to this number, and merge requests
RECENT = 8  # branches in the picker of the top bar

At = int | UUID | datetime | None

REVIEW, REQUESTS = "review", "merge-requests"  # the sections with a count
Counter = Callable[[Actor, Branch | None], str]
COUNTERS: dict[str, Counter] = {}


def add_counter(section: str, count: Counter) -> None:
    """Show beside a section how much waits there for a person, on all branches or on one."""
    COUNTERS[section] = count


class ProjectRenamed(NotFound):
    """The address of a project before it was renamed; ``slug`` is the present one."""

    def __init__(self, slug: str) -> None:
        super().__init__()
        self.slug = slug


@dataclass(frozen=True)
class ViewContext:
    """The ``actor`` for the engines, and the location that is read. ``at`` is None for now."""

    actor: Actor
    membership: Membership
    memberships: list[Membership]
    branch: Branch
    at: At = None
    at_text: str = ""
    seq: int = field(default=0)  # what ``at`` means on the branch; its head for now
    frame: Frame = WEB

    @property
    def project(self) -> Project:
        return self.membership.project

    @property
    def role(self) -> str:
        return self.membership.role

    @property
    def read_args(self) -> dict[str, Any]:
        """Return arguments for an engine's read method: FactEngine().list_facts(**reader.read_args)."""
        return {"actor": self.actor, "branch_name": self.branch.name, "at": self.at}

    @property
    def write_args(self) -> dict[str, Any]:
        """Return arguments for an engine's write method. Raises Conflict in the past."""
        self.require_now()
        return {"actor": self.actor, "branch_name": self.branch.name}

    def require_now(self) -> None:
        """Check that the present is read. Raises Conflict in the past, where nothing can be changed."""
        if not self.is_now:
            raise Conflict("The past is only read: go back to now to change something.")

    @cached_property
    def can(self) -> dict[str, bool]:
        """Return the actor's scopes, by name. For buttons: the engines check again."""
        return {scope: self.actor.has_scope(scope) for scope in SCOPES}

    @cached_property
    def allowed_now(self) -> dict[str, bool]:
        """Return the scopes usable on this branch now: none in the past, when it is archived or read-only."""
        open_now = self.is_now and not self.branch.archived_at and not self.branch.read_only
        return {scope: has_scope and open_now for scope, has_scope in self.can.items()}

    @cached_property
    def writes_now(self) -> bool:
        """Return whether the person may change memory on this branch now, by right and by its policy."""
        if not self.allowed_now["write"]:
            return False
        direct_writes = find_direct_writes(self.project.pk, self.branch.name)
        return direct_writes == DirectWrites.ALLOW or (
            direct_writes == DirectWrites.PROPOSE and self.can["curate"]
        )

    @property
    def is_now(self) -> bool:
        return self.at is None

    @property
    def is_main(self) -> bool:
        return self.branch.name == MAIN

    @cached_property
    def commit(self) -> Commit | None:
        """Return the newest visible commit, with its branch: before the fork it is an ancestor's."""
        branch, seq = self.branch.lineage(self.seq)[0]
        return Commit.objects.filter(branch=branch, seq=seq).select_related("branch").first()

    @cached_property
    def moment(self) -> datetime:
        """Return the time that is read: now, or that of the past point."""
        if self.is_now:
            return timezone.now()
        if isinstance(self.at, datetime):
            return self.at
        return self.commit.at if self.commit else self.branch.created_at

    @property
    def read_at(self) -> str:
        """Return the past point as people read it: a time in the reader's zone, or what the address says."""
        if isinstance(self.at, datetime) and "T" in self.at_text:
            return format_time(self.at)
        return self.at_text

    @property
    def is_before_fork(self) -> bool:
        return self.seq < 0

    @cached_property
    def branches(self) -> list[Branch]:
        """Return the branches with the latest writes, for the picker."""
        return BranchManager().find_branches(actor=self.actor, limit=RECENT)

    @cached_property
    def sessions(self) -> dict[str, Session | None]:
        """Return the sessions whose titles were loaded, by their ids; None for one that may not be seen."""
        return {}

    def name_sessions(self, keys: Iterable[str]) -> None:
        """Load the titles of sessions together, for a page that links to several."""
        missing = {key for key in keys if key} - self.sessions.keys()
        named = list_named(self.actor, missing) if missing else {}
        self.sessions.update({key: named.get(key) for key in missing})

    @cached_property
    def open_questions(self) -> str:
        """Return how much waits for a decision on this branch, as Review counts it: "99+" for many."""
        if not (self.can["curate"] and self.is_now):
            return ""
        return COUNTERS[REVIEW](self.actor, self.branch)

    def url(self, name: str, *args: Any, **query: Any) -> str:
        """Return the address of a page of this project in this frame, on the same branch at the same time.

        ``query`` is added; branch= and at= replace the present ones, None omits a parameter.
        """
        words = {"branch": "" if self.is_main else self.branch.name, "at": self.at_text, **query}
        if words["branch"] == MAIN:
            words["branch"] = ""
        return with_query(self.frame.reverse(name, self.project.slug, *args), words)


def build_undo_url(reader: ViewContext, commit: Commit | None) -> str:
    """Return the address that reverts a commit; "" without one."""
    return reader.frame.reverse("undo", reader.project.slug, commit.pk) if commit else ""


def count_requests(actor: Actor, _branch: Branch | None = None) -> str:
    """Return the number of merge requests that wait: "" for none, "99+" for many."""
    return format_count(RequestHistoryEngine().count_pending(actor=actor, maximum=MAX_COUNTED_QUESTIONS))


add_counter(REQUESTS, count_requests)


def format_count(count: int) -> str:
    """Return a count for a badge: "" for none, "99+" for many."""
    return f"{MAX_COUNTED_QUESTIONS - 1}+" if count == MAX_COUNTED_QUESTIONS else str(count or "")


def with_query(path: str, words: dict[str, Any]) -> str:
    """Return a path with the parameters that are not empty."""
    kept = {name: value for name, value in words.items() if value not in ("", None)}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def relocate(address: str, branch: str, at: str) -> str:
    """Return an address of this site at another branch and time. Filters stay, a cursor is removed."""
    parts = urlsplit(address)
    found = resolve(f"/{parts.path.removeprefix(get_script_prefix())}")
    words: dict[str, Any] = {**parse_qs(parts.query), "branch": "" if branch == MAIN else branch, "at": at}
    words.pop("cursor", None)
    if "branch_name" not in found.kwargs:
        return with_query(parts.path, words)
    path = reverse(found.view_name, kwargs={**found.kwargs, "branch_name": branch})
    return with_query(path, {**words, "branch": ""})


def build_view_context(
    request: HttpRequest, slug: str, branch_name: str = "", frame: Frame = WEB
) -> ViewContext:
    """Return the reader of a page. Raises NotFound for a foreign project, BranchNotFound, Invalid.

    Raises NotFound for a project that the user does not belong to, BranchNotFound, Invalid.
    """
    memberships = list_memberships(request.user)
    member = next((m for m in memberships if m.project.slug == slug), None)
    if member is None:
        moved = next((m.project for m in memberships if slug in m.project.former_slugs), None)
        if moved:
            raise ProjectRenamed(moved.slug)
        raise NotFound("There is no project here that you belong to.")
    require_factor(member.project, request.session)
    actor = build_member_actor(member, request.user, frame.surface)
    name = branch_name or request.GET.get("branch", "") or MAIN
    actor.require_scope("read", name)
    branch = find_branch(actor, name)
    text = request.GET.get("at", "").strip()
    at = read_point(text)
    return ViewContext(actor, member, memberships, branch, at, text, resolve_point(branch, at), frame)


def read_point(text: str) -> At:
    """Parse a seq, a commit's id, a day or a time (UTC by default); None for now. Raises Invalid."""
    if not text:
        return None
    if SEQ.fullmatch(text):
        return int(text)
    for read in (UUID, parse_moment):
        try:
            return read(text)
        except (ValueError, OverflowError):
            continue
    raise Invalid(
        "A time is written such as 2026-05-01T12:00, or as the number or the id of a commit.", field="at"
    )


def parse_moment(text: str) -> datetime:
    if len(text) == 10:
        return datetime.combine(date.fromisoformat(text), time.max, UTC)  # the whole day is included
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)
