"""People act through their membership: its role says what they may do in a project."""

from typing import Any
from uuid import UUID

from memory.actors import ROLE_SCOPES, Actor
from memory.exceptions import NotFound
from memory.models import Membership


def member_actor(user: Any, project_id: UUID, surface: str) -> Actor:
    """The actor that a signed-in person is in a project. NotFound for who is no member, or inactive."""
    member = Membership.objects.filter(project=project_id, user=user, user__is_active=True).first()
    if member is None:
        raise NotFound()
    return actor_of_member(member, user, surface)


def actor_of_member(member: Membership, user: Any, surface: str) -> Actor:
    """The same for a membership that was read already."""
    scopes = frozenset({ROLE_SCOPES[member.role]})
    return Actor(member.project_id, "user", str(user.pk), user.get_username(), scopes, surface=surface)


def memberships_of(user: Any) -> list[Membership]:
    """Where a person belongs, each with its ``project``, by the project's name; none when inactive."""
    own = Membership.objects.filter(user=user, user__is_active=True)
    return list(own.select_related("project").order_by("project__name", "project__slug"))
