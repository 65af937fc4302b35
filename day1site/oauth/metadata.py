"""What programs read first: what is protected (RFC 9728), and how rights for it are asked for (RFC 8414)."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from memory.answers.challenges import USUAL_SCOPE, find_base, is_resource
from memory.conf import conf
from memory.engines.access.connections import GRANTED_SCOPES


def require_oauth() -> None:
    """Refuse where OAuth is off: clients that find metadata leave their key aside. Raises Http404."""
    if not conf().oauth:
        raise Http404


def describe_resource(request: HttpRequest, path: str = "") -> HttpResponse:
    """Return the metadata of what is protected, below a proxy's path also where that stands behind."""
    require_oauth()
    base = find_base(request)
    own_path = path.removeprefix(request.META.get("SCRIPT_NAME", "")).removesuffix("/")
    if not is_resource(own_path):
        raise Http404
    document = {
        "resource": base + own_path,
        "authorization_servers": [base],
        "scopes_supported": GRANTED_SCOPES[: GRANTED_SCOPES.index(USUAL_SCOPE) + 1],
        "bearer_methods_supported": ["header"],
        "resource_name": "Day1",
    }
    return answer(document)


def describe_server(request: HttpRequest, path: str = "") -> HttpResponse:
    """Return how this server gives rights; a path that stands behind is the proxy's."""
    require_oauth()
    base = find_base(request)
    if path.removesuffix("/") not in ("", request.META.get("SCRIPT_NAME", "")):
        raise Http404
    document = {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "registration_endpoint": f"{base}/oauth/register",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "scopes_supported": GRANTED_SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    return answer(document)


def answer(document: dict[str, Any]) -> HttpResponse:
    return open_to_pages(JsonResponse(document))  # no cache: it names the host that was asked


def open_to_pages(response: HttpResponse) -> HttpResponse:
    """Let pages of other sites read an answer that has nothing of who is logged in: programs such as the MCP
    Inspector run in a browser.
    """
    response["Cache-Control"] = "no-store"
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Allow-Methods"] = "GET, POST"
    response["Access-Control-Allow-Headers"] = "Content-Type, MCP-Protocol-Version"
    return response
