"""Connected programs: a person grants rights for a code, the code gives tokens, and these are renewed.

The access token is a key, so that every rule of keys holds for it; it lives for an hour. A refresh token is
used once: one that comes again was stolen, by who sends it or by who sent it before, and ends the connection.
Only the last one gets its answer again, while that may have been lost on its way.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from secrets import token_urlsafe
from typing import Any, Unpack
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from memory.actors import ADMIN, SCOPES, Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.key_actors import find_role_scope, limit_scopes
from memory.engines.access.key_tokens import build_token, find_key, save_new, set_token
from memory.engines.access.keys import check_patterns
from memory.engines.access.known_callers import hash_secret
from memory.engines.access.makers import require_maker
from memory.engines.access.oauth_clients import hash_client_id
from memory.engines.audit.trail import record_entry
from memory.engines.fields.orders import CONNECTIONS
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.exceptions import NotFound, ScopeMissing, Unauthenticated
from memory.models import ApiKey, Connection, OAuthClient

# From admin on they are for people and keys: a program makes no keys that outlive it.
GRANTED_SCOPES = SCOPES[: SCOPES.index(ADMIN)]
CODE_SECONDS = 60
ACCESS_TTL = timedelta(hours=1)
REFRESH_TTL = timedelta(days=60)  # since the last renewal
REPEAT_TTL = timedelta(seconds=30)  # for two windows of a program that renew at once
SECRET_LENGTH = 43
REFRESH_TOKEN = re.compile(r"day1r_([A-Za-z0-9_-]{22})_[A-Za-z0-9_-]{43}")
OAUTH_SURFACE = "oauth"


@dataclass(frozen=True)
class Tokens:
    """Tokens of a connection, to be sent to its program, and the key that the access token is."""

    access: str
    refresh: str
    key: ApiKey

    @property
    def seconds(self) -> int:
        """Return for how long the access token holds."""
        assert self.key.expires_at  # which only other keys are without
        return round((self.key.expires_at - timezone.now()).total_seconds())


@retry_methods
class ConnectionEngine:
    def open_connection(
        self,
        *,
        actor: Actor,
        client: OAuthClient,
        scope: str,
        resource: str,
        redirect_uri: str,
        code_challenge: str,
        branch_patterns: Sequence[str] = (),
    ) -> str:
        """Keep what a person grants a program in a project; return the code for it, which is not stored.

        Raises Invalid; ScopeMissing for more rights than the person has.
        """
        if actor.kind != "user" or scope not in GRANTED_SCOPES:
            raise ScopeMissing(scope=scope)
        actor.require_scope(scope, grows=False)
        code, now = token_urlsafe(32), timezone.now()
        with write_transaction():
            require_maker(actor)
            connection = Connection.objects.create(
                project_id=actor.project_id,
                user_id=int(actor.id),
                client=client,
                scopes=limit_scopes(list(SCOPES), scope),
                branch_patterns=check_patterns(branch_patterns),
                resource=resource,
                redirect_uri=redirect_uri,
                code_hash=hash_secret(code),
                code_challenge=code_challenge,
                code_expires_at=now + timedelta(seconds=CODE_SECONDS),
            )
            _record(connection, "connection.grant", actor, **describe_connection(connection))
        return code

    def take_code(self, *, code: str, client_id: str) -> Connection | None:
        """Use a code up and return its connection; None for one that is unknown, late, or of another program.

        A code that comes again ends what it gave.
        """
        connection = _find(client_id, code_hash=hash_secret(code))
        if connection is None:
            return None
        now = timezone.now()
        # no later than a new one: a clock that was wrong makes no code that lasts
        latest = now + timedelta(seconds=CODE_SECONDS)
        with write_transaction():
            unused = Connection.objects.filter(pk=connection.pk, code_used_at=None)
            if unused.filter(code_expires_at__gt=now, code_expires_at__lte=latest).update(code_used_at=now):
                return connection
            if not unused.exists():
                _end(connection, "connection.replay")
        return None

    def give_tokens(self, *, connection: Connection) -> Tokens | None:
        """Return the first tokens of a connection; None where it was ended or its person has left."""
        family = token_urlsafe(16)
        refresh = f"day1r_{family}_{token_urlsafe(32)}"
        with write_transaction():
            if find_role_scope(connection) is None:
                return None
            values = {"family_hash": hash_secret(family), **_refresh_fields(refresh)}
            fresh = Connection.objects.filter(pk=connection.pk, revoked_at=None, family_hash=None)
            if not fresh.update(**values):
                return None
            key = _build_key(connection)
            token = save_new(key)
            _record(connection, "connection.open", **describe_connection(connection))
        return Tokens(token, refresh, key)

    def renew_tokens(self, *, refresh_token: str, client_id: str) -> Tokens | None:
        """Return new tokens for a refresh token, which ends with the access token beside it.

        None where it is unknown, late or of another program, or its person has left. One that was used
        already ends the connection, unless it asks again for the answer that may have been lost.
        """
        found = self.find_by_refresh(refresh_token=refresh_token, client_id=client_id)
        if found is None:
            return None
        with write_transaction():
            connection = Connection.objects.select_for_update().get(pk=found.pk)
            if connection.ended or connection.key.revoked_at or find_role_scope(connection) is None:
                return None
            follower, secret = _derive_secrets(refresh_token)
            if connection.refresh_hash == hash_secret(refresh_token):
                return _renew(connection, follower, secret)
            if connection.refresh_hash == hash_secret(follower) and _may_be_lost(connection.key):
                return _repeat(connection, follower, secret)
            _end(connection, "connection.reuse")
        return None

    def find_by_refresh(self, *, refresh_token: str, client_id: str) -> Connection | None:
        """Return the connection of a refresh token, also of one that was used."""
        form = REFRESH_TOKEN.fullmatch(refresh_token)
        return _find(client_id, family_hash=hash_secret(form[1])) if form else None

    def revoke_token(self, *, token: str, client_id: str) -> None:
        """End the connection of an access or refresh token of a program; an unknown token changes nothing."""
        connection = self.find_by_refresh(refresh_token=token, client_id=client_id)
        if connection is None:
            try:
                connection = _find(client_id, pk=find_key(token).connection_id)
            except Unauthenticated:
                return
        if connection:
            with write_transaction():
                _end(connection, "connection.revoke")

    def list_connections(self, *, actor: Actor, **paging: Unpack[Sorting]) -> Page[Connection]:
        """List connected programs, newest first: a person's own, for an admin those of the project."""
        return paginate(_list_own(actor), CONNECTIONS, **paging)

    def revoke_connection(self, *, connection_id: UUID, actor: Actor) -> Connection:
        """End a connected program's rights now; again changes nothing. Raises NotFound."""
        connection = find_connection(actor, connection_id)
        with write_transaction():
            _end(connection, "connection.revoke", actor)
        return find_connection(actor, connection_id)


# ---- rows --------------------------------------------------------------------------------------------


def find_connection(actor: Actor, connection_id: UUID) -> Connection:
    """Return a connection that an actor may see. Raises NotFound, ScopeMissing for that of somebody else."""
    connection = _list_own(actor).filter(pk=connection_id).first()
    if connection is None:
        actor.require_scope("admin")
        raise NotFound()
    return connection


def _list_own(actor: Actor) -> QuerySet[Connection]:
    actor.require_scope("read")
    rows = _rows().filter(project=actor.project_id, key__isnull=False)
    if actor.kind == "user" and not actor.has_scope("admin"):
        return rows.filter(user=int(actor.id))
    actor.require_admin_of_all()
    return rows


def _rows() -> QuerySet[Connection]:
    return Connection.objects.select_related("client", "user", "key")


def _find(client_id: str, **lookups: object) -> Connection | None:
    return _rows().filter(client=hash_client_id(client_id), **lookups).first()


def _end(connection: Connection, action: str, actor: Actor | None = None) -> None:
    """End a connection and its key, within the caller's transaction."""
    now = timezone.now()
    open_key = ApiKey.objects.filter(connection=connection.pk, revoked_at=None).update(revoked_at=now)
    ended = Connection.objects.filter(pk=connection.pk, revoked_at=None).update(revoked_at=now)
    if ended or open_key:
        _record(connection, action, actor)


def _record(connection: Connection, action: str, actor: Actor | None = None, **detail: object) -> None:
    """Tell of a connection in the trail; where no actor is given, its program did it."""
    key = ApiKey.objects.filter(connection=connection.pk).first() or _build_key(connection)
    program = Actor(connection.project_id, "key", str(key.pk), key.label, surface=OAUTH_SURFACE)
    record_entry(actor or program, action, str(connection.pk), {"label": key.label, **detail})


def _derive_secrets(refresh_token: str) -> tuple[str, int]:
    """Return the refresh token that follows another one, and the secret of the access token beside it: the
    same each time, so that an answer that was lost can be given again, though only its hash is stored.
    """
    refresh, access = (
        salted_hmac(f"day1.connection.{use}", refresh_token, algorithm="sha256").digest()
        for use in ("refresh", "access")
    )
    ending = urlsafe_b64encode(refresh).decode().rstrip("=")
    return refresh_token[:-SECRET_LENGTH] + ending, int.from_bytes(access)


def _renew(connection: Connection, refresh_token: str, secret: int) -> Tokens:
    """Give a connection another refresh token and its key another secret, within the caller's transaction."""
    key = connection.key
    token = set_token(key, secret)
    key.expires_at = timezone.now() + ACCESS_TTL
    key.save(update_fields=["prefix", "secret_hash", "expires_at"])
    Connection.objects.filter(pk=connection.pk).update(**_refresh_fields(refresh_token))
    _record(connection, "connection.renew")
    return Tokens(token, refresh_token, key)


def _may_be_lost(key: ApiKey) -> bool:
    """Return whether the last answer may not have arrived: it is new, or its token was never used."""
    assert key.expires_at  # which only other keys are without
    renewed_at = key.expires_at - ACCESS_TTL
    is_used = key.last_used_at is not None and key.last_used_at >= renewed_at
    return not is_used or abs(timezone.now() - renewed_at) < REPEAT_TTL


def _repeat(connection: Connection, refresh_token: str, secret: int) -> Tokens:
    """Return what the last renewal gave, within the caller's transaction; it holds as long as it did."""
    key = connection.key
    if key.ended:  # the answer came too late to be used
        key.expires_at = timezone.now() + ACCESS_TTL
        key.save(update_fields=["expires_at"])
    _record(connection, "connection.renew", repeated=True)
    return Tokens(build_token(key.prefix, secret), refresh_token, key)


def _build_key(connection: Connection) -> ApiKey:
    """Return the access token's key, not saved; the person has it made, so that it ends with a membership."""
    patterns = connection.branch_patterns
    return ApiKey(
        project_id=connection.project_id,
        label=connection.label,
        scopes=connection.scopes,
        branch_patterns=patterns,
        default_branch=patterns[0] if patterns and not set("*?") & set(patterns[0]) else "",
        expires_at=timezone.now() + ACCESS_TTL,
        connection=connection,
        created_by=connection.username[:200],
        created_by_kind="user",
        created_by_id=str(connection.user_id),
    )


def _refresh_fields(refresh_token: str) -> dict[str, object]:
    return {"refresh_hash": hash_secret(refresh_token), "expires_at": timezone.now() + REFRESH_TTL}


def describe_connection(connection: Connection) -> dict[str, Any]:
    return {
        "client_id": connection.client.client_id[:500],
        "scopes": connection.scopes,
        "branch_patterns": connection.branch_patterns,
        "resource": connection.resource,
    }
