"""Client ID Metadata Documents: a program's id is the address of what it says of itself.

Whoever is logged in gives such an address, so it may lead nowhere but to a public server: every address of
the name is checked, the checked one is connected to, no redirect is followed, time and size are bounded.
"""

import json
import socket
import ssl
from collections.abc import Callable
from http.client import HTTPException, HTTPSConnection
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Timer
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop as _

from memory.db.work_slots import work_slots
from memory.engines.access.oauth_clients import PLAIN_ADDRESS
from memory.exceptions import Invalid

MAX_BYTES = 16 * 1024
TIMEOUT_SECONDS = 5.0  # for all of it
MAX_LENGTH = 500
NAT64 = IPv6Network("64:ff9b::/96")
UNREAD = _("The document of the program at {address} cannot be read: {reason}.")
Allowed = Callable[[str], bool]


class PinnedConnection(HTTPSConnection):
    """A connection to an address that was checked, under the name that its certificate must have."""

    def __init__(self, name: str, port: int, address: str, context: ssl.SSLContext) -> None:
        super().__init__(name, port, timeout=TIMEOUT_SECONDS, context=context)
        self.address, self.context = address, context

    def connect(self) -> None:
        raw = socket.create_connection((self.address, self.port), self.timeout)
        self.sock = self.context.wrap_socket(raw, server_hostname=self.host)

    def cut(self) -> None:
        """End what takes too long, from another thread."""
        if self.sock:
            self.sock.shutdown(socket.SHUT_RDWR)


def is_document_address(client_id: str) -> bool:
    """Return whether a program's id is the address of its document, in the one form that is taken."""
    if len(client_id) > MAX_LENGTH or not PLAIN_ADDRESS.fullmatch(client_id.lower()):
        return False
    try:
        parts = urlsplit(client_id)
        known = parts.scheme == "https" and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    is_plain = not {".", ".."} & set(parts.path.split("/")) and "#" not in client_id
    return bool(known and is_plain and parts.path.strip("/"))


def fetch_document(
    client_id: str, *, is_allowed: Allowed | None = None, context: ssl.SSLContext | None = None
) -> Any:
    """Return the document at the address of a program. Raises Invalid."""
    parts = urlsplit(client_id)
    name, port = str(parts.hostname), parts.port or 443
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        with work_slots.leave_slot():
            address = _resolve(name, port, is_allowed or is_public)
            return _read(PinnedConnection(name, port, address, context or ssl.create_default_context()), path)
    except (OSError, HTTPException, ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _Refused) else "it does not answer as it should"
        raise Invalid(UNREAD, address=client_id, reason=reason, field="client_id") from None


class _Refused(OSError):
    pass


def _resolve(name: str, port: int, is_allowed: Allowed) -> str:
    """Return an address of a name, all of whose addresses are allowed."""
    found = [str(one[4][0]) for one in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)]
    if not found or not all(map(is_allowed, found)):
        raise _Refused("it is not on a public server")
    return found[0]


def is_public(address: str) -> bool:
    """Return whether an address is one of the public internet, by whatever notation."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner or parsed.teredo or parsed in NAT64:
            return bool(inner and inner.is_global and not inner.is_multicast)
    return parsed.is_global and not parsed.is_multicast


def _read(connection: PinnedConnection, path: str) -> Any:
    timer = Timer(TIMEOUT_SECONDS, connection.cut)
    timer.start()
    try:
        headers = {"Accept": "application/json", "User-Agent": "Day1", "Connection": "close"}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise _Refused(f"the answer is HTTP {answer.status}")
        body = answer.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise _Refused(f"it has more than {MAX_BYTES} bytes")
        return json.loads(body)
    finally:
        timer.cancel()
        connection.close()
