"""Service below a path of a proxy's site, such as https://example.org/tools/day1/.

The proxy says the path in X-Forwarded-Prefix. It becomes the scope's ``root_path``, and so the script prefix
of Django, with which every address begins.
"""

import re
from collections.abc import Iterable, MutableMapping
from ipaddress import ip_address, ip_network
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.urls import get_script_prefix, set_script_prefix

MAX_LENGTH = 200
PLAIN_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)+")
Headers = Iterable[tuple[bytes, bytes]]


def get_forwarded_address(forwarded: str) -> str:
    """Return the address that the outermost trusted proxy saw, from X-Forwarded-For.

    "" where the request did not come through as many proxies as are trusted.
    """
    number, seen = settings.TRUSTED_PROXIES, forwarded.split(",")
    return seen[-number].strip() if 0 < number <= len(seen) else ""


def find_client_address(forwarded: str, peer: str) -> str:
    """Return the address of a client; of IPv6 the /64 network, each address of which is its owner's."""
    address = get_forwarded_address(forwarded) or peer
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4 or parsed.is_loopback:  # of which there is one, in no network of others
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))


def read_prefix(headers: Headers) -> str:
    """Return the path that trusted proxies name; "" where none does, or it is no plain path."""
    named = join_values(headers, b"x-forwarded-prefix").removesuffix("/")
    if not named or not get_forwarded_address(join_values(headers, b"x-forwarded-for")):
        return ""
    return named if len(named) <= MAX_LENGTH and PLAIN_PATH.fullmatch(named) else ""


def join_values(headers: Headers, name: bytes) -> str:
    return ",".join(value.decode("latin-1") for header, value in headers if header == name)


def apply_prefix(scope: MutableMapping[str, Any]) -> None:
    """Set the scope's ``root_path`` and its path below it, whether the proxy took the prefix off or not."""
    prefix = read_prefix(scope["headers"])
    set_script_prefix(f"{prefix}/")  # for a page of refusal, which needs no thread of Django's
    if not prefix:
        return
    path = scope["path"]
    below = path.removeprefix(prefix) if f"{path}/".startswith(f"{prefix}/") else path
    scope.update(root_path=prefix, path=below or "/")


class StaticFiles(StaticFilesStorage):
    """Static files, with addresses of the request's prefix: Django keeps those of its first request."""

    def url(self, name: str | None) -> str:
        return get_script_prefix() + super().url(name).removeprefix("/")
