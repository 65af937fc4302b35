"""Proofs of erasure: digests that say how much was erased, and cannot be turned back into what it was.

The key of each memory's digest is destroyed with the content: a plain hash of a short text could be guessed.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Any

from memory.db.fields import dumps

SALT_BYTES = 32


def new_salt() -> str:
    return secrets.token_hex(SALT_BYTES)


def keyed_digest(salt: str, value: Any) -> str:
    """Return the HMAC-SHA256 of a value under a salt, in hex digits."""
    return hmac.new(bytes.fromhex(salt), dumps(value).encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def prove_digests(digests: Iterable[str]) -> str:
    """Return one hash over the digests of many memories, whatever their order."""
    whole = hashlib.sha256()
    for digest in sorted(digests):
        whole.update(digest.encode())
    return whole.hexdigest()
