"""Who made a key: a person or the command line, by itself or by keys that it made."""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from uuid import UUID

from django.contrib.auth import get_user_model

from memory.actors import Actor
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Membership

Identity = tuple[str, str]  # kind and id of an actor: labels may be those of several
# What `day1 connect` calls the key that it makes for a program.
PROGRAMS = frozenset({"claude-code", "cursor", "codex", "gemini", "vscode", "windsurf", "opencode", "print"})
MAX_HOLDERS = 4096


@lru_cache(maxsize=MAX_HOLDERS)  # who made a key, and in whose place, never changes
def find_holder(kind: str, uid: str, label: str) -> tuple[Identity, str]:
    """Return whose words an actor brings, with the name: those of a program are of who connected it.

    A key that was rotated is the first of its row. Any other key is a person of its own: a maintainer makes
    keys for others.
    """
    while kind == "key" and (pk := as_uuid(uid)) and (key := ApiKey.objects.filter(pk=pk).first()):
        if key.rotated_from:
            uid = str(key.rotated_from)
        elif (key.connection_id or key.label in PROGRAMS) and key.created_by_kind:
            (kind, uid), label = _read_maker(key), key.created_by
        else:
            break
    return (kind, uid), label


def find_made(member: Membership) -> tuple[list[ApiKey], set[Identity]]:
    """Return the keys that a member made, in any state, and as whom they act: in person and by these."""
    person = "user", str(member.user_id)
    made = list_made_keys(member.project_id, person)
    return made, {person, *(("key", str(key.pk)) for key in made)}


def list_made_keys(project_id: UUID, maker: Identity) -> list[ApiKey]:
    """Return the keys of a maker, those that these keys made, and so on, in any state, the oldest first.

    A key that was rotated goes on for who made the first of its row; who rotated it holds its secret.
    """
    every = _load_keys(project_id)
    by_maker: dict[Identity, list[ApiKey]] = defaultdict(list)
    for key in every.values():
        for identity in _find_makers(key, every):
            by_maker[identity].append(key)
    found: dict[UUID, ApiKey] = {}
    makers = [maker]
    while makers:
        keys = by_maker.pop(makers.pop(), [])
        found |= {key.pk: key for key in keys}
        makers += [("key", str(key.pk)) for key in keys]
    return [found[pk] for pk in sorted(found)]


def list_makers(project_id: UUID, actor: Identity) -> set[Identity]:
    """Return who made or rotated a key, who made those keys, and so on.

    The command line is no maker here: it makes keys for everybody.
    """
    found: set[Identity] = set()
    pending = [actor]
    every = _load_keys(project_id) if actor[0] == "key" else {}
    while pending:
        kind, uid = pending.pop()
        if kind == "key" and (pk := as_uuid(uid)) and (key := every.get(pk)):
            new = {one for one in _find_makers(key, every) if one[0] in ("user", "key")} - found
            found |= new
            pending += new
    return found


def _load_keys(project_id: UUID) -> dict[UUID, ApiKey]:
    return {key.pk: key for key in ApiKey.objects.filter(project=project_id).select_related("connection")}


def _find_makers(key: ApiKey, every: Mapping[UUID, ApiKey]) -> set[Identity]:
    """Return who made a key, and who made the first of those in whose place it is."""
    return {_read_maker(key), _read_maker(_find_first(key, every))}


def _find_first(key: ApiKey, every: Mapping[UUID, ApiKey]) -> ApiKey:
    while before := every.get(key.rotated_from) if key.rotated_from else None:
        key = before
    return key


def _read_maker(key: ApiKey) -> Identity:
    return key.created_by_kind, key.created_by_id


def require_maker(actor: Actor) -> None:
    """Refuse an actor that was removed or revoked while its request was under way.

    To be called in the transaction that makes a key or an invitation, which would outlive its maker.
    Raises Unauthenticated.
    """
    if actor.id and actor.kind in ("user", "key", "server") and not _is_there(actor):
        raise Unauthenticated("Who asks for this was removed a moment ago.")


def _is_there(actor: Actor) -> bool:
    if actor.kind == "user":
        keepers = get_user_model().objects.filter(pk=int(actor.id), is_superuser=True, is_active=True)
        members = Membership.objects.filter(project=actor.project_id, user__pk=int(actor.id))
        return members.exists() or keepers.exists()
    if (pk := as_uuid(actor.id)) is None:
        return False
    project_id = None if actor.kind == "server" else actor.project_id
    return ApiKey.objects.filter(project=project_id, pk=pk, revoked_at=None).exists()
