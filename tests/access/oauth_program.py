"""A program that connects by OAuth over plain HTTP, as the standards have it and as an attacker would."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

from tests.memory.api.client import Api

BASE = "http://testserver"
BACK = "http://127.0.0.1:8123/back"
VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


class Program:
    """A registered program. ``browser`` is that of the person who connects it."""

    def __init__(self, browser: Client, name: str = "Claude", back: str = BACK) -> None:
        self.browser, self.http, self.back = browser, Client(), back
        self.tokens: dict[str, Any] = {}
        answer = register(self.http, client_name=name, redirect_uris=[back])
        assert answer.status_code == 201, answer.content
        self.client_id = answer.json()["client_id"]

    def build_url(self, **changed: str | None) -> str:
        """Return the address of the page of consent; None leaves a parameter out."""
        usual = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.back,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "st",
            "scope": "write",
            "resource": f"{BASE}/mcp",
        }
        sent = {name: value for name, value in {**usual, **changed}.items() if value is not None}
        return f"/oauth/authorize?{urlencode(sent)}"

    def allow(self, form: dict[str, str] | None = None, **changed: str | None) -> dict[str, str]:
        """Allow what is asked for; return what the program is sent."""
        sent = {"project": "test", "rights": "write", "branches": "", **(form or {})}
        answer = self.browser.post(self.build_url(**changed), sent)
        assert answer.status_code == 302, answer.content
        return read_back(answer, self.back)

    def send(self, **fields: str | None) -> Any:
        fields = {"client_id": self.client_id, **fields}
        return self.http.post("/oauth/token", {k: v for k, v in fields.items() if v is not None})

    def redeem(self, code: str, /, **changed: str | None) -> Any:
        usual = {"code": code, "redirect_uri": self.back, "code_verifier": VERIFIER}
        return self.send(grant_type="authorization_code", **{**usual, **changed})

    def renew(self, refresh_token: str, **changed: str | None) -> Any:
        return self.send(grant_type="refresh_token", refresh_token=refresh_token, **changed)

    def connect(self, form: dict[str, str] | None = None, **changed: str | None) -> "Program":
        """Connect from the page of consent to the tokens."""
        answer = self.redeem(self.allow(form, **changed)["code"])
        assert answer.status_code == 200, answer.content
        self.tokens = answer.json()
        return self

    @property
    def api(self) -> Api:
        return Api(self.tokens["access_token"])


def register(http: Client, **metadata: Any) -> Any:
    return http.post("/oauth/register", metadata, content_type="application/json")


def read_back(answer: Any, back: str) -> dict[str, str]:
    """Return the parameters of an answer that goes to the program."""
    address, _, query = answer["Location"].partition("?")
    assert (address, urlsplit(answer["Location"]).fragment) == (back.partition("?")[0], "")
    return dict(parse_qsl(query))
