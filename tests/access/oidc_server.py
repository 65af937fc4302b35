"""A login provider in this process: discovery, keys, authorization code with PKCE, tokens, userinfo, groups.

``person`` is who logs in; the other fields turn it into one that errs or cheats.
"""

import json
import time
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

CLIENT, SECRET = "day1", "s:cret/with&signs"


def make_key(name: str) -> Any:
    return ECKey.generate_key("P-256", {"kid": name, "alg": "ES256", "use": "sig"})


@dataclass
class OidcServer:
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "1", "preferred_username": "anna"})
    keys: list[Any] = field(default_factory=lambda: [make_key("first")])
    signing_key: Any = None  # the last of ``keys`` unless another is set
    token: dict[str, Any] = field(default_factory=dict)  # claims that are put over those of the ID token
    userinfo: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, str] = field(default_factory=dict)  # what goes back to the redirect besides
    is_away: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)  # authorization requests
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    access_tokens: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)  # the paths that were asked for

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.handle(self, "")

            def do_POST(self) -> None:
                server.handle(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def handle(self, http: BaseHTTPRequestHandler, body: str) -> None:
        parts = urlsplit(http.path)
        query = {name: values[-1] for name, values in parse_qs(body or parts.query).items()}
        self.requests.append(parts.path)
        if self.is_away:
            return send(http, 503, {})
        if parts.path == "/authorize":
            return self.authorize(http, query)
        if parts.path == "/token":
            return self.give_tokens(http, query)
        if parts.path == "/userinfo":
            known = http.headers.get("Authorization", "").removeprefix("Bearer ") in self.access_tokens
            return send(http, 200 if known else 401, {**self.person, **self.userinfo} if known else {})
        if parts.path == "/jwks":
            return send(http, 200, {"keys": [key.as_dict(private=False) for key in self.keys]})
        if parts.path == "/.well-known/openid-configuration":
            return send(http, 200, self.describe())
        return send(http, 404, {})

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            **self.document,
        }

    def authorize(self, http: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        """Send the person back with a code, as one who is logged in at the provider."""
        self.asked.append(query)
        if query["client_id"] != CLIENT or query["code_challenge_method"] != "S256":
            return send(http, 400, {"error": "invalid_request"})
        code = token_urlsafe()
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], **self.answer}
        http.send_response(302)
        http.send_header("Location", f"{query['redirect_uri']}?{urlencode(answer)}")
        http.end_headers()
        return None

    def give_tokens(self, http: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        """Answer a code once, to the client that proves that it asked."""
        asked = self.codes.pop(form.get("code", ""), None)
        given = b64decode(http.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if [unquote(one) for one in given.split(":")] != [CLIENT, SECRET]:
            return send(http, 401, {"error": "invalid_client"})
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or form.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return send(http, 400, {"error": "invalid_grant"})
        access_token = token_urlsafe()
        self.access_tokens.add(access_token)
        return send(
            http,
            200,
            {"access_token": access_token, "token_type": "Bearer", "id_token": self.sign(asked["nonce"])},
        )

    def sign(self, nonce: str) -> str:
        now, key = int(time.time()), self.signing_key or self.keys[-1]
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **self.person,
            **self.token,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key, algorithms=["ES256"])


def send(http: BaseHTTPRequestHandler, status: int, answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    http.send_response(status)
    http.send_header("Content-Type", "application/json")
    http.send_header("Content-Length", str(len(body)))
    http.end_headers()
    http.wfile.write(body)
