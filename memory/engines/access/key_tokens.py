"""Tokens of API keys: their form, and the key that a token opens. Only a hash of the secret is stored."""

import re
import secrets
import string
from hmac import compare_digest
from zlib import crc32

from memory.db.companions import Absence, Companion, fetch_with
from memory.engines.access.known_callers import hash_secret
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Branch, BranchPolicy, Project, ProjectUsage, VectorClock

OWN_BRANCH = f"CASE {{t}}.default_branch WHEN '' THEN '{MAIN}' ELSE {{t}}.default_branch END"
OF_KEY = (
    Companion(Project, {"id": "{t}.project_id"}, lambda key: {"id": key.project_id}),
    Companion(ProjectUsage, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Companion(VectorClock, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Absence(BranchPolicy, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Companion(
        Branch,
        {"project": "{t}.project_id", "name": OWN_BRANCH},
        lambda key: {"project": key.project_id, "name": key.default_branch or MAIN},
    ),
)


def read_key(prefix: str) -> ApiKey | None:
    """Return the key of a prefix; what its request asks for next is noted."""
    return fetch_with(ApiKey, OF_KEY, prefix=prefix)


# day1_<prefix>_<secret><checksum>: a fixed format that scanners for leaked secrets can recognise.
TOKEN = re.compile(r"day1_([a-z0-9]{8})_([A-Za-z0-9]{43})([A-Za-z0-9]{6})")
# one case only: the database may compare case-insensitively
PREFIX_LETTERS = string.ascii_lowercase + string.digits
LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase


def build_token(prefix: str, secret: int) -> str:
    """Return the token with a secret of 256 bits."""
    start = f"day1_{prefix}_{encode_base62(secret, 43)}"
    return start + compute_checksum(start)


def compute_checksum(text: str) -> str:
    """Return a checksum that detects mistyped tokens without the database; it protects nothing."""
    return encode_base62(crc32(text.encode()), 6)


def encode_base62(number: int, width: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number, 62)
        letters = LETTERS[rest] + letters
    return letters.rjust(width, "0")


def find_key(token: str) -> ApiKey:
    """Return the key with this secret, in any state. Raises the same Unauthenticated for every failure."""
    form = TOKEN.fullmatch(token)
    if form is None or compute_checksum(token[:-6]) != form[3]:
        raise Unauthenticated()
    key = read_key(form[1])
    if key is None or not compare_digest(key.secret_hash, hash_secret(token)):
        raise Unauthenticated()
    return key


def save_new(key: ApiKey) -> str:
    token = set_token(key, secrets.randbits(256))
    key.save(force_insert=True)
    return token


def set_token(key: ApiKey, secret: int) -> str:
    """Give a key another secret and name, which open it once it is saved; return its token."""
    key.prefix = "".join(secrets.choice(PREFIX_LETTERS) for _ in range(8))
    token = build_token(key.prefix, secret)
    key.secret_hash = hash_secret(token)
    return token
