"""The protocol, by Authlib: what a request must have, and the form of answers. Rules are in the engine.

This module alone imports Authlib, with the first request of OAuth.
"""

from dataclasses import dataclass
from typing import Any

from authlib.common.urls import add_params_to_uri
from authlib.integrations.django_oauth2.requests import DjangoOAuth2Payload
from authlib.oauth2 import AuthorizationServer as BaseServer
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, OAuth2Error, OAuth2Request, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from django.http import HttpRequest, HttpResponse, JsonResponse

from memory.actors import Actor
from memory.answers.challenges import USUAL_SCOPE, find_base, is_resource
from memory.engines.access.connections import GRANTED_SCOPES, ConnectionEngine, Tokens
from memory.engines.access.oauth_clients import OAuthClientEngine, allows_redirect
from memory.models import Connection, OAuthClient

PUBLIC = ["none"]  # programs have no secret: PKCE proves that who brings a code asked for it
engine = ConnectionEngine()


class InvalidTarget(OAuth2Error):
    error = "invalid_target"


@dataclass(frozen=True)
class Consent:
    """What a person chose on the page of consent."""

    actor: Actor
    scope: str
    branch_patterns: list[str]
    resource: str


@dataclass(frozen=True)
class Client:
    """A program, as Authlib asks for it."""

    row: OAuthClient

    def get_default_redirect_uri(self) -> None:
        """Return none: a request names where its answer goes."""

    def check_redirect_uri(self, uri: str) -> bool:
        return allows_redirect(self.row, uri)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in PUBLIC

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in ("authorization_code", "refresh_token")

    def get_allowed_scope(self, scope: str | None) -> str:
        """Return the widest scope that is asked for and may be granted; the usual one where none is."""
        return max(
            set((scope or "").split()) & set(GRANTED_SCOPES), key=GRANTED_SCOPES.index, default=USUAL_SCOPE
        )


@dataclass(frozen=True)
class Credential:
    """A connection, as Authlib asks for it."""

    row: Connection

    @property
    def code_challenge(self) -> str:
        return self.row.code_challenge

    @property
    def code_challenge_method(self) -> str:
        return "S256"

    def get_redirect_uri(self) -> str:
        return self.row.redirect_uri

    def get_scope(self) -> str:
        return " ".join(self.row.scopes)

    def check_client(self, client: Client) -> bool:
        return self.row.client_id == client.row.pk


class StrictChallenge(CodeChallenge):
    """PKCE with S256, which must be named: where it is not, the standard means plain."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        data = grant.request.payload.data
        if data.get("code_challenge_method") != "S256" or not data.get("code_challenge"):
            raise InvalidRequestError("PKCE is needed: code_challenge with code_challenge_method=S256.")
        super().validate_code_challenge(grant, redirect_uri)


class TokenAnswers:
    """What both grants answer: tokens of the engine, for the resource that the connection is for."""

    TOKEN_ENDPOINT_AUTH_METHODS = PUBLIC
    request: Any

    def require_resource(self, row: Connection) -> None:
        """Refuse a request for another resource than the connection's. Raises InvalidTarget."""
        resource = self.request.payload.data.get("resource")
        if resource and parse_resource(resource, self.request.base) != row.resource:
            raise InvalidTarget("The resource is not the one that was granted.")

    def authenticate_user(self, credential: Credential) -> Any:
        return credential.row.user

    def save_token(self, token: dict[str, Any]) -> None:
        """Do nothing: the engine has."""

    def write(self, tokens: Tokens | None) -> dict[str, Any]:
        if tokens is None:
            raise InvalidGrantError("This was used, has expired or was revoked: connect again.")
        return {
            "access_token": tokens.access,
            "refresh_token": tokens.refresh,
            "token_type": "Bearer",
            "expires_in": tokens.seconds,
            "scope": " ".join(tokens.key.scopes),
        }


class CodeGrant(TokenAnswers, grants.AuthorizationCodeGrant):
    def generate_authorization_code(self) -> str:
        """Return the code of a new connection; the request's user is what that person chose."""
        consent: Consent = self.request.user
        return engine.open_connection(
            actor=consent.actor,
            client=self.request.client.row,
            scope=consent.scope,
            resource=consent.resource,
            redirect_uri=self.request.payload.redirect_uri,
            code_challenge=self.request.payload.data["code_challenge"],
            branch_patterns=consent.branch_patterns,
        )

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Do nothing: the engine has."""

    def query_authorization_code(self, code: str, client: Client) -> Credential | None:
        row = engine.take_code(code=code, client_id=client.row.client_id)
        if row:
            self.require_resource(row)
        return Credential(row) if row else None

    def generate_token(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return self.write(engine.give_tokens(connection=self.request.authorization_code.row))

    def delete_authorization_code(self, authorization_code: Credential) -> None:
        """Do nothing: it is used up, and known when it comes again."""


class RefreshGrant(TokenAnswers, grants.RefreshTokenGrant):
    def authenticate_refresh_token(self, refresh_token: str) -> Credential | None:
        client_id = self.request.client.row.client_id
        row = engine.find_by_refresh(refresh_token=refresh_token, client_id=client_id)
        if row:
            self.require_resource(row)
        return Credential(row) if row else None

    def issue_token(self, user: Any, refresh_token: Credential) -> dict[str, Any]:
        token, client_id = self.request.form["refresh_token"], self.request.client.row.client_id
        return self.write(engine.renew_tokens(refresh_token=token, client_id=client_id))

    def revoke_old_credential(self, refresh_token: Credential) -> None:
        """Do nothing: the engine has."""


class OAuthRequest(OAuth2Request):
    """A request of Django. Whether it came over HTTPS is for the proxy and the settings to say."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(str(request.method), "https://day1", headers=request.headers)
        self.payload = DjangoOAuth2Payload(request)
        self.base, self._form = find_base(request), request.POST

    @property
    def form(self) -> Any:
        return self._form


class AuthorizationServer(BaseServer):
    def query_client(self, client_id: str) -> Client | None:
        row = OAuthClientEngine().find_client(client_id=client_id)
        return Client(row) if row else None

    def create_oauth2_request(self, request: HttpRequest) -> OAuthRequest:
        return request if isinstance(request, OAuthRequest) else OAuthRequest(request)

    def handle_response(self, status: int, payload: Any, headers: Any) -> HttpResponse:
        response = HttpResponse(status=status) if payload == "" else JsonResponse(payload, status=status)
        for name, value in dict(headers).items():
            response[name] = value
        return response

    def send_signal(self, *args: Any, **kwargs: Any) -> None:
        """Tell nobody."""


server = AuthorizationServer()
server.register_grant(CodeGrant, [StrictChallenge(required=True)])
server.register_grant(RefreshGrant)


def parse_resource(resource: str, base: str) -> str:
    """Return the path of a resource of this server; "" is the whole of it. Raises InvalidTarget."""
    address = resource.partition("?")[0].removesuffix("/")  # without options, such as ?profile=
    named, own = _lower_host(address), _lower_host(base)
    if f"{named}/".startswith(f"{own}/") and is_resource(found := named[len(own) :]):
        return found
    raise InvalidTarget("This is no resource of this server.")


def _lower_host(url: str) -> str:
    scheme, slashes, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{(scheme + slashes + host).lower()}{slash}{path}"


def add_issuer(response: HttpResponse, base: str) -> HttpResponse:
    """Add to an answer that goes to a program by who it is (RFC 9207), against mixed-up servers."""
    if location := response.get("Location"):
        response["Location"] = add_params_to_uri(location, [("iss", base)])
    return response
