"""Client ID Metadata Documents: a program's id is the address of what it says of itself.

Whoever is logged in gives such an address, so it may lead nowhere but to a public server: every address of
the name is checked, the checked one is connected to, no redirect is followed, time and size are bounded.
"""

import json
import ssl
from typing import Any

from django.utils.translation import gettext_noop as _

from memory.db.work_slots import work_slots
from memory.engines.support.public_servers import (
    Allowed,
    Request,
    Unanswered,
    send_request,
    split_address,
)
from memory.exceptions import Invalid

MAX_BYTES = 16 * 1024
TIMEOUT_SECONDS = 5.0  # for all of it
MAX_LENGTH = 500
UNREAD = _("The document of the program at {address} cannot be read: {reason}.")
HEADERS = {"Accept": "application/json", "User-Agent": "Day1", "Connection": "close"}


def is_document_address(client_id: str) -> bool:
    """Return whether a program's id is the address of its document, in the one form that is taken."""
    parts = split_address(client_id) if len(client_id) <= MAX_LENGTH else None
    if parts is None or parts.scheme != "https" or not parts.hostname:
        return False
    return bool(parts.path.strip("/")) and not {".", ".."} & set(parts.path.split("/"))


def fetch_document(
    client_id: str, *, is_allowed: Allowed | None = None, context: ssl.SSLContext | None = None
) -> Any:
    """Return the document at the address of a program. Raises Invalid."""
    request = Request("GET", client_id, HEADERS, TIMEOUT_SECONDS, max_bytes=MAX_BYTES)
    try:
        with work_slots.leave_slot():
            status, body = send_request(request, is_allowed=is_allowed, context=context)
        return _read(status, body)
    except (Unanswered, ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, Unanswered) else "it does not answer as it should"
        raise Invalid(UNREAD, address=client_id, reason=reason, field="client_id") from None


def _read(status: int, body: bytes) -> Any:
    if status != 200:
        raise Unanswered(f"the answer is HTTP {status}")
    if len(body) > MAX_BYTES:
        raise Unanswered(f"it has more than {MAX_BYTES} bytes")
    return json.loads(body)
