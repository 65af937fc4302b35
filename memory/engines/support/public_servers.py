"""Requests to addresses that a caller names: to public servers alone, within a time.

Every address of the name is checked and the checked one is connected to, so that a name which changes leads
nowhere else; no redirect is followed.
"""

import re
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Timer
from urllib.parse import SplitResult, urlsplit

Allowed = Callable[[str], bool]
PLAIN_ADDRESS = re.compile(r"[!#-;=?-\[\]_a-z~]+")  # of a URL: no space, quote, backslash or other letter
NAT64 = IPv6Network("64:ff9b::/96")


class Unanswered(Exception):
    """A request without the answer that it should have; its text says why, to whoever named the address."""


@dataclass(frozen=True)
class Request:
    """A request to an address of http or https, and the seconds for all of it."""

    method: str
    url: str
    headers: Mapping[str, str]
    seconds: float
    body: bytes | None = None
    max_bytes: int = 0  # of the answer that are read


class PinnedConnection(HTTPConnection):
    """A connection to an address that was checked, under the name that its certificate must have."""

    def __init__(
        self, name: str, port: int, address: str, timeout: float, context: ssl.SSLContext | None
    ) -> None:
        super().__init__(name, port, timeout=timeout)
        self.address, self.context = address, context
        self.default_port, self.is_cut = 443 if context else 80, False

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)
        if self.context:
            self.sock = self.context.wrap_socket(self.sock, server_hostname=self.host)

    def cut(self) -> None:
        """End what takes too long, from another thread."""
        self.is_cut = True
        if self.sock:
            with suppress(OSError):  # it has just ended
                self.sock.shutdown(socket.SHUT_RDWR)


def split_address(url: str) -> SplitResult | None:
    """Return the parts of a plain address, which has no fragment, name and password; None for another."""
    if not PLAIN_ADDRESS.fullmatch(url.lower()) or "#" in url:
        return None
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 and "@" not in parts.netloc else None
    except ValueError:
        return None


def send_request(
    request: Request, *, is_allowed: Allowed | None = None, context: ssl.SSLContext | None = None
) -> tuple[int, bytes]:
    """Return the status of the answer and its first bytes, one more than may be read. Raises Unanswered."""
    parts = urlsplit(request.url)
    is_secure = parts.scheme == "https"
    name, port = str(parts.hostname), parts.port or (443 if is_secure else 80)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    trust = (context or ssl.create_default_context()) if is_secure else None
    try:
        address = _resolve(name, port, is_allowed or is_public)
        return _exchange(PinnedConnection(name, port, address, request.seconds, trust), path, request)
    except TimeoutError:
        raise Unanswered(f"no answer in {request.seconds:g} seconds") from None
    except socket.gaierror:
        raise Unanswered("its name leads to no server") from None
    except ConnectionRefusedError:
        raise Unanswered("the connection is refused") from None
    except (OSError, HTTPException, ValueError):
        raise Unanswered("it does not answer as it should") from None


def _resolve(name: str, port: int, is_allowed: Allowed) -> str:
    """Return an address of a name, all of whose addresses are allowed."""
    found = [str(one[4][0]) for one in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)]
    if not found or not all(map(is_allowed, found)):
        raise Unanswered("it is not on a public server")
    return found[0]


def _exchange(connection: PinnedConnection, path: str, request: Request) -> tuple[int, bytes]:
    timer = Timer(request.seconds, connection.cut)
    timer.start()
    try:
        connection.request(request.method, path, request.body, dict(request.headers))
        answer: HTTPResponse = connection.getresponse()
        body = answer.read(request.max_bytes + 1) if request.max_bytes else b""
    except (OSError, HTTPException):
        if connection.is_cut:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        connection.close()
    if connection.is_cut:
        raise TimeoutError
    return answer.status, body


def is_public(address: str) -> bool:
    """Return whether an address is one of the public internet, by whatever notation."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner or parsed.teredo or parsed in NAT64:
            return bool(inner and inner.is_global and not inner.is_multicast)
    return parsed.is_global and not parsed.is_multicast


def is_of_network(address: str) -> bool:
    """Return whether an address is public or of a private network; not where clouds keep their secrets."""
    parsed = _parse(address)
    inner = (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed
    return not (inner.is_link_local or inner.is_multicast or inner.is_unspecified)


def _parse(address: str) -> IPv4Address | IPv6Address:
    return ip_address(address.partition("%")[0])
