"""The hashes of a fact, and the normal form that makes two texts equal."""

import hashlib
import unicodedata


def normalise_text(text: str) -> str:
    """Return text without meaningless differences: Unicode form, case, white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def norm_hash(text: str) -> str:
    return hashlib.sha256(normalise_text(text).encode()).hexdigest()[:32]


def judged_hash(text: str, essence: str, category: str) -> str:
    # Each part follows its length: no two triples have the same input of the hash.
    joined = f"{len(text)}:{text}{len(essence)}:{essence}{len(category)}:{category}"
    return hashlib.sha256(joined.encode()).hexdigest()[:32]
