"""Logins by a provider: whose account it is, who is let in, and what the provider's groups give."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_noop as _

from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.group_roles import apply_group_roles
from memory.engines.access.invitations import find_same_name, mixes_alphabets
from memory.engines.access.logins import record_action
from memory.exceptions import Conflict, ScopeMissing
from memory.models import ExternalLogin

CLOSED = _("This account is closed.")
UNKNOWN = _(
    "You have no account here, and none of your groups at the login provider gives you one. Ask whoever runs"
    " this server."
)
TAKEN = _(
    "There is an account {name} here already. If it is yours, log in with its password and connect it under"
    " Your account; else ask whoever runs this server."
)
UNNAMED = _("The login provider gives no name that an account can have here. Ask whoever runs this server.")
OTHER = _("This account of the login provider belongs to somebody else here.")


@dataclass(frozen=True)
class Identity:
    """What a provider says of a person; ``email`` only if it says that it was verified."""

    issuer: str
    subject: str
    name: str = ""  # that the person has there
    email: str = ""


@dataclass(frozen=True)
class Admission:
    """Who is let in: the roles that groups give by slug, None where the provider does not tell the groups."""

    roles: Mapping[str, str] | None = None
    managed: frozenset[str] = frozenset()  # slugs of the projects whose roles groups give
    may_link: bool = False  # an account here of the same verified address
    may_create: bool = False  # an account without a group


@retry_methods
class ExternalLoginEngine:
    def admit(self, *, identity: Identity, admission: Admission) -> Any:
        """Return the user of an account at a provider, with the roles that the groups give now; an account
        for who has none and is let in. Raises Conflict, ScopeMissing.
        """
        with write_transaction():
            user = find_linked(identity) or _admit(identity, admission)
            if not user.is_active:
                raise Conflict(CLOSED)
            if admission.roles is not None:
                apply_group_roles(user, admission.roles, admission.managed)
        return user

    def link(self, *, identity: Identity, user: Any) -> None:
        """Connect an account at a provider to the user who is logged in. Raises Conflict."""
        with write_transaction():
            linked = find_linked(identity)
            if linked is not None and linked != user:
                raise Conflict(OTHER)
            if linked is None:
                _link(identity, user)
                record_action(user, "login.connect", {"provider": identity.issuer}, user)


def find_linked(identity: Identity) -> Any:
    key = ExternalLogin.build_id(identity.issuer, identity.subject)
    row = ExternalLogin.objects.filter(pk=key).select_related("user").first()
    return row and row.user


def list_providers(user: Any) -> list[str]:
    """Return the issuers whose accounts log a user in."""
    return sorted(set(ExternalLogin.objects.filter(user=user).values_list("issuer", flat=True)))


def _admit(identity: Identity, admission: Admission) -> Any:
    """Return the account that a person has from now on. Raises Conflict, ScopeMissing."""
    user = _find_same_address(identity) if admission.may_link else None
    if user is None:
        if not admission.may_create and not admission.roles:
            raise ScopeMissing(UNKNOWN)
        user = _create_user(identity)
    _link(identity, user)
    return user


def _find_same_address(identity: Identity) -> Any:
    """Return the one account with a verified address; None for those who keep the server, and for several."""
    if not identity.email:
        return None
    found = list(get_user_model().objects.filter(email__iexact=identity.email)[:2])
    if len(found) == 1 and not (found[0].is_superuser or found[0].is_staff):
        return found[0]
    return None


def _create_user(identity: Identity) -> Any:
    """Create an account without a password. Raises Conflict for a name that is taken, or can be none."""
    model = get_user_model()
    named = (identity.name, identity.email)
    users = [model(username=model.normalize_username(name.strip()), email=identity.email) for name in named]
    user = next((one for one in users if _is_valid(one)), None)
    if user is None:
        raise Conflict(UNNAMED)
    addresses = model.objects.filter(email__iexact=identity.email) if identity.email else model.objects.none()
    same = find_same_name(user.get_username()) or addresses.first()
    if same is not None:
        raise Conflict(TAKEN, name=same.get_username())
    user.set_unusable_password()
    user.save(force_insert=True)
    return user


def _is_valid(user: Any) -> bool:
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError:
        return False
    return not mixes_alphabets(user.get_username())


def _link(identity: Identity, user: Any) -> None:
    key = ExternalLogin.build_id(identity.issuer, identity.subject)
    ExternalLogin.objects.create(pk=key, user=user, issuer=identity.issuer, subject=identity.subject)
