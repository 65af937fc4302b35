"""The two thresholds of likeness, per embedder, and what likeness in meaning cannot see.

NEAR asks a person. SAME, together with ``same_claim``, may act alone.
"""

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    near: float = 0.85
    same: float = 0.92


DEFAULT = Thresholds()
# By the beginning of the model's name. Models spread their cosines differently: measure, then add a line.
OF_MODEL: dict[str, Thresholds] = {"minilm-l6": DEFAULT}


def thresholds_of(model: str) -> Thresholds:
    """The thresholds of the embedding model; the default ones for a model that has none of its own."""
    fitting = [name for name in OF_MODEL if model.startswith(name)]
    return OF_MODEL[max(fitting, key=len)] if fitting else DEFAULT


def is_near(model: str, cosine: float) -> bool:
    """Close enough to ask a person whether two texts say the same."""
    return cosine >= thresholds_of(model).near


def is_same(model: str, cosine: float, a: str, b: str) -> bool:
    """Close enough to act without a person."""
    return cosine >= thresholds_of(model).same and same_claim(a, b)


# ---- what a vector does not tell apart -------------------------------------------------------------

# "30 s" and "30 m" have the same number, "30s" and "30m" do not: a unit that is written on counts.
_NUMBER = re.compile(r"(?<![\w.,])[-−]?[$€£]?\d+(?:[.,:]\d+)*(?:%|[^\W\d_]+)?|\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W_]+(?:['’_.-][^\W_]+)*")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n•*-]\s+|\n)[\s\"'“‘(*•-]*")


def _words(text: str) -> list[str]:
    return text.split()


_COUNTED = _words(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
)
_OTHERS = _words(
    """twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half twice
    once first second third"""
)
_COUNTING = {word: str(value) for value, word in enumerate(_COUNTED)} | {word: word for word in _OTHERS}
_NEGATIONS = frozenset(
    _words(
        """no not never none nothing nobody nowhere neither nor without cannot hardly barely rarely seldom
        dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt"""
    )
)
# Words that begin a sentence without naming anything.
_OPENERS = frozenset(
    _words(
        """a an the this that these those there here it its he she they we you his her their our your my in on
        at by for from to with of as if when while after before since until because although but and or so
        what which who whose how why where do does did is are was were be has have had can could should would
        will may might must not no never all any each every some most many more use using always only
        also"""
    )
)


def same_claim(a: str, b: str) -> bool:
    """Whether two texts of like meaning also agree in numbers, negation and names, in their order.

    Strict on purpose: a doubt costs a question, a wrong yes costs a fact.
    """
    a, b = (unicodedata.normalize("NFKC", text) for text in (a, b))
    return numbers(a) == numbers(b) and negations(a) == negations(b) and _same_names(a, b)


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, as digits or words."""
    found = [(match.start(), _plain(match.group())) for match in _NUMBER.finditer(text)]
    for match in _WORD.finditer(text):
        if value := _COUNTING.get(match.group().casefold()):
            found.append((match.start(), value))
    return [value for _, value in sorted(found)]


def negations(text: str) -> int:
    """How many words of a text negate."""
    words = (match.group().casefold().replace("’", "'") for match in _WORD.finditer(text))
    return sum(word in _NEGATIONS or word.endswith("n't") for word in words)


def _plain(number: str) -> str:
    number = _THOUSANDS.sub("", number.casefold().replace("−", "-"))
    whole, point, rest = number.partition(".")
    return number if not point or not rest.isdigit() else f"{whole}.{rest.rstrip('0')}".rstrip(".")


def _same_names(a: str, b: str) -> bool:
    written_small = _small(a) | _small(b)
    names = _names(a, written_small) | _names(b, written_small)
    return _in_order(a, names) == _in_order(b, names)


def _names(text: str, written_small: set[str]) -> set[str]:
    """Words with a capital; at the start of a sentence only those that are not written small elsewhere."""
    starts = {match.end() for match in _SENTENCE.finditer(text)}
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isupper() or word[1:] != word[1:].lower():
            plain = _stem(word)
            opener = plain in _OPENERS or plain in _NEGATIONS or plain in _COUNTING or plain in written_small
            if plain != "i" and not (match.start() in starts and word[1:] == word[1:].lower() and opener):
                found.add(plain)
    return found


def _small(text: str) -> set[str]:
    return {_stem(m.group()) for m in _WORD.finditer(text) if m.group() == m.group().lower()}


def _in_order(text: str, names: set[str]) -> list[str]:
    return [word for match in _WORD.finditer(text) if (word := _stem(match.group())) in names]


def _stem(word: str) -> str:
    """Without case and without a possessive ending."""
    return re.sub(r"'s$", "", word.casefold().replace("’", "'"))
