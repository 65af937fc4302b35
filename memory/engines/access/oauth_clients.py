"""Programs that ask to be connected: what they say of themselves, and where their answers may go."""

import re
from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from unicodedata import combining
from urllib.parse import SplitResult, urlsplit

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from memory.db.transactions import retry_methods, write_transaction
from memory.engines.support.public_servers import split_address
from memory.exceptions import Invalid
from memory.models import Connection, OAuthClient

MAX_CLIENTS = 1000  # that nobody connected
DOCUMENT_TTL = timedelta(hours=1)  # for which a document is not read again
MAX_REDIRECTS, MAX_ADDRESS, MAX_NAME = 10, 2000, 200
BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # printable by Unicode, and seen by nobody
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")  # safe in a policy of a page
# What a browser opens itself: no program answers to them.
BROWSER_SCHEMES = frozenset(
    "about blob data file filesystem ftp intent javascript jar vbscript view-source ws wss".split()
)


@retry_methods
class OAuthClientEngine:
    def register_client(self, *, metadata: Any) -> OAuthClient:
        """Keep what a program says of itself under a new id; of too many that nobody connected the oldest
        gives way. Raises Invalid.
        """
        fields = read_metadata(metadata)
        with write_transaction():
            oldest = list_unused_clients().order_by("-read_at").values_list("pk", flat=True)
            OAuthClient.objects.filter(pk__in=list(oldest[MAX_CLIENTS - 1 :])).delete()
            return _save_client(token_urlsafe(24), fields)

    def keep_document(self, *, address: str, document: Any) -> OAuthClient:
        """Keep what stands at the address that is a program's id. Raises Invalid for that of another one."""
        if not isinstance(document, dict) or document.get("client_id") != address:
            raise Invalid("The document of the program does not name its own address.", field="client_id")
        fields = read_metadata(document)
        with write_transaction():
            return _save_client(address, fields)

    def find_client(self, *, client_id: str) -> OAuthClient | None:
        return OAuthClient.objects.filter(pk=hash_client_id(client_id)).first()


def list_unused_clients() -> QuerySet[OAuthClient]:
    """Return the programs that nobody has connected."""
    return OAuthClient.objects.exclude(Exists(Connection.objects.filter(client=OuterRef("pk"))))


def _save_client(client_id: str, fields: dict[str, Any]) -> OAuthClient:
    values = {**fields, "client_id": client_id, "read_at": timezone.now()}
    return OAuthClient.objects.update_or_create(pk=hash_client_id(client_id), defaults=values)[0]


def hash_client_id(client_id: str) -> str:
    return sha256(client_id.encode("utf-8", "replace")).hexdigest()


def is_fresh(client: OAuthClient | None) -> bool:
    """Return whether a document was read lately: also not at a time that is still to come."""
    return client is not None and abs(timezone.now() - client.read_at) < DOCUMENT_TTL


# ---- what they say -----------------------------------------------------------------------------------


def read_metadata(metadata: Any) -> dict[str, Any]:
    """Return name and redirects of a program's metadata (RFC 7591); the rest is left out. Raises Invalid."""
    if not isinstance(metadata, dict):
        raise Invalid("The metadata of a program are an object.")
    uris = metadata.get("redirect_uris")
    if not isinstance(uris, list) or not 1 <= len(uris) <= MAX_REDIRECTS:
        raise Invalid(
            "redirect_uris must be a list of 1 to {most}.", most=MAX_REDIRECTS, field="redirect_uris"
        )
    uris = [check_redirect_uri(uri) for uri in uris]
    for name, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        listed = metadata.get(name)
        if listed is not None and not (isinstance(listed, list) and needed in listed):
            raise Invalid("{field} must include {needed}.", field=name, needed=needed)
    return {
        "name": clean_name(metadata.get("client_name")) or urlsplit(uris[0]).netloc,
        "redirect_uris": uris,
    }


def clean_name(name: Any) -> str:
    """Return a name as one line without what is not seen, such as marks that turn the writing round, and with
    at most two marks above a letter, since more cover what stands beside it.
    """
    text = name if isinstance(name, str) else ""
    seen = "".join(letter if letter.isprintable() and letter not in BLANK else " " for letter in text)
    flat = (seen[i] for i in range(len(seen)) if i < 2 or not all(map(combining, seen[i - 2 : i + 1])))
    return " ".join("".join(flat).split())[:MAX_NAME]


def check_redirect_uri(uri: Any) -> str:
    """Check where a program wants its answers: HTTPS, this machine, its own scheme. Raises Invalid."""
    parts = _split(uri) if isinstance(uri, str) else None
    if parts is None or not (_is_web(parts) or _is_own(parts)):
        raise Invalid(
            "A redirect URI is https://…, http:// of the same machine, or of a scheme of the program's own.",
            field="redirect_uris",
        )
    return str(uri)


def _split(uri: str) -> SplitResult | None:
    parts = split_address(uri) if len(uri) <= MAX_ADDRESS else None
    return parts if parts and (not parts.netloc or HOST.fullmatch(parts.netloc)) else None


def _is_web(parts: SplitResult) -> bool:
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def _is_own(parts: SplitResult) -> bool:
    named = parts.netloc or parts.path.startswith("/")  # com.example.app:/back, as RFC 8252 has it
    return bool(parts.scheme and named) and parts.scheme not in {"http", "https", *BROWSER_SCHEMES}


def allows_redirect(client: OAuthClient, uri: str) -> bool:
    """Return whether answers may go there: to what was registered, letter by letter; of the same machine with
    any port, which a program takes as it starts (RFC 8252, 7.3).
    """
    return any(uri == one or _is_same_loopback(uri, one) for one in client.redirect_uris)


def _is_same_loopback(uri: str, registered: str) -> bool:
    parts, other = _split(uri), _split(registered)
    if parts is None or other is None or parts.scheme != "http" or parts.hostname not in LOOPBACK:
        return False
    return parts._replace(netloc=str(parts.hostname)) == other._replace(netloc=str(other.hostname))
