"""What claims mean here: who somebody is, whether a second factor was asked for, and the roles of groups."""

from collections.abc import Mapping
from typing import Any

from day1site.settings.oidc import Oidc
from memory.engines.access.external_logins import Admission, Identity
from memory.engines.access.group_roles import choose_wider

MAX_GROUPS = 50_000
MAX_LENGTH = 300
SEVERAL_FACTORS = "mfa"  # RFC 8176


def read_identity(oidc: Oidc, claims: Mapping[str, Any]) -> Identity:
    """Return who somebody is at the provider; an address only if the provider has verified it."""
    is_verified = claims.get("email_verified") in (True, "true")
    return Identity(
        issuer=oidc.issuer,
        subject=claims["sub"],
        name=read_text(claims.get("preferred_username")),
        email=read_text(claims.get("email")) if is_verified else "",
    )


def read_text(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= MAX_LENGTH and "\0" not in value else ""


def has_second_factor(claims: Mapping[str, Any]) -> bool:
    """Return whether the provider says that it asked for more than one factor."""
    methods = claims.get("amr")
    return isinstance(methods, list) and SEVERAL_FACTORS in methods


def read_admission(oidc: Oidc, claims: Mapping[str, Any]) -> Admission:
    groups = read_groups(oidc, claims)
    return Admission(
        roles=None if groups is None else find_roles(oidc, groups),
        managed=frozenset(slug for pairs in oidc.group_roles.values() for slug, _ in pairs),
        may_link=oidc.link_existing,
        may_create=oidc.create_users,
    )


def read_groups(oidc: Oidc, claims: Mapping[str, Any]) -> set[str] | None:
    """Return a person's groups; None where there are so many that the provider tells none (Entra)."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and oidc.groups_claim in elsewhere:
        return None
    found: Any = claims.get(oidc.groups_claim)
    if found is None:
        found = claims
        for part in oidc.groups_claim.split("."):  # realm_access.roles of Keycloak
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return {one for one in listed[:MAX_GROUPS] if isinstance(one, str)}


def find_roles(oidc: Oidc, groups: set[str]) -> dict[str, str]:
    """Return the widest role in each project that one of the groups gives."""
    roles: dict[str, str] = {}
    for group in groups & oidc.group_roles.keys():
        for slug, role in oidc.group_roles[group]:
            roles[slug] = choose_wider(roles.get(slug, ""), role)
    return roles
