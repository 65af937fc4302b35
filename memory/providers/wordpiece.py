"""WordPiece tokenizer, as BERT (uncased) splits a text into the pieces of its vocabulary."""

import hashlib
import unicodedata
from functools import lru_cache
from pathlib import Path

VOCABULARY = Path(__file__).parent / "data" / "bert-uncased-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MAX_WORD_LENGTH = 100  # characters; longer words become one [UNK]
MAX_CACHED_WORDS = 20_000  # words whose pieces are cached: most words of a text repeat
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
MIN_KNOWN_SHARE = 0.5  # of a text's letters and digits, below which a vector says nothing of it

# Ideographs are single words, as in Chinese. Kana and Hangul are not: they have spaces or endings.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Normal(dict[int, str]):
    """A mapping for ``str.translate``: the normal form of each character, computed at its first use."""

    def __missing__(self, code: int) -> str:
        self[code] = normal = normalise_char(chr(code))
        return normal


def normalise_char(char: str) -> str:
    """Return a character in lower case without accents; spaced if it is a word; "" if dropped."""
    category = unicodedata.category(char)
    if char in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    if char == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    parts = unicodedata.normalize("NFD", char)
    # Lowered one by one: str.lower() of a whole word has a rule for the last sigma that BERT lacks.
    lowered = "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")
    spaced = "".join(f" {part} " if _is_punctuation(part) else part for part in lowered)
    return f" {spaced} " if any(low <= ord(char) <= high for low, high in _IDEOGRAPHS) else spaced


def _is_punctuation(char: str) -> bool:
    # BERT counts every ASCII sign as punctuation, also $ + < = > ^ ` | ~ which Unicode does not.
    ascii_sign = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_sign or unicodedata.category(char)[0] == "P"


class WordPiece:
    """A tokenizer that returns the ids of a text's pieces, without [CLS] and [SEP].

    "[SEP]" and the like inside a text are plain characters: a stored text controls nothing.
    """

    def __init__(self, tokens: list[str], is_english: bool = False) -> None:
        """Create it from the vocabulary in the order of its ids; in an English one single letters of another
        script mean nothing.

        Raises ValueError without a special token.
        """
        self._ids = {token: number for number, token in enumerate(tokens)}
        signs = ((token.removeprefix("##"), number) for token, number in self._ids.items())
        foreign = {number for sign, number in signs if len(sign) == 1 and not sign.isascii()}
        self._foreign = foreign if is_english else set()
        missing = [token for token in SPECIAL if token not in self._ids]
        if missing:
            raise ValueError(f"the vocabulary has no {', '.join(missing)}")
        self.pad, self.unknown, self.start, self.end = (self._ids[token] for token in SPECIAL)
        self._normal = _Normal()
        self._cut_cached = lru_cache(maxsize=MAX_CACHED_WORDS)(self._cut_word)

    @classmethod
    def load(cls, path: Path = VOCABULARY) -> "WordPiece":
        """Read a vocabulary, one token a line. Raises ValueError if the bundled one was changed."""
        content = path.read_bytes()
        if path == VOCABULARY and hashlib.sha256(content).hexdigest() != VOCABULARY_SHA256:
            raise ValueError(f"{path.name} is not the file that was shipped: its sha256 differs")
        return cls(content.decode().rstrip("\n").split("\n"), is_english=path == VOCABULARY)

    def can_read(self, text: str) -> bool:
        """Return whether at least half of a text's letters and digits stand in pieces that the model learned.

        An English model has the letters of other scripts, but no words of them: texts that share nothing else
        are near to it.
        """
        if text.isascii():
            return any(map(str.isalnum, text))
        known = letters = 0
        for word, pieces in self.words(text):
            length = sum(map(str.isalnum, word)) or not word.isascii()  # a picture counts as a letter
            letters += length
            if pieces[0] != self.unknown:
                known += length - sum(piece in self._foreign for piece in pieces)
        return known > 0 and known >= MIN_KNOWN_SHARE * letters

    def share_known(self, text: str) -> float:
        """Return the share of a text's letters that stand in words which the vocabulary has whole."""
        words = [(len(word), pieces) for word, pieces in self.words(text) if word.isalpha() and len(word) > 1]
        letters = sum(length for length, _ in words)
        whole = sum(length for length, pieces in words if len(pieces) == 1 and pieces[0] != self.unknown)
        return whole / letters if letters else 1.0

    def ids(self, text: str) -> list[int]:
        """Return the piece ids of ``text``; [] for an empty one. Never fails, whatever its characters."""
        return [number for _, pieces in self.words(text) for number in pieces]

    def words(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """Return the normalised words of ``text``, punctuation included, each with its pieces."""
        words = text.translate(self._normal).split(" ")
        return [(word, self._cut_cached(word)) for word in words if word]

    def _cut_word(self, word: str) -> tuple[int, ...]:
        """Split a word, longest piece first; one [UNK] when any part is not in the vocabulary."""
        if len(word) > MAX_WORD_LENGTH:
            return (self.unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            end, number = self._longest_piece(word, start)
            if number is None:
                return (self.unknown,)
            pieces.append(number)
            start = end
        return tuple(pieces)

    def _longest_piece(self, word: str, start: int) -> tuple[int, int | None]:
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = self._ids.get(prefix + word[start:end])
            if number is not None:
                return end, number
        return start, None
