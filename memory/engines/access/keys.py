"""API keys: creation, verification, rotation and revocation. Only a hash of the secret is stored."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.actors import SCOPES, SERVER, SERVER_SCOPES, Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.key_tokens import find_key, save_new
from memory.engines.access.key_use import note_use, record
from memory.engines.access.known_callers import note_caller
from memory.engines.access.makers import require_maker
from memory.engines.branches.manager import check_name
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.keys import (
    BOUNDS,
    BRANCH_PATTERN,
    DEFAULT_RATE,
    GRACE,
    KEY,
    KEY_FILTERS,
    QUOTA,
    TAKE_OVER,
)
from memory.engines.fields.orders import KEYS
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import SCHEDULE
from memory.exceptions import (
    AgentForbidden,
    BranchForbidden,
    Conflict,
    Invalid,
    NotFound,
    ScopeMissing,
    Unauthenticated,
)
from memory.models import ApiKey
from memory.models.end_users import get_owner
from memory.models.keys import ApiKeyQuerySet

FILTERS = make_filter_checks(KEY_FILTERS)
PATTERN_LENGTH = KEY["branch_patterns"].type.item.max_length
REST_SURFACE = "rest"  # of REST and the stream of events
ENDED = "This key has ended already; make a new one."
OF_SERVER = (
    "This is a key of the server: it makes and removes projects, and reads and writes in none of them."
)


@retry_methods
class KeyEngine:
    def create_key(
        self,
        *,
        label: str,
        scopes: Iterable[str],
        actor: Actor,
        branch_patterns: Sequence[str] = (),
        agent_id: str = "",
        user_id: str = "",
        app_id: str = "",
        default_branch: str = "",
        rate_per_minute: int = DEFAULT_RATE,
        max_facts: int = 0,
        max_bytes: int = 0,
        max_daily_writes: int = 0,
        max_streams: int = 0,
        expires_at: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key; return it with its token, which is not stored and cannot be shown again. One with a
        scope of the server is of no project, and has that scope alone.

        Raises Invalid; ScopeMissing, BranchForbidden or AgentForbidden for rights that the actor does not
        have.
        """
        scopes = check_scopes(scopes)
        of_server = scopes[0] in SERVER_SCOPES
        actor.require_scope(SERVER if of_server else "admin")
        key = ApiKey(
            project_id=None if of_server else actor.project_id,
            label=c.redact_stored(check_text)("label", label),
            scopes=scopes,
            branch_patterns=check_patterns(branch_patterns),
            agent_id=check_text("agent_id", agent_id, min_length=0),
            user_id=KEY["user_id"].check("user_id", user_id),  # spaces tell names apart
            app_id=KEY["app_id"].check("app_id", app_id),
            default_branch=check_default(default_branch, branch_patterns),
            rate_per_minute=rate_per_minute,
            max_facts=max_facts,
            max_bytes=max_bytes,
            max_daily_writes=max_daily_writes,
            max_streams=max_streams,
            expires_at=check_expiry(expires_at),
            **actor.identity_fields("created_by"),
        )
        check_key(key, actor)
        with write_transaction():
            require_maker(actor)
            token = save_new(key)
            record(actor, "key.create", key, describe_key(key))
        return key, token

    def verify_token(self, token: str, *, may_keep_server: bool = False) -> ApiKey:
        """Return the key of a token; ``key_actors.get_actor`` turns it into an actor.

        Only a caller with the right secret learns that a key is revoked or expired. Raises Unauthenticated,
        ScopeMissing for a key of the server where only those of projects are taken.
        """
        key = find_key(token)
        now = timezone.now()
        if key.revoked_at:
            raise Unauthenticated("This API key was revoked.")
        if key.expires_at and key.expires_at <= now:
            raise Unauthenticated("This API key has expired.")
        note_use(key, now)
        if key.project_id is None and not may_keep_server:
            raise ScopeMissing(OF_SERVER)
        note_caller(key.secret_hash, key.project_id)
        return key

    def still_open(self, *, key_ids: Collection[UUID]) -> set[UUID]:
        """Return the ids, among the given keys, of those that are neither revoked nor expired."""
        found = ApiKey.objects.filter(pk__in=key_ids, revoked_at=None)
        return {key.pk for key in found if not key.ended}

    def list_keys(
        self,
        *,
        actor: Actor,
        agent_id: str = "",
        user_id: str = "",
        state: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[ApiKey]:
        """List the project's keys, newest first, expired and revoked ones included; for who keeps the server
        also those of the server.
        """
        filters = c.validate({"agent_id": agent_id, "user_id": user_id, "state": state}, FILTERS)
        bound = {name: filters[name] for name in ("agent_id", "user_id")}
        rows = every = list_own(actor).filter(**c.drop_empty(bound))
        if filters["state"]:  # which may change between two pages
            rows = rows.in_state(filters["state"])
        return paginate(rows, KEYS, **paging, of=every)

    def revoke_key(self, *, key_id: UUID, actor: Actor) -> ApiKey:
        """Revoke a key now; revoking again changes nothing.

        Raises NotFound; BranchForbidden or AgentForbidden for a key beyond the actor's branches or agent,
        ScopeMissing for one of an owner.
        """
        key = own_key(actor, key_id)
        check_scopes_held(key, actor)
        check_bounds(key, actor)
        with write_transaction():
            if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()):
                record(actor, "key.revoke", key, {"label": key.label})
        key.refresh_from_db()
        return key

    def rotate_key(
        self,
        *,
        key_id: UUID,
        actor: Actor,
        grace_seconds: Annotated[int, GRACE] = 0,
        take_over: Annotated[bool, TAKE_OVER] = False,
    ) -> tuple[ApiKey, str]:
        """Create a key with the same rights; the old one ends now, or after ``grace_seconds``. The new one
        goes on for who made the first, unless the actor takes it over.

        Raises NotFound, Invalid, Conflict when the old key has ended already, and as create_key does.
        """
        GRACE.check("grace_seconds", grace_seconds)
        old = own_key(actor, key_id)
        check_grant(old, actor)
        ends = build_end_fields(old, grace_seconds)
        new = build_successor(old, actor, take_over)
        with write_transaction():
            require_maker(actor)
            # Of two rotations at once, one finds the key ended.
            unchanged = ApiKey.objects.filter(pk=old.pk, revoked_at=None, expires_at=old.expires_at)
            if not unchanged.update(**ends):
                raise Conflict(ENDED)
            token = save_new(new)
            taken = {"taken_over": True} if take_over else {}
            detail = {**describe_key(new), "rotated_from": old.prefix, **taken}
            record(actor, "key.rotate", new, detail)
        return new, token


# ---- rows ------------------------------------------------------------------------------------------


def list_own(actor: Actor) -> ApiKeyQuerySet:
    """Return the keys that an actor may see: its project's, and those of the server for who keeps it. Tokens
    of connected programs are none: ConnectionEngine lists and ends them.
    """
    if not actor.has_scope(SERVER):
        actor.require_scope("admin")
        return ApiKey.objects.filter(project=actor.project_id, connection=None)
    own = Q(project=actor.project_id) if actor.has_scope("admin") else Q(project=None)
    return ApiKey.objects.filter(own | Q(project=None), connection=None)


def own_key(actor: Actor, key_id: UUID) -> ApiKey:
    if (key := list_own(actor).filter(pk=key_id).first()) is None:
        raise NotFound()
    return key


def build_end_fields(key: ApiKey, grace_seconds: int) -> dict[str, datetime]:
    """Return the columns that end a key, now or after the grace period. Raises Conflict if it has ended."""
    now = timezone.now()
    if key.revoked_at or (key.expires_at and key.expires_at <= now):
        raise Conflict(ENDED)
    if not grace_seconds:
        return {"revoked_at": now}
    end = now + timedelta(seconds=grace_seconds)
    return {"expires_at": min(end, key.expires_at or end)}


def build_successor(old: ApiKey, actor: Actor, take_over: bool) -> ApiKey:
    return ApiKey(
        project_id=old.project_id,
        label=old.label,
        scopes=old.scopes,
        branch_patterns=old.branch_patterns,
        agent_id=old.agent_id,
        user_id=old.user_id,
        app_id=old.app_id,
        default_branch=old.default_branch,
        rate_per_minute=old.rate_per_minute,
        **{name: getattr(old, name) for name in QUOTA},
        expires_at=old.expires_at,
        rotated_from=None if take_over else old.pk,
        **actor.identity_fields("created_by"),
    )


def describe_key(key: ApiKey) -> dict[str, Any]:
    return {
        "label": key.label,
        "scopes": key.scopes,
        "branch_patterns": key.branch_patterns,
        "agent_id": key.agent_id,
        **get_owner(key).list_columns(),
        "default_branch": key.default_branch,
        "expires_at": key.expires_at,
    }


# ---- validation ------------------------------------------------------------------------------------


def check_scopes(scopes: Iterable[str]) -> list[str]:
    requested = {scopes} if isinstance(scopes, str) else set(scopes)
    if of_server := requested.intersection(SERVER_SCOPES):
        if len(requested) > 1:
            raise Invalid("A key of the server has one scope alone.", field="scopes")
        return list(of_server)
    if unknown := requested - set(SCOPES):
        raise Invalid("There is no scope {name}.", name=sorted(map(str, unknown))[0], field="scopes")
    if not requested:
        raise Invalid("A key needs a scope: one of {known}.", known=", ".join(SCOPES), field="scopes")
    return sorted(requested, key=SCOPES.index)


def check_patterns(patterns: Sequence[str]) -> list[str]:
    for pattern in patterns:
        if len(pattern) > PATTERN_LENGTH or not BRANCH_PATTERN.fullmatch(pattern):
            raise Invalid(
                "{pattern} is no branch pattern: it is a branch name in which * stands for any characters"
                " and ? for one.",
                pattern=pattern[:200],
                field="branch_patterns",
            )
    return list(dict.fromkeys(patterns))


def check_default(name: str, patterns: Sequence[str]) -> str:
    """Check a key's default branch, which need not exist yet; "" stands for main. Raises Invalid."""
    if not name:
        return ""
    try:
        check_name(name)
    except Invalid as error:
        raise Invalid(error.text, field="default_branch") from None
    if patterns and not any(fnmatchcase(name, pattern) for pattern in patterns):
        text = "The key's patterns do not allow its default branch {name}."
        raise Invalid(text, name=name, field="default_branch")
    return name


def check_text(field: str, text: str, min_length: int = 1) -> str:
    if not min_length <= len(text.strip()) <= KEY[field].type.max_length or "\0" in text:
        raise Invalid("{field} has {least} to 200 characters.", field=field, least=min_length)
    if text.strip() == SCHEDULE:  # by which Day1 knows its own work
        raise Invalid("{name} is the name of Day1's own schedule.", name=SCHEDULE, field=field)
    return text.strip()


def check_expiry(at: datetime | None) -> datetime | None:
    if at is None:
        return None
    if timezone.is_naive(at):
        raise Invalid("expires_at needs a time zone.", field="expires_at")
    if at <= timezone.now():
        raise Invalid("expires_at is in the past.", field="expires_at")
    return at


def check_key(key: ApiKey, maker: Actor) -> None:
    """Check a new key's numbers, whom it serves and what its maker may grant. Raises Invalid and refusals."""
    for name in ("rate_per_minute", *BOUNDS):
        KEY[name].check(name, getattr(key, name))
    check_end_user(key)
    check_grant(key, maker)


def check_end_user(key: ApiKey) -> None:
    """Refuse a key of an end user or an app that may do more than read and write. Raises Invalid."""
    if (key.user_id or key.app_id) and (more := set(key.scopes) - {"read", "propose", "write"}):
        text = "A key that is bound to an end user or an app may read, propose and write, not {name}."
        raise Invalid(text, name=sorted(more)[0], field="scopes")


def check_grant(key: ApiKey, maker: Actor) -> None:
    """Refuse a key with more rights than its maker: scopes, expiry, branches and the bound agent."""
    if key.project_id is None and (key.branch_patterns or key.agent_id or key.default_branch):
        raise Invalid("A key of the server has no branches and no agent.", field="scopes")
    check_scopes_held(key, maker)
    if maker.expires_at and (key.expires_at is None or key.expires_at > maker.expires_at):
        raise Invalid("A key may not outlive the key that makes it.", field="expires_at")
    check_bounds(key, maker)


def check_scopes_held(key: ApiKey, actor: Actor) -> None:
    """Refuse a key that may do more than the actor. Raises ScopeMissing."""
    for scope in key.scopes:
        actor.require_scope(scope, grows=False)


def check_bounds(key: ApiKey, maker: Actor) -> None:
    """Refuse a key of branches or agents beyond those of an actor."""
    if maker.bound_agent and key.agent_id != maker.bound_agent:
        raise AgentForbidden(
            "This key is bound to {agent}, and makes, rotates and revokes only keys of that agent: use a key"
            " without an agent.",
            agent=maker.bound_agent,
        )
    for pattern in key.branch_patterns or ("*",):
        if not is_pattern_covered(pattern, maker.branch_patterns):
            raise BranchForbidden(
                "This key makes, rotates and revokes only keys of the branches {patterns}, and {name} is not"
                " among them: use a key without branch patterns.",
                patterns=", ".join(maker.branch_patterns),
                name=pattern,
            )


def is_pattern_covered(pattern: str, patterns: Sequence[str]) -> bool:
    """Return whether one of the patterns covers all names of a pattern; False when uncertain."""
    # fnmatch would let "?" match a "*" as a single character.
    wide = [other for other in patterns if not set("?[") & set(other)]
    return not patterns or pattern in patterns or any(fnmatchcase(pattern, other) for other in wide)
