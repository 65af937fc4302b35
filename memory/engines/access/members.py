"""Memberships: people act in a project with the rights of their role."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from memory.actors import ROLE_SCOPES, Actor
from memory.db.retry import retry_methods
from memory.engines.audit.trail import record_entry
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.members import MEMBER_FILTERS
from memory.engines.fields.orders import MEMBERS
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Membership, Project
from memory.models.nodes import next_rid

FILTERS = make_filter_checks(MEMBER_FILTERS)
Role = Membership.Role


@retry_methods
class MemberEngine:
    def list_members(
        self,
        *,
        actor: Actor,
        name: str = "",
        role: str = "",
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Membership]:
        """List the members of the project, each with its ``user``, in the order in which they joined."""
        actor.require_scope("read")
        payload = c.validate({"name": name, "role": role}, FILTERS)
        members = Membership.objects.filter(project=actor.project_id).select_related("user")
        if payload["name"]:
            members = members.filter(user__username__icontains=payload["name"])
        if payload["role"]:
            members = members.filter(role=payload["role"])
        return paginate(members, **MEMBERS.read_key(ordering), limit=limit, cursor=cursor)

    def add_member(self, *, username: str, role: str, actor: Actor) -> Membership:
        """Add a user as a member. Needs the scope admin on every branch and for every agent.

        Raises Invalid for an unknown username, Exists for a present member, scope, branch and agent refusals.
        """
        actor.require_admin_of_all()
        role = check_role(role)
        user = get_user_model().objects.filter(username=c.plain_text("username", username)).first()
        if user is None:
            raise Invalid("Nobody here has the name {name}.", name=username[:150], field="username")
        next_rid.ensure_lease()
        try:
            with transaction.atomic(savepoint=False):
                member = Membership.objects.create(project_id=actor.project_id, user=user, role=role)
                record_entry(actor, "member.add", user.get_username(), {"role": role})
        except IntegrityError:
            raise Exists("{name} is a member already.", name=user.get_username()) from None
        return member

    def change_role(self, *, member_id: int, role: str, actor: Actor) -> Membership:
        """Change a member's role; the same role changes nothing. Raises NotFound, Conflict for the last
        maintainer.
        """
        actor.require_admin_of_all()
        role = check_role(role)
        next_rid.ensure_lease()
        with transaction.atomic(savepoint=False):
            member = lock_member(actor, member_id)
            if member.role != role:
                _keep_a_maintainer(member)
                detail = {"role": role, "before": member.role}
                member.role = role
                member.save(update_fields=["role"])
                record_entry(actor, "member.role", member.user.get_username(), detail)
        return member

    def remove_member(self, *, member_id: int, actor: Actor) -> None:
        """Remove a member from the project; the user account stays. Raises as change_role does."""
        actor.require_admin_of_all()
        next_rid.ensure_lease()
        with transaction.atomic(savepoint=False):
            member = lock_member(actor, member_id)
            _keep_a_maintainer(member)
            record_entry(actor, "member.remove", member.user.get_username(), {"role": member.role})
            member.delete()

    def get_member(self, *, member_id: int, actor: Actor) -> Membership:
        """Return a member of the project. Raises NotFound."""
        actor.require_scope("read")
        return get_member(actor, member_id)


def build_member_actor(member: Membership, user: Any, surface: str) -> Actor:
    """Return the actor of a membership that is already loaded."""
    scopes = frozenset({ROLE_SCOPES[member.role]})
    return Actor(member.project_id, "user", str(user.pk), user.get_username(), scopes, surface=surface)


def list_memberships(user: Any) -> list[Membership]:
    """Return a user's memberships, each with its ``project``, by project name; none when inactive."""
    if not user.is_active:
        return []
    own = Membership.objects.filter(user=user).select_related("project").order_by()
    return sorted(own, key=lambda member: (member.project.name, member.project.slug))


def check_role(role: str) -> str:
    return str(c.one_of(Role.values)("role", role))


def get_member(actor: Actor, member_id: int) -> Membership:
    members = Membership.objects.filter(project=actor.project_id).select_related("user")
    member = members.filter(pk=member_id).first()
    if member is None:
        raise NotFound()
    return member


def lock_member(actor: Actor, member_id: int) -> Membership:
    # Serialise changes of a project's members, or two maintainers could remove each other.
    Project.objects.select_for_update().get(pk=actor.project_id)
    return get_member(actor, member_id)


def _keep_a_maintainer(member: Membership) -> None:
    others = Membership.objects.filter(project=member.project_id, role=Role.MAINTAINER).exclude(pk=member.pk)
    if member.role == Role.MAINTAINER and not others.exists():
        raise Conflict("{name} is the last maintainer of the project.", name=member.user.get_username())
