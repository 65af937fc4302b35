"""Authentication, permission and rate limit classes of the REST framework."""

from dataclasses import replace
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from memory.actors import Actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import OF_SERVER, REST_SURFACE, KeyEngine
from memory.engines.support.rate_limits import count_key_request
from memory.engines.versions.repositories import parse_repository
from memory.exceptions import ScopeMissing, Unauthenticated
from memory.models import ApiKey

REPOSITORY_HEADER = "Day1-Repository"
SESSION_HEADER = "Day1-Session"


class KeyAuthentication(BaseAuthentication):
    """Authentication by ``Authorization: Bearer <key>``.

    ``request.auth`` is the Actor, ``request.user`` the key. The web UI's session is not accepted, so another
    site cannot forge requests.
    """

    def authenticate(self, request: Request) -> tuple[ApiKey, Actor] | None:
        header = request.headers.get("Authorization")
        if not header:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("The Authorization header must be: Bearer, a space, an API key.")
        key = KeyEngine().verify_token(token.strip(), may_keep_server=True)
        repository = parse_repository("repository", request.headers.get(REPOSITORY_HEADER, ""))
        return key, replace(get_actor(key, REST_SURFACE), repository=repository)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="day1"'


class HasKey(BasePermission):
    """A permission that requires a key; its scopes are checked in the engines, as on every surface.

    A key of the server is in no project: it reaches what is of the server alone.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        actor: Any = request.auth  # the stubs know Django's own Token alone
        if actor is None:
            raise Unauthenticated()
        if actor.project_id is None and not getattr(view, "is_of_server", False):
            raise ScopeMissing(OF_SERVER)
        return True


class KeyRate(BaseThrottle):
    """The rate limit of the key; see memory.engines.support.rate_limits."""

    def allow_request(self, request: Request, view: Any) -> bool:
        key = request.user
        if isinstance(key, ApiKey):
            count_key_request(str(key.pk), key.rate_per_minute, key.project_id)
        return True
