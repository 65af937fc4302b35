"""Authentication and host checks for the ASGI applications next to Django."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host
from rest_framework.response import Response

from day1site.asgi import Scope, Send
from memory.answers.challenges import build_challenge, find_base_of_headers
from memory.answers.problems import PROBLEM, build_error_response, build_problem
from memory.answers.wire import Renderer
from memory.exceptions import Unauthenticated

LOCAL_NAMES = [".localhost", "127.0.0.1", "[::1]"]  # Django's own defaults with DEBUG on and no allowed hosts
WRONG_KEY = "This needs an API key: send it as Authorization: Bearer KEY."
Header = tuple[bytes, bytes]
T = TypeVar("T")


def bearer(headers: Mapping[bytes, bytes]) -> str:
    """Return the API key of a request. Raises Unauthenticated."""
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(WRONG_KEY)
    return token.strip()


def check_origin(headers: Mapping[bytes, bytes]) -> tuple[int, str, str] | None:
    """Return the refusal of a request by its Host and Origin: a web page must not reach a local server.

    A page of another site names that site in Origin, and one that uses DNS rebinding also in Host.
    """
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_allowed_host(host):
        return 421, "invalid", "This server is not called by that name: see DAY1_ALLOWED_HOSTS."
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin and not ((own := read_netloc(origin)) == host or is_known_host(own)):
        return 403, "forbidden", "A page of another site may not use this server."
    return None


def read_netloc(url: str) -> str:
    """Return host and port of a URL; "" where it has none, or is none."""
    try:
        return urlsplit(url).netloc
    except ValueError:  # an unclosed bracket
        return ""


def is_allowed_host(host: str) -> bool:
    """Return whether Django would accept this Host."""
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS or LOCAL_NAMES)


def is_known_host(host: str) -> bool:
    """Return whether a host is listed by name; a wildcard does not count."""
    known = [name for name in settings.ALLOWED_HOSTS or LOCAL_NAMES if name != "*"]
    return bool(host) and validate_host(split_domain_port(host)[0], known)


async def refuse(send: Send, status: int, code: str, text: str, *more: Header) -> None:
    """Send a problem response, as the REST API does; headers in ``more`` replace its own."""
    await respond(send, build_problem(status, code, text), *more)


async def refuse_for(send: Send, scope: Scope, error: Exception) -> None:
    """Send the REST API's problem response for an error; unexpected errors are logged."""
    response = build_error_response(error, scope["method"], scope["path"])
    if isinstance(error, Unauthenticated):
        base, path = find_base_of_headers(scope), scope["path"].removesuffix("/")
        response["WWW-Authenticate"] = build_challenge(base, path, error.text)
    await respond(send, response)


async def respond(send: Send, answer: Response, *more: Header) -> None:
    body = Renderer().render(answer.data)
    headers = {name.lower().encode(): value.encode() for name, value in answer.headers.items()}
    headers |= {b"content-type": PROBLEM.encode(), b"content-length": str(len(body)).encode(), **dict(more)}
    await send(
        {"type": "http.response.start", "status": answer.status_code, "headers": list(headers.items())}
    )
    await send({"type": "http.response.body", "body": body})


def in_thread(do: Callable[..., T], *arguments: Any) -> T:
    """Run database work with the connection handling of a Django request."""
    close_old_connections()
    try:
        return do(*arguments)
    finally:
        close_old_connections()
