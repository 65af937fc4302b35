"""The address of this server as its caller sees it, and where a 401 sends programs that speak OAuth."""

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix

from memory.conf import conf
from memory.engines.access.key_actors import MCP, REST

RESOURCE = re.compile(rf"|{MCP}(/[A-Za-z0-9_-]+)?|{REST}")  # nothing, or a project that a path names
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
USUAL_SCOPE = "write"  # what a program asks for that does not know better


def is_resource(path: str) -> bool:
    """Return whether a path is what a token may be for: all of the server, MCP, MCP of a project, REST."""
    return bool(RESOURCE.fullmatch(path))


def find_base(request: HttpRequest) -> str:
    """Return scheme, host and path of this server, without a slash at the end."""
    return request.build_absolute_uri(get_script_prefix()).removesuffix("/")


def find_base_of_headers(scope: Mapping[str, Any]) -> str:
    """Return the same for a request of ASGI that Django does not see; its Host was checked."""
    scheme, headers = scope.get("scheme", "http"), dict(scope["headers"])
    name, value = getattr(settings, "SECURE_PROXY_SSL_HEADER", None) or ("", "")
    header = name.removeprefix("HTTP_").replace("_", "-").lower().encode()
    if name and header in headers:
        scheme = "https" if headers[header].decode("latin-1").split(",")[0].strip() == value else "http"
    return f"{scheme}://{headers.get(b'host', b'').decode('latin-1')}{scope.get('root_path', '')}"


def build_challenge(base: str, path: str, text: str = "") -> str:
    """Return the WWW-Authenticate of a 401; with OAuth it names the metadata of what was asked for."""
    parts = ['error="invalid_token"']
    if text:
        parts.append('error_description="{}"'.format(text.replace('"', "'")))
    else:
        parts.insert(0, 'realm="day1"')
    if conf().oauth:
        resource = path if path and is_resource(path) else REST
        parts += [f'resource_metadata="{base}{RESOURCE_METADATA}{resource}"', f'scope="{USUAL_SCOPE}"']
    return f"Bearer {', '.join(parts)}"
