"""The document of a bundle: its form, its canonical bytes, its checksum, and the checks of a foreign one."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curation.engines.fields.bundles import DESCRIPTION_LENGTH, NAME_LENGTH, NAME_PATTERN, check_slug
from memory.engines.support import validation as c
from memory.exceptions import Invalid, TooLarge
from memory.texts import MAX_DEPTH, is_deep

FORMAT, SCHEMA_VERSION = "day1-bundle", 1
# A request has at most 8 MiB, and a document is sent within one.
MAX_BYTES = 8 * 1024 * 1024 - 16 * 1024
BRANCH_LENGTH, TIME_LENGTH = 200, 100
PARTS = ("facts", "conversations", "links", "relations")
SEALS = ("sha256", "signature")  # are of all the rest
ALGORITHM = "ed25519"
FIELD = "bundle"
MAX_NAMED = 20  # fields that an answer names


@dataclass(frozen=True)
class Signature:
    """What a document says of who signed it; both texts are base64."""

    public_key: str
    value: str


@dataclass(frozen=True)
class Document:
    """A checked document: its head, its content by kind, its checksum and signature."""

    name: str
    version: int
    description: str
    source_branch: str
    only_verified: bool
    content: Mapping[str, list[Any]]
    sha256: str
    signature: Signature | None
    data: Mapping[str, Any]  # all of it, as it was received
    signer: str = ""  # the public key by which it was signed, also where the signature is gone
    dropped: tuple[str, ...] = ()  # names of fields that nobody knows

    @property
    def named_dropped(self) -> list[str]:
        """Return the first of the names of what was dropped."""
        return list(self.dropped[:MAX_NAMED])


# ---- canonical form --------------------------------------------------------------------------------


def list_sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the checksum and the signature are of."""
    return {name: value for name, value in data.items() if name not in SEALS}


def dump_canonical(value: Any) -> bytes:
    """Return the canonical bytes of a JSON value: names sorted, no blanks, UTF-8, 1.0 as 1.

    Raises Invalid for a number that JSON does not have.
    """
    try:
        text = json.dumps(
            make_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
    except (ValueError, RecursionError):
        raise Invalid("The bundle holds a number that JSON does not have.", field=FIELD) from None
    return text.encode("utf-8", "surrogatepass")


def make_plain(value: Any) -> Any:
    """Return a value whose whole numbers have no fraction: other programs write 1.0 as 1."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: make_plain(one) for name, one in value.items()}
    return [make_plain(one) for one in value] if isinstance(value, list | tuple) else value


def compute_sha256(data: Mapping[str, Any]) -> str:
    """Return the checksum of a document without its seals."""
    return hashlib.sha256(dump_canonical(list_sealed(data))).hexdigest()


def dump_document(data: Mapping[str, Any]) -> str:
    """Return the text of a document to store and to export. Raises TooLarge."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    check_size(len(text.encode("utf-8", "surrogatepass")))
    return text


def check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise TooLarge(what="The bundle", limit=f"{MAX_BYTES // 1024} KiB")


# ---- reading a foreign one -------------------------------------------------------------------------


def read_bytes(body: bytes) -> Any:
    """Return the JSON value of a file. Raises TooLarge, Invalid."""
    check_size(len(body))
    try:
        value = json.loads(body.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Invalid("The file is no JSON document.", field=FIELD) from None
    check_nesting(value)
    return value


def refuse_constant(name: str) -> Any:
    raise ValueError(name)


def check_nesting(value: Any) -> None:
    """Check how deep a value is nested. Raises Invalid."""
    if is_deep(value):
        raise Invalid("The bundle is nested more than {most} deep.", most=MAX_DEPTH, field=FIELD)


def check_document(data: Any) -> Document:
    """Return a document whose form and checksum are right. Raises Invalid, TooLarge."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Invalid("This is no bundle: its format is not {format}.", format=FORMAT, field=FIELD)
    if (found := data.get("schema_version")) != SCHEMA_VERSION or isinstance(found, bool):
        raise Invalid(
            "The bundle has the schema version {found}, this server reads {known}.",
            found=repr(found)[:40],
            known=SCHEMA_VERSION,
            field="schema_version",
        )
    check_nesting(data)
    text = dump_canonical(data)
    check_size(len(text))
    check_unicode(text)
    document = read_document(data)
    if compute_sha256(data) != document.sha256:
        raise Invalid(
            "The SHA-256 of the bundle does not fit its content: it was changed or cut.", field="sha256"
        )
    return document


def check_unicode(text: bytes) -> None:
    """Check that a text is without halves of characters, which no database stores. Raises Invalid."""
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Invalid("{field} is not valid Unicode: it holds half a surrogate pair.", field=FIELD) from None


def read_document(data: Mapping[str, Any]) -> Document:
    content = data.get("content")
    if not isinstance(content, dict):
        raise Invalid("{field} must be an object of {parts}.", field="content", parts=", ".join(PARTS))
    signature = read_signature(data.get("signature"))
    c.text_check(TIME_LENGTH)("created_at", data.get("created_at", ""))
    return Document(
        name=check_bundle_name("name", data.get("name")),
        version=c.integer_check(1, 2**31 - 1)("version", data.get("version")),
        description=c.text_check(DESCRIPTION_LENGTH)("description", data.get("description", "")),
        source_branch=c.text_check(BRANCH_LENGTH)("source_branch", data.get("source_branch", "")),
        only_verified=c.check_boolean("only_verified", data.get("only_verified", False)),
        content={name: check_items(name, content.get(name, [])) for name in PARTS},
        sha256=c.text_check(64, min_length=64)("sha256", data.get("sha256")),
        signature=signature,
        data=data,
        signer=signature.public_key if signature else "",
    )


def check_bundle_name(name: str, value: Any) -> str:
    """Check for the name of a bundle. Raises Invalid."""
    return check_slug(name, c.text_check(NAME_LENGTH, min_length=1)(name, value), NAME_PATTERN)


def check_items(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Invalid("{field} must be a list of objects.", field=f"content.{name}")
    return value


def read_signature(value: Any) -> Signature | None:
    """Return a signature of the algorithm that is known; None without one. Raises Invalid."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("algorithm") != ALGORITHM:
        raise Invalid("{field} must be one by {known}.", field="signature", known=ALGORITHM)
    check = c.text_check(100, min_length=1)
    return Signature(
        check("signature.public_key", value.get("public_key")), check("signature.value", value.get("value"))
    )


def list_messages(item: Any) -> list[Any]:
    """Return the messages of a conversation; nobody has checked those of an upload before its import."""
    found = item.get("messages") if isinstance(item, Mapping) else None
    return found if isinstance(found, list) else []
