"""The way to the login provider and back."""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import get_script_prefix, reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET

from day1site.account_views import CONNECT_SALT, render_login
from day1site.login import get_client_address
from day1site.oidc.provider import Provider, get_provider
from day1site.second_factor import finish_login
from day1site.settings.oidc import Oidc
from memory.engines.access.external_logins import Admission, ExternalLoginEngine, Identity
from memory.engines.access.group_roles import choose_wider
from memory.engines.access.invitations import InvitationEngine, require_open
from memory.engines.access.logins import LoginTrailEngine
from memory.engines.support.rate_limits import count_request, hash_caller
from memory.exceptions import Conflict, Day1Error, RateLimited, Unauthenticated
from memory.views.frame.base import find_own_path
from memory.views.frame.flash import flash_success

COOKIE = "day1_oidc_"  # with the beginning of the state: several tabs log in side by side
SALT = "day1.oidc"
TTL_SECONDS = 600
MAX_ADDRESS = 2000
INVITATION = re.compile("/join/([^/]+)")
LOGIN_RATE = 60  # a minute of an address: each asks the provider
STALE = gettext_noop("This login began in another browser, or more than ten minutes ago: start again.")
CANCELLED = gettext_noop("The login at the provider was cancelled.")
REFUSED = gettext_noop("The login provider refuses: {reason}.")
MIXED_UP = gettext_noop("The answer comes from another login provider than the one that was asked.")


def find_provider() -> Provider:
    """Return the provider of the settings. Raises Http404 where there is none."""
    if settings.OIDC is None:
        raise Http404
    return get_provider(id(settings.OIDC))


@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Lead to the login provider; a signed cookie of this browser knows what was asked."""
    provider = find_provider()
    if request.user.is_authenticated and not wants_connection(request):
        return redirect("account")
    pending: dict[str, Any] = {
        "state": token_urlsafe(32),
        "nonce": token_urlsafe(32),
        "verifier": token_urlsafe(48),
        "next": request.GET.get("next", "")[:MAX_ADDRESS],
        "user": request.user.pk if request.user.is_authenticated else None,
    }
    try:
        count_request(f"oidc:{hash_caller(get_client_address(request))}", LOGIN_RATE)
        url = provider.build_login_url(
            redirect_uri=build_redirect_uri(request),
            state=pending["state"],
            nonce=pending["nonce"],
            challenge=urlsafe_b64encode(sha256(pending["verifier"].encode()).digest()).decode().rstrip("="),
        )
    except Day1Error as error:
        return refuse(request, error)
    response = HttpResponseRedirect(url)
    response.set_cookie(
        name_cookie(pending["state"]),
        signing.dumps(pending, salt=SALT, compress=True),
        max_age=TTL_SECONDS,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    patch_cache_control(response, private=True, no_store=True)
    return response


def wants_connection(request: HttpRequest) -> bool:
    """Return whether the person who is logged in pressed Connect; another site cannot do it for them, whose
    account at the provider would then log in as them.
    """
    try:
        pressed = signing.loads(request.GET.get("connect", ""), salt=CONNECT_SALT, max_age=TTL_SECONDS)
    except signing.BadSignature:
        return False
    return bool(pressed == request.user.pk)


@require_GET
def complete(request: HttpRequest) -> HttpResponse:
    """Log in who comes back from the provider, or connect the account of who is logged in."""
    provider, state = find_provider(), request.GET.get("state", "")
    try:
        response = receive_answer(request, provider, state)
    except Day1Error as error:
        response = refuse(request, error)
    response.delete_cookie(name_cookie(state), samesite="Lax")
    patch_cache_control(response, private=True, no_store=True)
    return response


def receive_answer(request: HttpRequest, provider: Provider, state: str) -> HttpResponse:
    """Return where the person goes on. Raises Unauthenticated, Conflict, ScopeMissing, ProviderAway."""
    pending = read_pending(request, state)
    check_answer(request, provider)
    claims = provider.read_claims(
        code=request.GET.get("code", ""),
        redirect_uri=build_redirect_uri(request),
        verifier=pending["verifier"],
        nonce=pending["nonce"],
    )
    identity, user = read_identity(provider.oidc, claims), request.user
    if user.is_authenticated:
        if user.pk != pending["user"]:
            raise Unauthenticated(STALE)
        ExternalLoginEngine().link(identity=identity, user=user)
        flash_success(request, _("%(name)s logs you in from now on.") % {"name": provider.oidc.name})
        return redirect("account")
    admission = read_admission(provider.oidc, claims)
    found: Any = ExternalLoginEngine().admit(
        identity=identity,
        admission=replace(admission, may_create=admission.may_create or is_invited(pending["next"])),
    )
    address = find_own_path(request, pending["next"])
    return finish_login(request, found, address, identity.issuer, has_second_factor(claims))


def read_pending(request: HttpRequest, state: str) -> dict[str, Any]:
    """Return what this browser has asked for. Raises Unauthenticated."""
    try:
        kept = request.COOKIES.get(name_cookie(state), "")
        pending: dict[str, Any] = signing.loads(kept, salt=SALT, max_age=TTL_SECONDS)
    except signing.BadSignature:
        raise Unauthenticated(STALE) from None
    if not hmac.compare_digest(pending["state"].encode(), state.encode("utf-8", "replace")):
        raise Unauthenticated(STALE)
    return pending


def check_answer(request: HttpRequest, provider: Provider) -> None:
    """Refuse an answer of another provider, and one that is none. Raises Unauthenticated, Conflict."""
    issuer = request.GET.get("iss")
    names_itself = provider.metadata.get("authorization_response_iss_parameter_supported") is True
    if (issuer is not None or names_itself) and issuer != provider.oidc.issuer:
        raise Unauthenticated(MIXED_UP)
    error = request.GET.get("error", "")
    if error == "access_denied":
        raise Conflict(CANCELLED)
    if error or not request.GET.get("code"):
        raise Unauthenticated(REFUSED, reason=ascii(error)[1:-1][:100] or "no code")


def refuse(request: HttpRequest, error: Day1Error) -> HttpResponse:
    """Render the login page with the reason; the trail has it too."""
    if not isinstance(error, RateLimited):
        address = get_client_address(request)
        LoginTrailEngine().record_refusal(
            username="", address=address, throttled=False, reason=str(error)[:200]
        )
    return render_login(request, error)


def is_invited(address: str) -> bool:
    """Return whether somebody goes on to an invitation that is open."""
    found = INVITATION.fullmatch(urlsplit(address).path.removeprefix(get_script_prefix().rstrip("/")))
    if found is None:
        return False
    try:
        require_open(InvitationEngine().find_invitation(secret=found[1]))
    except Day1Error:
        return False
    return True


def build_redirect_uri(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("oidc-callback"))


def name_cookie(state: str) -> str:
    return COOKIE + "".join(letter for letter in state[:12] if letter.isascii() and letter.isalnum())


# ---- what claims mean here ---------------------------------------------------------------------------

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
