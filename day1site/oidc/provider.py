"""What is asked of the login provider: its description, its keys, tokens for a code, and claims of a person.

Nothing that it says is believed before the signature of its ID token, whom it is for and when it was made
are checked. The libraries are imported by the first login.
"""

import json
import logging
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop as _

from day1site.settings.oidc import Oidc
from memory.db.work_slots import work_slots
from memory.engines.support.public_servers import Request, Unanswered, send_request
from memory.exceptions import Day1Error, Unauthenticated

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 8.0  # for each answer
MAX_BYTES = 4 * 1024 * 1024  # of an answer: 5,000 groups are 200 kB
AWAY_SECONDS = 10.0  # in which a provider that was away is not asked again: each who asks waits
DOCUMENT_TTL = 600.0  # seconds that a description and keys are kept
LEEWAY_SECONDS = 120
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
AWAY = _("The login provider cannot be reached ({reason}). Try again, or ask whoever runs this server.")
FOREIGN = _("The login provider describes itself as {issuer}, not as the one that is set here.")
UNUSABLE = _("The login provider's answer cannot be used: {reason}.")
UNKNOWN_KEY = _("The login provider's token is signed with a key that is none of its keys.")
AHEAD = _("This server's clock is {minutes} minutes ahead of the login provider's: one of the two is wrong.")
BEHIND = _("This server's clock is {minutes} minutes behind the login provider's: one of the two is wrong.")


class ProviderAway(Day1Error):
    code, status, message = "unavailable", 503, AWAY


@dataclass
class Provider:
    """The provider of the settings, with what it said of itself lately."""

    oidc: Oidc
    kept: dict[str, tuple[float, Any]] = field(default_factory=dict)  # documents, or why there are none
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return its description by itself. Raises ProviderAway, Unauthenticated for that of another."""
        found = self._read_kept(f"{self.oidc.issuer.removesuffix('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.oidc.issuer:
            raise Unauthenticated(FOREIGN, issuer=ascii(found.get("issuer"))[:200])
        for name in ENDPOINTS:
            self._require_address(found.get(name), name)
        return found

    def build_login_url(self, *, redirect_uri: str, state: str, nonce: str, challenge: str) -> str:
        """Return where a person logs in. Raises ProviderAway, Unauthenticated."""
        endpoint = self.metadata["authorization_endpoint"]
        query = {
            "response_type": "code",
            "client_id": self.oidc.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.oidc.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"

    def read_claims(self, *, code: str, redirect_uri: str, verifier: str, nonce: str) -> dict[str, Any]:
        """Return what the provider says of the person of a code, once it was checked.

        Raises ProviderAway, Unauthenticated.
        """
        tokens = self._fetch_tokens(code, redirect_uri, verifier)
        claims = self._check_token(str(tokens.get("id_token", "")), nonce)
        address, token = self.metadata.get("userinfo_endpoint"), tokens.get("access_token")
        if not address or not isinstance(token, str) or not token.isprintable():
            return claims
        self._require_address(address, "userinfo_endpoint")
        userinfo = self._send("GET", address, {"Authorization": f"Bearer {token}"})
        if userinfo.get("sub") != claims["sub"]:
            raise Unauthenticated(UNUSABLE, reason="it tells of another person")
        return {**userinfo, **claims}

    def _fetch_tokens(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        client_id, secret = self.oidc.client_id, self.oidc.client_secret
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        methods = self.metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if secret and "client_secret_basic" in methods:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": client_id, **({"client_secret": secret} if secret else {})}
        return self._send("POST", self.metadata["token_endpoint"], headers, urlencode(form).encode())

    def _check_token(self, token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token. Raises Unauthenticated."""
        from authlib.common.errors import AuthlibBaseError
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        found = self._read_signed(token)
        check_clock(found)
        expected = {
            "iss": {"essential": True, "value": self.oidc.issuer},
            "aud": {"essential": True, "value": self.oidc.client_id},
        }
        claims = CodeIDToken(found, {}, expected, {"nonce": nonce, "client_id": self.oidc.client_id})
        try:
            claims.validate(leeway=LEEWAY_SECONDS)
        except (AuthlibBaseError, JoseError) as error:
            raise Unauthenticated(UNUSABLE, reason=str(error)[:200]) from None
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise Unauthenticated(UNUSABLE, reason="its sub is no name")
        return dict(claims)

    def _read_signed(self, token: str) -> dict[str, Any]:
        """Return what a token says that one of the provider's keys has signed; keys that it has changed are
        read anew. Raises Unauthenticated.
        """
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError
        from joserfc.jwk import KeySet
        from joserfc.jws import JWSRegistry

        registry = JWSRegistry(algorithms=ALGORITHMS)
        registry.max_payload_length = registry.max_header_length = MAX_BYTES  # many groups, a certificate
        for is_fresh in (False, True):
            keys: Any = self._read_kept(self.metadata["jwks_uri"], is_fresh=is_fresh)
            try:
                return dict(jwt.decode(token, KeySet.import_key_set(keys), registry=registry).claims)
            except InvalidKeyIdError:
                continue
            except (JoseError, ValueError, KeyError, TypeError) as error:
                reason = f"its token is not signed as it must be ({type(error).__name__})"
                raise Unauthenticated(UNUSABLE, reason=reason) from None
        raise Unauthenticated(UNKNOWN_KEY)

    def _read_kept(self, url: str, is_fresh: bool = False) -> dict[str, Any]:
        """Return a document of the provider, which is read again after minutes."""
        with self.lock:
            until, found = self.kept.get(url, (0.0, {}))
        if is_fresh or until < time.monotonic():
            found = self._fetch_document(url)
        if isinstance(found, ProviderAway):
            raise found
        return dict(found)

    def _fetch_document(self, url: str) -> Any:
        """Return a document, or why there is none; both are kept for a while. Raises Unauthenticated."""
        ttl = DOCUMENT_TTL
        try:
            found: Any = self._send("GET", url, {})
        except ProviderAway as error:
            logger.warning("The login provider (DAY1_OIDC_ISSUER): %s: %s", url, error)
            found, ttl = error, AWAY_SECONDS
        except Unauthenticated as error:
            logger.warning("The login provider (DAY1_OIDC_ISSUER): %s: %s", url, error)
            raise
        with self.lock:
            self.kept[url] = time.monotonic() + ttl, found
        return found

    def _require_address(self, url: Any, name: str) -> None:
        allowed = {"https", urlsplit(self.oidc.issuer).scheme}
        if not isinstance(url, str) or urlsplit(url).scheme not in allowed:
            raise Unauthenticated(UNUSABLE, reason=f"its {name} is no address of https")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> dict[str, Any]:
        """Return the JSON of an answer. Raises ProviderAway, Unauthenticated."""
        sent = {"Accept": "application/json", "User-Agent": "Day1", "Connection": "close", **headers}
        request = Request(method, url, sent, TIMEOUT_SECONDS, body, MAX_BYTES)
        try:
            with work_slots.leave_slot():
                status, answer = send_request(request, is_allowed=lambda address: True)
        except Unanswered as error:
            raise ProviderAway(reason=str(error)) from None
        if status >= 500:
            raise ProviderAway(reason=f"HTTP {status}")
        found = read_object(answer)
        if status != 200 or found is None:
            named = ascii(str((found or {}).get("error", "")))[1:-1][:50]
            raise Unauthenticated(UNUSABLE, reason=f"HTTP {status} {named}".strip())
        return found


def read_object(answer: bytes) -> dict[str, Any] | None:
    """Return the object of a JSON answer; None for another, and for one that is too long."""
    try:
        found = json.loads(answer) if len(answer) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def check_clock(claims: Mapping[str, Any]) -> None:
    """Refuse a token that was made at another time than now: it was asked for a moment ago. Raises
    Unauthenticated.
    """
    made = claims.get("iat")
    if not isinstance(made, int | float):
        return  # refused below, as all that is missing
    seconds = time.time() - made
    if abs(seconds) > LEEWAY_SECONDS:
        raise Unauthenticated(AHEAD if seconds > 0 else BEHIND, minutes=round(abs(seconds) / 60))


@lru_cache(maxsize=4)
def get_provider(oidc: int) -> Provider:
    """Return the provider of the settings with this identity, which keeps what it has read."""
    assert settings.OIDC is not None  # asked for by views that are there with it alone
    return Provider(settings.OIDC)
