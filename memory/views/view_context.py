"""Who reads what: the person's actor in the chosen project, on a branch, at a point in time.

All of it stands in the address: /p/<project>/… ?branch=…&at=…
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest
from django.urls import resolve, reverse
from django.utils import timezone

from memory.actors import SCOPES, Actor
from memory.engines.branches import MAIN, BranchManager, point_of
from memory.engines.members import actor_of_member, memberships_of
from memory.exceptions import Conflict, Invalid, NotFound
from memory.models import Branch, Commit, Membership, Project

SURFACE = "web"
SEQ = re.compile(r"\d{1,18}")
RECENT = 8  # branches that the picker of the top bar offers

At = int | UUID | datetime | None


@dataclass(frozen=True)
class Reader:
    """``actor`` for the engines, and the place that is read. ``at`` is None for now."""

    actor: Actor
    membership: Membership
    memberships: list[Membership]
    branch: Branch
    at: At = None
    at_text: str = ""
    seq: int = field(default=0)  # what ``at`` means on the branch; its head for now

    @property
    def project(self) -> Project:
        return self.membership.project

    @property
    def role(self) -> str:
        return self.membership.role

    @property
    def where(self) -> dict[str, Any]:
        """What an engine's reading method wants: FactEngine().list_facts(**reader.where)."""
        return {"actor": self.actor, "branch_name": self.branch.name, "at": self.at}

    @property
    def target(self) -> dict[str, Any]:
        """What an engine's writing method wants. Raises Conflict in the past."""
        self.require_now()
        return {"actor": self.actor, "branch_name": self.branch.name}

    def require_now(self) -> None:
        """Raises Conflict in the past, where nothing can be changed."""
        if not self.is_now:
            raise Conflict("The past is only read: go back to now to change something.")

    @cached_property
    def can(self) -> dict[str, bool]:
        """Which scopes the reader holds. For buttons: the engines check again."""
        return {scope: self.actor.can(scope) for scope in SCOPES}

    @cached_property
    def may(self) -> dict[str, bool]:
        """The same for changing this branch: not in the past, and not when it is archived."""
        open_now = self.is_now and not self.branch.archived_at
        return {scope: held and open_now for scope, held in self.can.items()}

    @property
    def is_now(self) -> bool:
        return self.at is None

    @property
    def is_main(self) -> bool:
        return self.branch.name == MAIN

    @cached_property
    def commit(self) -> Commit | None:
        """The newest commit that is read: when it was, for the words in the bar."""
        return self.branch.commits.filter(seq=self.seq).first()

    @cached_property
    def branches(self) -> list[Branch]:
        """The branches that were written last, for the picker."""
        return BranchManager().find_branches(actor=self.actor, limit=RECENT)

    def url(self, name: str, *args: Any, **query: Any) -> str:
        """The address of a page of this project, on the same branch at the same time.

        ``query`` is added; branch= and at= replace what is read now, None leaves a word out.
        """
        words = {"branch": "" if self.is_main else self.branch.name, "at": self.at_text, **query}
        if words["branch"] == MAIN:
            words["branch"] = ""
        return with_query(reverse(name, args=[self.project.slug, *args]), words)


def with_query(path: str, words: dict[str, Any]) -> str:
    """A path with the words that say something."""
    kept = {name: value for name, value in words.items() if value not in ("", None)}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def moved(address: str, branch: str, at: str) -> str:
    """The page at an address of this site on another branch, at another time. Filters stay, a cursor goes."""
    parts = urlsplit(address)
    found = resolve(parts.path)
    words: dict[str, Any] = {**parse_qs(parts.query), "branch": "" if branch == MAIN else branch, "at": at}
    words.pop("cursor", None)
    if "branch_name" not in found.kwargs:
        return with_query(parts.path, words)
    path = reverse(found.view_name, kwargs={**found.kwargs, "branch_name": branch})
    return with_query(path, {**words, "branch": ""})


def reader_of(request: HttpRequest, slug: str, branch_name: str = "") -> Reader:
    """The reader of a page. Raises NotFound for a project that is not the reader's, BranchNotFound, Invalid.

    ``branch_name`` is for pages that have it in their path.
    """
    memberships = memberships_of(request.user)
    member = next((m for m in memberships if m.project.slug == slug), None)
    if member is None:
        raise NotFound("There is no project here that you belong to.")
    actor = actor_of_member(member, request.user, SURFACE)
    branch = BranchManager().get_branch(
        name=branch_name or request.GET.get("branch", "") or MAIN, actor=actor
    )
    text = request.GET.get("at", "").strip()
    at = read_point(text)
    return Reader(actor, member, memberships, branch, at, text, point_of(branch, at))


def read_point(text: str) -> At:
    """A seq, a commit's id, a day or a time (UTC where it does not say); None for now. Raises Invalid."""
    if not text:
        return None
    if SEQ.fullmatch(text):
        return int(text)
    for read in (UUID, _moment):
        try:
            return read(text)  # type: ignore[no-any-return, operator]
        except (ValueError, OverflowError):
            continue
    raise Invalid(
        "A time is written such as 2026-05-01T12:00, or as the number or the id of a commit.", field="at"
    )


def _moment(text: str) -> datetime:
    if len(text) == 10:
        return datetime.combine(date.fromisoformat(text), time.max, UTC)  # the whole day counts
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)
