"""Who made a key: a person or the command line, by itself or by keys that it made."""

from collections import defaultdict
from uuid import UUID

from memory.actors import Actor
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Membership

Identity = tuple[str, str]  # kind and id of an actor: labels may be those of several


def list_made_keys(project_id: UUID, maker: Identity) -> list[ApiKey]:
    """Return the keys of a maker, those that these keys made, and so on, in any state, the oldest first."""
    by_maker: dict[Identity, list[ApiKey]] = defaultdict(list)
    for key in ApiKey.objects.filter(project=project_id):
        by_maker[key.created_by_kind, key.created_by_id].append(key)
    found: list[ApiKey] = []
    makers = [maker]
    while makers:
        keys = by_maker.pop(makers.pop(), [])
        found += keys
        makers += [("key", str(key.pk)) for key in keys]
    return sorted(found, key=lambda key: key.pk)


def list_makers(project_id: UUID, actor: Identity) -> set[Identity]:
    """Return the person or key that made a key, who made that key, and so on.

    The command line is no maker here: it makes keys for everybody.
    """
    found: set[Identity] = set()
    while actor[0] == "key" and (pk := as_uuid(actor[1])):
        rows = ApiKey.objects.filter(project=project_id, pk=pk)
        made = rows.values_list("created_by_kind", "created_by_id").first()
        if made is None or made in found or made[0] not in ("user", "key"):
            break
        found.add(made)
        actor = made
    return found


def require_maker(actor: Actor) -> None:
    """Refuse an actor that was removed or revoked while its request was under way.

    To be called in the transaction that makes a key or an invitation, which would outlive its maker.
    Raises Unauthenticated.
    """
    if actor.id and actor.kind in ("user", "key") and not _is_there(actor):
        raise Unauthenticated("Who asks for this was removed a moment ago.")


def _is_there(actor: Actor) -> bool:
    if actor.kind == "user":
        return Membership.objects.filter(project=actor.project_id, user__pk=int(actor.id)).exists()
    if (pk := as_uuid(actor.id)) is None:
        return False
    return ApiKey.objects.filter(project=actor.project_id, pk=pk, revoked_at=None).exists()
