"""When a key was used last, and from where: an address that is new is told in the trail."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest

from memory.actors import NO_PROJECT, Actor
from memory.engines.audit.server_trail import record_server_entry
from memory.engines.audit.trail import record_entry
from memory.engines.support.write_buffer import buffer
from memory.exceptions import QuotaExceeded
from memory.models import ApiKey
from memory.request_context import current_request

USED, MOVED = "key.used", "key.address"
MAX_ADDRESSES = 20  # of one key; a program that comes from more has no usual ones


def note_use(key: ApiKey, at: datetime) -> None:
    """Note behind the answer that a key is used, and from which address."""
    buffer.add_value(USED, key.pk, at)
    request, known = current_request.get(), key.addresses or []
    is_new = request and is_elsewhere(request.address) and request.address not in known
    if request and is_new and len(known) < MAX_ADDRESSES:
        buffer.add_value(MOVED, (key.pk, request.address), None)


def is_elsewhere(address: str) -> bool:
    """Return whether an address is none of this machine's own."""
    try:
        return bool(address) and not ip_address(address.partition("/")[0]).is_loopback
    except ValueError:
        return False


def write_used(times: Mapping[UUID, datetime]) -> None:
    for pk, at in times.items():
        # Two processes may write in any order: keep the later time.
        ApiKey.objects.filter(pk=pk).update(last_used_at=Greatest(Coalesce(F("last_used_at"), at), at))


def write_addresses(moved: Mapping[tuple[UUID, str], None]) -> None:
    """Keep new addresses with their keys, each with an entry in the trail."""
    for pk, address in moved:
        key = ApiKey.objects.select_for_update().filter(pk=pk).first()
        if key is None or address in (known := key.addresses or []) or len(known) >= MAX_ADDRESSES:
            continue
        ApiKey.objects.filter(pk=pk).update(addresses=[*known, address])
        record_address(key, address)


def record_address(key: ApiKey, address: str) -> None:
    actor = Actor(key.project_id or NO_PROJECT, "key" if key.project_id else "server", str(key.pk), key.label)
    with suppress(QuotaExceeded):  # the address is kept, and the project has no room to tell of it
        record(actor, MOVED, key, {"address": address})


def record(actor: Actor, action: str, key: ApiKey, detail: dict[str, Any]) -> None:
    """Tell of a key in the trail of its project, or of the server."""
    if key.project_id is None:
        record_server_entry(actor, action, key.prefix, detail)
    else:
        record_entry(actor, action, key.prefix, detail)


buffer.register_kind(USED, write_used, merge=max)
buffer.register_kind(MOVED, write_addresses)
