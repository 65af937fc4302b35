"""People act through their membership: its role says what they may do in a project."""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from memory.actors import ROLE_SCOPES, Actor
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.engines.pages import Page, page_of
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Membership, Project
from memory.models.nodes import next_rid

Role = Membership.Role


@rerunning
class MemberEngine:
    def list_members(self, *, actor: Actor, limit: int = 50, cursor: str = "") -> Page[Membership]:
        """The members of the project, each with its ``user``, in the order in which they came."""
        actor.require("read")
        members = Membership.objects.filter(project=actor.project_id).select_related("user")
        return page_of(members, key="id", limit=limit, cursor=cursor)

    def add_member(self, *, username: str, role: str, actor: Actor) -> Membership:
        """Raises Invalid where nobody has this name, Exists for who is a member already."""
        actor.require("admin")
        role = check_role(role)
        user = get_user_model().objects.filter(username=c.plain_text("username", username)).first()
        if user is None:
            raise Invalid("Nobody here has the name {name}.", name=username[:150], field="username")
        next_rid.ready()
        try:
            with transaction.atomic(savepoint=False):
                member = Membership.objects.create(project_id=actor.project_id, user=user, role=role)
                record(actor, "member.add", user.get_username(), {"role": role})
        except IntegrityError:
            raise Exists("{name} is a member already.", name=user.get_username()) from None
        return member

    def change_role(self, *, member_id: int, role: str, actor: Actor) -> Membership:
        """Raises NotFound, Conflict for the last maintainer; the same role again changes nothing."""
        actor.require("admin")
        role = check_role(role)
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            member = _locked(actor, member_id)
            if member.role != role:
                _keep_a_maintainer(member)
                detail = {"role": role, "before": member.role}
                member.role = role
                member.save(update_fields=["role"])
                record(actor, "member.role", member.user.get_username(), detail)
        return member

    def remove_member(self, *, member_id: int, actor: Actor) -> None:
        """The person stays, and sees the project no more. Raises as change_role does."""
        actor.require("admin")
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            member = _locked(actor, member_id)
            _keep_a_maintainer(member)
            record(actor, "member.remove", member.user.get_username(), {"role": member.role})
            member.delete()

    def get_member(self, *, member_id: int, actor: Actor) -> Membership:
        """A member of the project. Raises NotFound."""
        actor.require("read")
        return _member(actor, member_id)


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


def check_role(role: str) -> str:
    return str(c.one_of(Role.values)("role", role))


def _member(actor: Actor, member_id: int) -> Membership:
    members = Membership.objects.filter(project=actor.project_id).select_related("user")
    member = members.filter(pk=member_id).first()
    if member is None:
        raise NotFound()
    return member


def _locked(actor: Actor, member_id: int) -> Membership:
    # One change of a project's members at a time, or two maintainers could remove each other.
    Project.objects.select_for_update().get(pk=actor.project_id)
    return _member(actor, member_id)


def _keep_a_maintainer(member: Membership) -> None:
    others = Membership.objects.filter(project=member.project_id, role=Role.MAINTAINER).exclude(pk=member.pk)
    if member.role == Role.MAINTAINER and not others.exists():
        raise Conflict("{name} is the last maintainer of the project.", name=member.user.get_username())
