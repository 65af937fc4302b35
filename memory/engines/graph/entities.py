"""Recognition of known entities in a text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from memory.db.querysets import VersionedQuerySet
from memory.models import Relation
from memory.models.hashes import normalise_text

MAX_READ_LENGTH = 8000  # characters of a text that are read
WORDS = 400  # words of a text that are read
MAX_NAME_WORDS = 6  # words in a name
LAST_SIGN = "\U0010ffff"  # behind every other one in the order of names
SIGNS = 8  # characters of a name in a script without spaces
WORD = re.compile(r"\w+")
PIECE = re.compile(r"\S+")
OPENING = """([{<"'`«“"""
CLOSING = """)]}>"'`»”.,;:!?"""
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")  # Japanese, Chinese, Korean
COLUMNS = (("source_key", "source_entity"), ("target_key", "target_entity"))


def entities_in(text: str, edges: VersionedQuerySet[Relation]) -> dict[str, str]:
    """Return the known entities that a text names: spelling by key, in the order of the text."""
    requested = list(dict.fromkeys(possible_names(normalise_text(text[:MAX_READ_LENGTH]))))
    found: dict[str, str] = {}
    for column, spelling in COLUMNS:
        found |= dict(edges.select_by_key((column, spelling), column, requested))
    order = {key: index for index, key in enumerate(requested)}
    return dict(sorted(found.items(), key=lambda pair: order[pair[0]]))


def possible_names(text: str) -> Iterator[str]:
    """Yield every part of a normalised text that could be the key of a name."""
    words = [found.span() for found in WORD.finditer(text)][:WORDS]
    tokens = list(islice(tokens_in(text), WORDS))
    for spans in (words, tokens):
        for first, (start, _) in enumerate(spans):
            yield from (text[start:end] for _, end in spans[first : first + MAX_NAME_WORDS])
    for run in UNSPACED.findall(text[:WORDS]):
        for start in range(len(run)):
            yield from (run[start:end] for end in range(start + 2, min(len(run), start + SIGNS) + 1))


def tokens_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each token between blanks, with its signs (c++, .env) but without quotes and
    brackets around it. Each closing sign follows as a token of its own: a name may end with one (Acme Inc.).
    """
    for piece in PIECE.finditer(text):
        first = piece.end() - len(piece[0].lstrip(OPENING))
        if first < piece.end():
            last = max(first + 1, piece.start() + len(piece[0].rstrip(CLOSING)))
            yield first, last
            yield from ((at, at + 1) for at in range(last, piece.end()) if text[at] not in OPENING)


def find_names(edges: VersionedQuerySet[Relation], part: str, limit: int) -> list[str]:
    """Return names in the order of their keys: those that begin with a part, else those that hold it."""
    begun = ({f"{column}__gte": part, f"{column}__lt": f"{part}{LAST_SIGN}"} for column, _ in COLUMNS)
    return list_names(edges, list(begun), limit) or list_names(
        edges, [{f"{column}__contains": part} for column, _ in COLUMNS], limit
    )


def list_names(
    edges: VersionedQuerySet[Relation], conditions: Sequence[Mapping[str, str]], limit: int
) -> list[str]:
    """Return the first names of both ends that meet the conditions, the sources' and the targets'."""
    found: dict[str, str] = {}
    for (column, spelling), condition in zip(COLUMNS, conditions, strict=True):
        # Sorted by the key and not by the rows, of which a hub has thousands.
        names = edges.filter(**condition).order_by(column).values_list(column, spelling).distinct()
        found |= dict(names[:limit])
    return [found[key] for key in sorted(found)][:limit]


def mentions(key: str, texts: Iterable[str]) -> list[bool]:
    """Return whether each text names the entity: as a whole word, where its script has words."""
    before = r"(?<!\w)" if _has_edges(key[:1]) else ""
    after = r"(?!\w)" if _has_edges(key[-1:]) else ""
    pattern = re.compile(before + re.escape(key) + after)
    return [pattern.search(normalise_text(text)) is not None for text in texts]


def is_spaced(key: str) -> bool:
    """Return whether a name's script separates words, so that a word index finds them."""
    return UNSPACED.search(key) is None


def _has_edges(sign: str) -> bool:
    return WORD.match(sign) is not None and is_spaced(sign * 2)
