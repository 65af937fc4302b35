"""Keys in quarantine: a rotation changes the secret, not who writes."""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from curation.models import Quarantine
from memory.models import ApiKey, AuditEntry

CACHE_SIZE = 64
ROTATION = "key.rotate"


def list_keys(quarantine: Quarantine) -> set[str]:
    """Return the ids of a quarantined key, of what rotations made of it, and of those before it in grace."""
    keys = {key.prefix: key for key in ApiKey.objects.filter(project=quarantine.project_id)}
    former = load_rotations(quarantine.project_id, len(keys))
    (prefix,) = (one for one, key in keys.items() if key.pk == UUID(quarantine.target))
    found = [prefix]
    while (prefix := former.get(prefix, "")) and is_valid_at(keys[prefix], quarantine.created_at):
        found.append(prefix)
    for one in found:  # it grows meanwhile
        found += [new for new, old in former.items() if old == one and new in keys and new not in found]
    return {str(keys[one].pk) for one in found}


def is_valid_at(key: ApiKey, at: datetime) -> bool:
    return not any(end and end <= at for end in (key.revoked_at, key.expires_at))


@lru_cache(CACHE_SIZE)
def load_rotations(project_id: UUID, key_count: int) -> dict[str, str]:
    """Return the prefix of each key that a rotation made, with that of the one before it.

    A rotation changes the number of keys, so that no kept answer lacks one.
    """
    rows = AuditEntry.objects.filter(project=project_id, action=ROTATION).values_list("target", "detail")
    return {new: detail["rotated_from"] for new, detail in rows}
