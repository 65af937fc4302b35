"""The ids that memories of a bundle have in a project."""

import hashlib
from uuid import UUID

TIME_BITS = 48


def derive_uid(project_id: UUID, uid: UUID) -> UUID:
    """Return the id that a memory of a bundle has in a project: the same with each import.

    It keeps the time of an id of version 7, so that lists have their order.
    """
    digest = hashlib.sha256(f"bundle:{project_id}:{uid}".encode()).digest()
    time = uid.int >> (128 - TIME_BITS) if uid.version == 7 else 0
    rest = int.from_bytes(digest[:10], "big")
    value = (time << 80) | (rest & ~(0xF << 76) & ~(0x3 << 62)) | (7 << 76) | (2 << 62)
    return UUID(int=value)
