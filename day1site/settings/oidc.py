"""The login provider of the operator's company (OpenID Connect), as the environment names it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from day1site.settings.env import LOOPBACK, Env, wrong

ROLES = "DAY1_OIDC_GROUP_ROLES"
FORM = '{"GROUP": ["PROJECT:ROLE"]}'


@dataclass(frozen=True)
class Oidc:
    """A provider; ``group_roles`` has pairs of a project's slug and a role for each group."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)  # debug pages show settings
    name: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    group_roles: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    link_existing: bool = False
    create_users: bool = False


def read_oidc(env: Env) -> Oidc | None:
    """Return the provider; None where none is set. Raises ImproperlyConfigured."""
    issuer = env.address("DAY1_OIDC_ISSUER", "", ["https", "http"]).removesuffix(
        "/.well-known/openid-configuration"
    )
    if not issuer:
        return None
    parts = urlsplit(issuer)
    if parts.scheme == "http" and parts.hostname not in [one.strip("[]") for one in LOOPBACK]:
        wrong("DAY1_OIDC_ISSUER", "an https address, but on this machine", issuer)
    scopes = tuple(env.read_text("DAY1_OIDC_SCOPES").split()) or Oidc.scopes
    return Oidc(
        issuer=issuer,
        client_id=env.needed("DAY1_OIDC_CLIENT_ID"),
        client_secret=env.read_text("DAY1_OIDC_CLIENT_SECRET"),
        name=env.read_text("DAY1_OIDC_NAME") or str(parts.hostname),
        scopes=tuple(dict.fromkeys(("openid", *scopes))),
        groups_claim=env.read_text("DAY1_OIDC_GROUPS_CLAIM") or Oidc.groups_claim,
        group_roles=read_group_roles(env.read_text(ROLES)),
        link_existing=env.flag("DAY1_OIDC_LINK_EXISTING", False),
        create_users=env.flag("DAY1_OIDC_CREATE_USERS", False),
    )


def read_group_roles(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the roles that each group gives. Raises ImproperlyConfigured."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        wrong(ROLES, f"JSON such as {FORM}", text)
    if not isinstance(found, dict):
        wrong(ROLES, f"JSON such as {FORM}", text)
    return {group: tuple(map(read_pair, as_list(pairs))) for group, pairs in found.items()}


def as_list(pairs: Any) -> list[Any]:
    return pairs if isinstance(pairs, list) else [pairs]


def read_pair(text: Any) -> tuple[str, str]:
    project, _, role = str(text).partition(":")
    return (project, role) if project and role else wrong(ROLES, f"JSON such as {FORM}", str(text))


def read_password_login(env: Env, oidc: Oidc | None) -> bool:
    """Return whether people log in with passwords. Raises ImproperlyConfigured where nobody could log in."""
    allowed = env.flag("DAY1_PASSWORD_LOGIN", True)
    if not allowed and oidc is None:
        raise ImproperlyConfigured("DAY1_PASSWORD_LOGIN=false needs a login provider: set DAY1_OIDC_ISSUER.")
    return allowed


def check_roles(oidc: Oidc) -> None:
    """Refuse a role that there is not, once the models are there. Raises ImproperlyConfigured."""
    from memory.actors import ROLE_SCOPES

    for pairs in oidc.group_roles.values():
        for project, role in pairs:
            if role not in ROLE_SCOPES:
                wrong(ROLES, f"a map to the roles {', '.join(ROLE_SCOPES)}", f"{project}:{role}")
