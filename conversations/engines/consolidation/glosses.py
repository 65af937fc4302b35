"""The common words of a sentence in another language, by English ones. Pure functions, no database."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

FILE = Path(__file__).with_name("glosses.toml")
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*'?")


@lru_cache(maxsize=256)  # a sentence is scored alone and with those around it
def translate_common(sentence: str) -> str:
    """Return a sentence with the English words for those that are common in its language: the one that knows
    most of them. Of a language that no words are known of it stays as it is.
    """
    plain = sentence.replace("’", "'")
    words = [word.lower() for word in WORD.findall(plain)]
    known = max(load_glosses().values(), key=lambda glosses: sum(word in glosses for word in words))
    return WORD.sub(lambda match: gloss(match[0], known), plain)


def gloss(word: str, known: Mapping[str, str]) -> str:
    found = known.get(word.lower())
    return word if found is None else f"{found} " if word.endswith("'") else found


@cache
def load_glosses() -> dict[str, dict[str, str]]:
    """Return the English words by those of each language."""
    return {
        language: {word: english for english, words in rows.items() for word in words.split()}
        for language, rows in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
    }
