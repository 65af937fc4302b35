"""The hashes of a fact, and the normal form under which two texts are the same."""

import hashlib
import unicodedata


def normalise(text: str) -> str:
    """Text without the differences that carry no meaning: Unicode form, case, white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def norm_hash(text: str) -> str:
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:32]


def judged_hash(text: str, essence: str, category: str) -> str:
    # Each part with its length before it: no two triples share one preimage.
    joined = "".join(f"{len(part)}:{part}" for part in (text, essence, category))
    return hashlib.sha256(joined.encode()).hexdigest()[:32]
