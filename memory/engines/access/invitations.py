"""Invitations: created with a link that is shown once, accepted by people, revoked."""

import secrets
import unicodedata
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.known_callers import hash_secret
from memory.engines.access.makers import require_maker
from memory.engines.access.members import build_member_actor, find_first_role, require_giving, require_place
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.invitations import INVITATION
from memory.engines.fields.orders import INVITATIONS
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Invitation, Membership

CHECKS = INVITATION.field_checks(Use.CREATE)
DEFAULTS = {field.name: field.default for field in INVITATION.select_fields(Use.CREATE) if field.default}
State = Invitation.State
ENDED = {
    State.USED: _("This invitation was used already: ask for a new one."),
    State.EXPIRED: _("This invitation has expired: ask for a new one."),
    State.REVOKED: _("This invitation was revoked: ask who sent it."),
}


@retry_methods
class InvitationEngine:
    def create_invitation(self, *, actor: Actor, **fields: Any) -> tuple[Invitation, str]:
        """Create an invitation; return it with its secret, which is not stored and cannot be shown again.

        ``role`` is viewer unless given, ``max_uses`` 1, ``days`` until it expires 7, ``note`` says for whom
        it is. Needs the scope admin on every branch and for every agent: a member has the rights of a role
        without such bounds; and the scope owner for an owner. Raises Invalid, UnknownField, ScopeMissing,
        BranchForbidden, AgentForbidden.
        """
        actor.require_admin_of_all()
        values = {**DEFAULTS, **c.validate(fields, CHECKS)}
        require_giving(actor, values["role"])
        secret = secrets.token_urlsafe(32)
        invitation = Invitation(
            project_id=actor.project_id,
            expires_at=timezone.now() + timedelta(days=values.pop("days")),
            secret_hash=hash_secret(secret),
            **actor.identity_fields("created_by"),
            **values,
        )
        with write_transaction():
            require_maker(actor)
            invitation.save(force_insert=True)
            record_entry(actor, "invitation.create", str(invitation.pk), describe_invitation(invitation))
        return invitation, secret

    def list_invitations(self, *, actor: Actor, **paging: Unpack[Sorting]) -> Page[Invitation]:
        """List the project's invitations, newest first, ended ones included. Needs the scope admin."""
        actor.require_scope("admin")
        rows = Invitation.objects.filter(project=actor.project_id)
        return paginate(rows, INVITATIONS, **paging)

    def revoke_invitation(self, *, invitation_id: UUID, actor: Actor) -> Invitation:
        """Revoke an invitation; again changes nothing. Who accepted it stays a member.

        Raises NotFound, scope, branch and agent refusals.
        """
        actor.require_admin_of_all()
        with write_transaction():
            own = Invitation.objects.filter(project=actor.project_id, pk=invitation_id)
            if own.filter(revoked_at=None).update(revoked_at=timezone.now()):
                record_entry(actor, "invitation.revoke", str(invitation_id))
            invitation = own.first()
        if invitation is None:
            raise NotFound("There is no invitation with this id.")
        return invitation

    def find_invitation(self, *, secret: str) -> Invitation:
        """Return the invitation of a link, with its project, in any state. Raises NotFound."""
        found = Invitation.objects.filter(secret_hash=hash_secret(secret)).select_related("project").first()
        if found is None:
            raise NotFound("There is no such invitation: the link may be cut off.")
        return found

    def accept_invitation(self, *, secret: str, user: Any, surface: str = "web") -> Membership:
        """Make a user a member with the invitation's role.

        Raises NotFound, Conflict for a used, expired or revoked one; Exists for a member, whose role stays.
        """
        with write_transaction():
            return _join(secret, user, surface)

    def join_with_account(
        self, *, secret: str, username: str, password: str, surface: str = "web"
    ) -> Membership:
        """Create a user account and make it a member, both or neither.

        Raises as ``accept_invitation`` does; Invalid for a name that is taken or a weak password.
        """
        require_open(self.find_invitation(secret=secret))
        user = build_user(username, password)
        try:
            with write_transaction():
                user.save(force_insert=True)
                return _join(secret, user, surface)
        except IntegrityError:  # two at once chose the same name
            raise name_taken(username) from None


def _join(secret: str, user: Any, surface: str) -> Membership:
    """Use an invitation up by one, within a transaction."""
    rows = Invitation.objects.select_for_update().filter(secret_hash=hash_secret(secret))
    invitation = rows.first()
    if invitation is None:
        raise NotFound("There is no such invitation: the link may be cut off.")
    own = Membership.objects.filter(project=invitation.project_id, user=user)
    if own.exists():
        raise Exists("You are a member of this project already.")
    require_open(invitation)
    require_place(invitation.project_id)
    member = Membership.objects.create(
        project_id=invitation.project_id,
        user=user,
        role=find_first_role(invitation.project_id, invitation.role),
        created_by=invitation.created_by,
        created_by_kind=invitation.created_by_kind,
        created_by_id=invitation.created_by_id,
        invitation_id=invitation.pk,
    )
    invitation.uses += 1
    invitation.save(update_fields=["uses"])
    detail = {"role": member.role, "invitation": str(invitation.pk), "invited_by": invitation.created_by}
    record_entry(build_member_actor(member, user, surface), "member.join", user.get_username(), detail)
    return member


def require_open(invitation: Invitation) -> None:
    """Refuse an invitation that has ended. Raises Conflict."""
    if text := ENDED.get(State(invitation.state)):
        raise Conflict(text)


def build_user(username: str, password: str) -> Any:
    """Return a new user that is not stored yet. Raises Invalid."""
    model = get_user_model()
    user = model(username=model.normalize_username(c.plain_text("username", username)))
    if find_same_name(user.get_username()):
        raise name_taken(username)
    if mixes_alphabets(user.get_username()):
        raise Invalid("A name has letters of one alphabet: this one mixes several.", field="username")
    for field, check in (("username", lambda: user.clean_fields(exclude=["password"])), ("password", None)):
        try:
            check() if check else validate_password(c.plain_text("password", password), user)
        except ValidationError as error:
            text = " ".join(error.messages)
            raise Invalid(text, field=field) from None
    user.password = make_password(password)
    return user


def find_same_name(name: str) -> Any:
    """Return the user of a name in letters of any case: Admin beside admin would pass for it."""
    return get_user_model().objects.annotate(name=Lower("username")).filter(name=name.lower()).first()


def mixes_alphabets(name: str) -> bool:
    """Return whether letters of one alphabet pass for those of another, as a Cyrillic a in admin."""
    words = {unicodedata.name(letter, "").partition(" ")[0] for letter in name}
    return len(words & {"LATIN", "CYRILLIC", "GREEK"}) > 1


def name_taken(username: str) -> Invalid:
    return Invalid("The name {name} is taken: choose another one.", name=username[:150], field="username")


def describe_invitation(invitation: Invitation) -> dict[str, Any]:
    return {
        "role": invitation.role,
        "max_uses": invitation.max_uses,
        "expires_at": invitation.expires_at.isoformat(),
    }
