"""Memberships: people act in a project with the rights of their role, which end with what they made."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import ADMIN, OWNER, ROLE_SCOPES, SERVER, Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.makers import Identity, find_made
from memory.engines.access.webhooks import pause_made_by
from memory.engines.audit.trail import record_entry
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.members import MEMBER_FILTERS, PREVIEW
from memory.engines.fields.orders import MEMBERS
from memory.engines.support import validation as c
from memory.engines.support.batches import batched
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.exceptions import Conflict, Exists, Invalid, NotFound, ScopeMissing
from memory.models import ApiKey, Connection, Invitation, Membership, Project, WorkHandle

WEB_SURFACE = "web"  # of the pages, and of the streams that they follow
FILTERS = make_filter_checks(MEMBER_FILTERS)
Role = Membership.Role
RANKS = {role: rank for rank, role in enumerate(Role.values)}
KEPT_ROLES = (Role.MAINTAINER, Role.OWNER)  # only owners take rights from them
SUPERUSER = _(
    "{name} keeps the whole server: only a superuser or the server's own command line removes or lowers them."
)
OF_GROUPS = _("Groups at the login provider give {name} the role {role}: take {name} out of the group there.")
BATCH_SIZE = 500
MAX_LISTED_KEYS = 100


@dataclass(frozen=True)
class Departure:
    """What a member made, rotated and holds: all of it ends, but for ``joined``, the members let in."""

    member: Membership
    keys: list[ApiKey]
    invitations: list[Invitation]
    joined: list[Membership]
    logins: list[Session]
    dry_run: bool = True  # nothing of it was done yet

    @property
    def name(self) -> str:
        return str(self.member.user.get_username())

    @property
    def first_keys(self) -> list[ApiKey]:
        """Return as many keys as a page or an answer lists."""
        return self.keys[:MAX_LISTED_KEYS]

    @property
    def lines(self) -> list[str]:
        """Return a line for each of it, for the question before."""
        keys = [f"{key} · {key.created_by}" for key in self.first_keys]
        return [*keys, *(str(one) for one in self.invitations)]

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(getattr(self, name)) for name in ("keys", "invitations", "logins")}


@retry_methods
class MemberEngine:
    def list_members(
        self, *, actor: Actor, name: str = "", role: str = "", **paging: Unpack[Sorting]
    ) -> Page[Membership]:
        """List the members of the project, each with its ``user``, in the order in which they joined."""
        actor.require_scope("read")
        filters = c.validate({"name": name, "role": role}, FILTERS)
        members = Membership.objects.filter(project=actor.project_id).select_related("user")
        if filters["name"]:
            members = members.filter(user__username__icontains=filters["name"])
        if filters["role"]:
            members = members.filter(role=filters["role"])
        return paginate(members, MEMBERS, **paging)

    def add_member(self, *, username: str, actor: Actor, role: str = Role.VIEWER) -> Membership:
        """Add a user as a member. Needs the scope admin on every branch and for every agent, and owner to
        add an owner. The first maintainer of a project that has no owner becomes its owner.

        Raises Invalid for an unknown username, Exists for a present member, Conflict where the project has as
        many members as it may, scope, branch and agent refusals.
        """
        actor.require_admin_of_all()
        role = check_role(role)
        require_giving(actor, role)
        try:
            with write_transaction():
                member = create_member(username, find_first_role(actor.project_id, role), actor)
        except IntegrityError:
            raise Exists("{name} is a member already.", name=username) from None
        return member

    def change_role(self, *, member_id: int, role: str, actor: Actor) -> Membership:
        """Change a member's role; the same role changes nothing. Owners alone give the role owner, and take
        rights from maintainers and owners; everybody may lower themselves. An owner who is lowered loses
        the keys that may do as an owner does.

        Raises NotFound, Conflict for the last owner, ScopeMissing where a superuser would be lowered.
        """
        actor.require_admin_of_all()
        role = check_role(role)
        with write_transaction():
            member = lock_member(actor, member_id)
            if member.role != role:
                if RANKS[role] < RANKS[member.role]:
                    _require_taking(member, actor)
                require_giving(actor, role)
                role = find_first_role(actor.project_id, role)
                _keep_group_role(member, role)
                store_role(member, role, actor)
        return member

    def preview_removal(self, *, member_id: int, actor: Actor) -> Departure:
        """Return what ``remove_member`` would end. Raises as it does."""
        actor.require_admin_of_all()
        member = get_member(actor, member_id)
        _require_taking(member, actor)
        return find_departure(member, actor)

    def remove_member(
        self, *, member_id: int, actor: Actor, dry_run: Annotated[bool, PREVIEW] = False
    ) -> Departure:
        """Remove a member from the project; return what ended with it: the keys that the member or its keys
        made, open invitations and logins. The account stays, and so does all that was written.
        Owners alone remove maintainers and owners, but for themselves.

        Raises NotFound, Conflict for the last owner, ScopeMissing for a superuser.
        """
        if dry_run:
            return self.preview_removal(member_id=member_id, actor=actor)
        actor.require_admin_of_all()
        with write_transaction():
            member = lock_member(actor, member_id)
            _require_taking(member, actor)
            departure = find_departure(member, actor)
            carry_out(departure, actor)
            Membership.objects.filter(pk=member.pk).delete()  # the row is told of still
        return replace(departure, dry_run=False)

    def end_holdings(self, *, member_id: int, actor: Actor) -> Departure:
        """End what a member made and holds, as ``remove_member`` does, and leave the membership: for an
        account that is closed. Raises NotFound, Conflict for the last owner.
        """
        actor.require_admin_of_all()
        with write_transaction():
            member = lock_member(actor, member_id)
            keep_an_owner(member)
            departure = find_departure(member, actor)
            carry_out(departure, actor, "member.close")
        return replace(departure, dry_run=False)

    def find_member(self, *, username: str, actor: Actor) -> Membership:
        """Return the member with a username. Raises NotFound."""
        actor.require_scope("read")
        members = Membership.objects.filter(project=actor.project_id).select_related("user")
        if member := members.filter(user__username=username).first():
            return member
        raise NotFound("Nobody of the name {name} is a member of this project.", name=username[:150])


def build_member_actor(member: Membership, user: Any, surface: str) -> Actor:
    """Return the actor of a membership that is already loaded."""
    scopes = frozenset({ROLE_SCOPES[member.role], *([SERVER] if user.is_superuser else ())})
    return Actor(member.project_id, "user", str(user.pk), user.get_username(), scopes, surface=surface)


def build_server_actor(project_id: UUID, user: Any) -> Actor:
    """Return the actor of a superuser in a project, member or not: who keeps the server may give roles."""
    scopes = frozenset({OWNER, SERVER} if user.is_superuser and user.is_active else ())
    return Actor(project_id, "user", str(user.pk), user.get_username(), scopes, surface="admin")


def list_memberships(user: Any) -> list[Membership]:
    """Return a user's memberships, each with its ``project``, by project name; none when inactive."""
    if not user.is_active:
        return []
    own = Membership.objects.filter(user=user).select_related("project").order_by()
    return sorted(own, key=lambda member: (member.project.name, member.project.slug))


def check_role(role: str) -> str:
    return str(c.one_of(Role.values)("role", role))


def create_member(username: str, role: str, actor: Actor) -> Membership:
    """Create a membership within a transaction, and tell of it. Raises Invalid, Conflict, IntegrityError."""
    user = get_user_model().objects.filter(username=c.plain_text("username", username)).first()
    if user is None:
        raise Invalid("Nobody here has the name {name}.", name=username[:150], field="username")
    return let_in(user, role, actor)


def let_in(user: Any, role: str, actor: Actor, group_role: str = "") -> Membership:
    """Make a user a member within a transaction, and tell of it. Raises Conflict, IntegrityError."""
    require_place(actor.project_id)
    fields = {"role": role, "group_role": group_role, **actor.identity_fields("created_by")}
    member = Membership.objects.create(project_id=actor.project_id, user=user, **fields)
    record_entry(actor, "member.add", user.get_username(), {"role": role})
    return member


def get_member(actor: Actor, member_id: int) -> Membership:
    members = Membership.objects.filter(project=actor.project_id).select_related("user")
    member = members.filter(pk=member_id).first()
    if member is None:
        raise NotFound()
    return member


def lock_member(actor: Actor, member_id: int) -> Membership:
    # Serialise changes of a project's members, or two owners could remove each other.
    Project.objects.select_for_update().get(pk=actor.project_id)
    return get_member(actor, member_id)


def require_place(project_id: UUID) -> None:
    """Refuse a member more than a project may have, within the transaction that adds one. Raises Conflict."""
    limit = Project.objects.select_for_update().get(pk=project_id).member_limit
    if limit is not None and Membership.objects.filter(project=project_id).count() >= limit:
        raise Conflict("The project may have {most} members, and has as many.", most=limit)


def _keep_group_role(member: Membership, role: str) -> None:
    """Write down a role given by hand beside that of groups, which it cannot lower. Raises Conflict."""
    if not member.group_role:
        return
    if RANKS[role] < RANKS[member.group_role]:
        raise Conflict(OF_GROUPS, name=member.user.get_username(), role=member.group_role)
    member.given_role = role
    member.save(update_fields=["given_role"])


def require_owner(actor: Actor) -> None:
    """Refuse who is no owner, or is none any more, on every branch and for every agent.

    Raises ScopeMissing, BranchForbidden, AgentForbidden.
    """
    keeps_server = actor.has_scope(SERVER)
    actor.require_scope(ADMIN if keeps_server else OWNER)
    actor.require_every_branch()
    actor.require_every_agent()
    if actor.kind == "user" and not keeps_server:
        own = Membership.objects.filter(project=actor.project_id, user__pk=int(actor.id), role=Role.OWNER)
        if not own.exists():
            raise ScopeMissing(scope=OWNER)


def require_giving(actor: Actor, role: str) -> None:
    """Refuse who gives the role of an owner and is none. Raises ScopeMissing."""
    if role == Role.OWNER:
        require_owner(actor)


def _require_taking(member: Membership, actor: Actor) -> None:
    """Refuse who takes rights that only owners take, and the last owner. Raises ScopeMissing, Conflict."""
    _keep_superuser(member, actor)
    is_own = actor.identity == ("user", str(member.user_id))
    if member.role in KEPT_ROLES and not is_own:
        require_owner(actor)
    keep_an_owner(member)


def _keep_superuser(member: Membership, actor: Actor) -> None:
    """Refuse what lowers a superuser, except to superusers and the local user. Raises ScopeMissing."""
    if not member.user.is_superuser or actor.kind == "local":
        return
    if actor.kind == "user" and actor.id:
        users = get_user_model().objects.filter(pk=actor.id, is_superuser=True, is_active=True)
        if users.exists():
            return
    raise ScopeMissing(SUPERUSER, name=member.user.get_username())


def keep_an_owner(member: Membership) -> None:
    """Refuse to let the last owner go who can log in. Raises Conflict."""
    owners = Membership.objects.filter(project=member.project_id, role=Role.OWNER, user__is_active=True)
    if member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        raise Conflict("{name} is the last owner of the project.", name=member.user.get_username())


def find_first_role(project_id: UUID, role: str) -> str:
    """Return the role that a new maintainer has: the first of a project without an owner is its owner."""
    owners = Membership.objects.filter(project=project_id, role=Role.OWNER)
    return Role.OWNER if role == Role.MAINTAINER and not owners.exists() else role


def settle_owner(project_id: UUID) -> None:
    """Make the first maintainer of a new project its owner, where none was named."""
    members = Membership.objects.filter(project=project_id)
    first = members.filter(role=Role.MAINTAINER).order_by("pk").first()
    if first and not members.filter(role=Role.OWNER).exists():
        members.filter(pk=first.pk).update(role=Role.OWNER)


def store_role(member: Membership, role: str, actor: Actor) -> None:
    """Give a member a role, and tell of it; keys and invitations of an owner's rights end with these."""
    detail = {"role": role, "before": member.role}
    if member.role == Role.OWNER:
        _end_owner_grants(member, actor)
    member.role = role
    member.save(update_fields=["role"])
    record_entry(actor, "member.role", member.user.get_username(), detail)


def _end_owner_grants(member: Membership, actor: Actor) -> None:
    """End open keys and invitations that give an owner's rights, made by a member or keys of theirs."""
    made, makers = find_made(member)
    keys = [one for one in made if OWNER in one.scopes and not one.ended]
    rows = Invitation.objects.filter(project=member.project_id, role=Role.OWNER)
    open_now = (one for one in rows if one.state == Invitation.State.OPEN)
    links = [one for one in open_now if (one.created_by_kind, one.created_by_id) in makers]
    _revoke(keys, links, actor, {"with": f"member {member.user}"})


# ---- what ends with a membership ---------------------------------------------------------------------


def find_departure(member: Membership, actor: Actor) -> Departure:
    """Return what would end if the actor removed a member."""
    project_id, (made, makers) = member.project_id, find_made(member)
    links = [one for one in Invitation.objects.filter(project=project_id) if _is_known(one, makers, member)]
    others = Membership.objects.filter(project=project_id).exclude(pk=member.pk).select_related("user")
    return Departure(
        member,
        [key for key in made if not (key.connection or key).ended],
        [one for one in links if one.state == Invitation.State.OPEN],
        [one for one in others.order_by("pk") if (one.created_by_kind, one.created_by_id) in makers],
        [] if actor.identity == ("user", str(member.user_id)) else list_logins(member),
    )


def _is_known(invitation: Invitation, makers: set[Identity], member: Membership) -> bool:
    """Return whether a member or a key of theirs made a link, or the member came by it."""
    made_by = invitation.created_by_kind, invitation.created_by_id
    return made_by in makers or invitation.pk == member.invitation_id


def list_logins(member: Membership) -> list[Session]:
    """Return the logins of a member whom nothing else keeps on this server; [] for all others.

    Who belongs to other projects, or keeps the server, stays logged in: pages of this project ask for the
    membership each time.
    """
    user: Any = member.user
    if (
        user.is_superuser
        or user.is_staff
        or Membership.objects.filter(user=user).exclude(pk=member.pk).exists()
    ):
        return []
    open_now = Session.objects.filter(expire_date__gt=timezone.now())
    return [one for one in open_now if one.get_decoded().get(SESSION_KEY) == str(user.pk)]


def carry_out(departure: Departure, actor: Actor, action: str = "member.remove") -> None:
    """End what goes with a member, within the transaction of the action, which the trail tells of."""
    member, cause = departure.member, {"with": f"member {departure.name}"}
    _revoke(departure.keys, departure.invitations, actor, cause)
    connections = Connection.objects.filter(project=member.project_id, user=member.user_id, revoked_at=None)
    connections.update(revoked_at=timezone.now())  # also of codes that gave no key yet
    Session.objects.filter(pk__in=[one.pk for one in departure.logins]).delete()
    for owners in batched(
        [f"user:{member.user_id}", *(f"key:{key.pk}" for key in departure.keys)], BATCH_SIZE
    ):
        WorkHandle.objects.filter(branch__project=member.project_id, owner__in=owners).delete()
    _, makers = find_made(member)  # also keys that have ended
    pause_made_by(makers, actor, cause)
    detail = {"role": member.role, "user": str(member.user_id), **departure.counts}
    record_entry(actor, action, departure.name, detail)


def _revoke(keys: list[ApiKey], links: list[Invitation], actor: Actor, cause: dict[str, str]) -> None:
    """End keys and invitations, each with an entry that names the cause."""
    now = timezone.now()
    for key in keys:
        record_entry(actor, "key.revoke", key.prefix, {"label": key.label, **cause})
    for link in links:
        record_entry(actor, "invitation.revoke", str(link.pk), cause)
    for batch in batched(keys, BATCH_SIZE):
        ApiKey.objects.filter(pk__in=[key.pk for key in batch]).update(revoked_at=now)
    Invitation.objects.filter(pk__in=[one.pk for one in links]).update(revoked_at=now)
