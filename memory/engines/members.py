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
    scopes = frozenset({ROLE_SCOPES[member.role]})
    return Actor(project_id, "user", str(user.pk), user.get_username(), scopes, surface=surface)
