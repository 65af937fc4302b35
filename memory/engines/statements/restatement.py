"""Whether two statements say the same of one subject in other words. Pure functions, English and Chinese.

Precision counts more than recall, as in ``revision_rules``: what one statement says beyond the other would be
lost. So the common ways to say that a subject has a value are written out below ("Use Kafka for the queue",
"The queue runs on Kafka"), and all words beside them have to be the same in both, in the same order. What
runs on Linux need not be built on it: such ways restate a choice ("Use Linux for it"), not each other.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.engines.statements.revision_rules import CACHE_SIZE, FILLERS, is_short, normalise, stem
from memory.engines.support.similarity import CHOOSING
from memory.patterns import lazy_pattern
from memory.words import STOP_WORDS, TOKEN

# How far, when and on which condition a claim holds, and that it is only wished or thought of.
QUALIFIERS = frozenset(
    """some most least few only mostly mainly partly partially largely usually often sometimes occasionally
    temporarily provisionally almost nearly possibly probably perhaps maybe might could would should can if
    unless until till before after except excluding when whenever while during from against formerly
    previously later eventually someday tomorrow yesterday default fallback or but wish hope want plan plans
    planned consider considered try tried avoid stop stopped propose proposed suggest suggested""".split()
)
OPENING = lazy_pattern(r"\b(?:from (?:now on|today(?: on)?)|as of (?:now|today))\b", re.I)
PHRASES = lazy_pattern(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )(?<!\bwere )\bused to\b|\bevery(?= \d)", re.I
)
CHINESE_QUALIFIERS = lazy_pattern(
    "曾|差一?点|几乎|可能|也许|或|大概|打算|计划|考虑|建议|尝试|如果|假如|除|只|仅|暂|临时|默认|备用|一些|部分"
    "|有些|多数|大多|主要|偶尔|有时|以前|之前|之后|直到|和|以及"
)
NEUTRAL = (STOP_WORDS | FILLERS | CHOOSING) - QUALIFIERS  # common to all claims
MAX_SHORT_WORDS = 8  # of a statement in which each word counts
PASSIVE = frozenset({"is", "are", "be", "been", "was", "were"})


class Reading(NamedTuple):
    """What a statement says of what: a subject has a value, or all of a text in its own words."""

    relation: str
    subject: tuple[str, ...]
    value: tuple[str, ...]
    kept: frozenset[str] = frozenset()  # what is said beside it


class Refused(NamedTuple):
    """What further clauses turn down, which of it the other statement has to name, and what may narrow it."""

    words: frozenset[str]
    kept: frozenset[str]
    narrowing: frozenset[str]


MIN_WORDS = 3  # of a text that is compared in its own words
_CHOICE = (
    r"(?:(?:we(?:'ll)?|let's) (?:use|go with)|we(?:'re| are) (?:using|going with)"
    r"|(?:we(?:'ve)? )?(?:(?:decided|agreed) (?:to use|to go with|on)"
    r"|chose|chosen|picked|settled on|went with)|use|go with)"
)
_USES = r"(?:uses?|(?:is|are) using)"
_YONG = "(?<![作应信费启使采利适通公])(?:使用|采用|用)(?![户途法例品])"  # not as a part of another word
# S stands for the subject, V for its value; each way to say it with the relation that it states.
WAYS = (
    ("for", rf"{_CHOICE} V for S"),
    ("for", rf"for S(?<! we),? {_CHOICE} V"),
    ("for", r"for S,? it(?:'s| is) V"),
    ("for", r"(?:the )?decision (?:for|on) S: V"),
    ("for", rf"(?!{_CHOICE} |for |decision )V for S"),
    ("uses", rf"(?!{_CHOICE} |for |in )S {_USES} V"),
    ("runs on", rf"(?!{_CHOICE} |for |in )S runs? on V"),
    ("built on", rf"(?!{_CHOICE} |for |in )S (?:is|are) built on V"),
    ("runs on", r"(?:we'll|we will|let's) run S on V"),
    ("built on", r"(?:we'll|we will|let's) build S on V"),
    ("uses", rf"(?:我们|咱们)?(?!我们|咱们)S ?{_YONG} ?V"),
    ("for", rf"(?:我们|咱们)?{_YONG} ?V ?做 ?S"),
    ("in", rf"{_CHOICE} V in S"),
    ("in", rf"in S(?<! we),? {_CHOICE} V"),
    ("is in", rf"(?!{_CHOICE} |in )S(?<! is)(?<! are) (?:(?:is|are) )?in V"),
)


def compile_way(pattern: str, repeat: str) -> re.Pattern[str]:
    for mark, name in (("S", "subject"), ("V", "value")):
        pattern = re.sub(rf"\b{mark}\b", f"(?P<{name}>.{repeat})", pattern)
    return lazy_pattern(pattern, re.I)


# A subject that ends at the first word that may divide it from its value, and at the last one.
FRAMES = tuple(
    (relation, compile_way(pattern, repeat)) for relation, pattern in WAYS for repeat in ("+?", "+")
)
BEFORE = lazy_pattern(
    r"^(?:(?:so|okay|ok),? |please,? |(?:we(?:'ve)? )?(?:decided|agreed)(?:: | that )|decision: ?"
    r"|(?:我们)?(?:决定|定了)[:,]? ?)+",
    re.I,
)
AFTER = lazy_pattern(r"(?:,? (?:please|from today))+$", re.I)
LEADING = lazy_pattern(rf"^((?:for|in) [^,;]+(?=, (?:{_CHOICE}|it(?:'s| is)) )|ok|okay|so|please),\s", re.I)
# What these use, they use by themselves: "Use a VPN for the customer" is another claim.
ACTORS = frozenset(
    map(
        stem,
        """user customer vendor supplier partner company companies competitor agency agencies team staff
        people person everyone everybody someone somebody anyone anybody nobody developer engineer designer
        analyst manager admin administrator operator reviewer auditor tester intern contractor colleague
        member guest student beginner newcomer owner maintainer lead""".split(),
    )
)
HEAD_END = lazy_pattern(r"\s(?:of|in|at|from|with|by|on|who)\s")
STATED = ("uses", "runs on", "built on")  # how it is said that a choice was made
ARTICLES = frozenset({"the", "our"})
DETERMINERS = ARTICLES | {"a", "an", "your", "my"}
CASED = frozenset({"may", "us", "might"})
# What these words refer to, or how far they reach, depends on the sentence around them.
BOUND_WORDS = frozenset(
    """it this that these those them they he she his her its their i me my mine you your here there one ones
    same only just also even too solely mainly mostly first last again what which who whom whose how why
    where when while if unless until but should would could does do did""".split()
)
CHINESE_BOUND = lazy_pattern("[它他她这那此其]")
CLAUSE = lazy_pattern(r"\s*[,;](?=\s|[^\x00-\x7f]|$)\s*|\s+[—–-]+\s+")
# A further clause may name what is not chosen, and nothing else.
_REFUSED = r"((?:plain )?[A-Za-z][\w.+#-]*)"
NOT_CHOSEN = lazy_pattern(
    rf"(?:and |so )?(?:not {_REFUSED}|leave {_REFUSED} (?:alone|aside)|{_REFUSED} is out"
    rf"|(?:nobody|no one) (?:touches|uses) {_REFUSED}(?: for it)?"
    rf"|(?:(?:we )?don't|never) (?:touch|use) {_REFUSED}(?: for it)?)"
    rf"|(?:不要|不再|不)用 ?{_REFUSED}|please|decided|agreed"
)
# Behind the subject this may say where the statement does not hold: "English for the docs, not README.md".
NARROWING = lazy_pattern(rf"(?:and |so )?(?:not|(?:(?:we )?don't|never) (?:touch|use)) {_REFUSED}")
PLACES = frozenset(
    """staging production prod development dev qa ci monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays""".split()
)
NAME = lazy_pattern(r"[A-Z\d._-]")  # it has a capital letter, a digit or a sign; a common word may say when
QUOTED = lazy_pattern(r"[?？\"“”「」…\n]|\.\.\.")


def restates(one: str, other: str) -> bool:
    """Return whether two statements say the same of one subject, so that either may stand for both."""
    if not (is_short(one) and is_short(other)):
        return False
    return not read_plain(one).isdisjoint(read_plain(other))


@lru_cache(CACHE_SIZE)
def read_plain(text: str) -> frozenset[Reading]:
    """Return what a text of one plain sentence says, in its own words and as a value of a subject."""
    if QUOTED.search(text):
        return frozenset()
    main, *asides = CLAUSE.split(LEADING.sub(r"\1 ", normalise(text)))
    refused = read_refused(asides)
    if refused is None:
        return frozenset()
    plain = AFTER.sub("", BEFORE.sub("", main))
    own = Reading("", (), read_words(plain), refused.kept | refused.narrowing)
    return frozenset([own] if len(own.value) >= MIN_WORDS else []) | read_frames(plain, refused)


def read_refused(asides: Sequence[str]) -> Refused | None:
    """Return what further clauses turn down; None where one of them says something else."""
    found = [NOT_CHOSEN.fullmatch(clause) for clause in asides]
    if not all(found):
        return None
    words = frozenset(word for match in found if match for word in match.groups() if word)
    narrowing = (NARROWING.fullmatch(clause) for clause in asides)
    common = frozenset(word for word in words if word.lower() in PLACES or not NAME.search(word))
    return Refused(words, common, frozenset(match.group(1) for match in narrowing if match))


def read_frames(plain: str, refused: Refused) -> frozenset[Reading]:
    """Return what a text says as a value of a subject; nothing where it may be read in several ways."""
    matches = [(relation, match) for relation, way in FRAMES if (match := way.fullmatch(plain))]
    found = {read_match(relation, match): match for relation, match in matches}
    if len(found) != 1 or not all(map(is_free, found)):
        return frozenset()
    [(one, match)] = found.items()
    kept = {refused.kept | refused.narrowing}
    if match.end("value") == len(plain):
        kept.add(refused.kept)
    relations = list_relations(one.relation, match, bool(refused.words))
    return frozenset(one._replace(relation=relation, kept=words) for relation in relations for words in kept)


def list_relations(relation: str, match: re.Match[str], is_choice: bool) -> Sequence[str]:
    """Return the relations in which the same may be said; a value among others was chosen."""
    if relation == "for":
        return ("for", *STATED) if is_component(match) and not is_proper(match["subject"]) else ("for",)
    return STATED if relation in STATED and is_choice and is_component(match) else (relation,)


def is_component(match: re.Match[str]) -> bool:
    """Return whether a subject is made with its value; a mock stands in for it, and a person acts."""
    value = match["value"].split()
    is_kind = value[0].lower() not in DETERMINERS and not (value[-1].endswith("s") and value[-1].islower())
    return (is_kind or bool(NAME.search(match["value"]))) and stem(find_head(match["subject"])) not in ACTORS


def is_proper(subject: str) -> bool:
    """Return whether a subject that does not begin its sentence is called by a name."""
    head = find_head(subject)
    return head[:1].isupper() and not head.isupper()


def find_head(subject: str) -> str:
    """Return the noun of a subject."""
    return HEAD_END.split(subject)[0].split()[-1]


def read_match(relation: str, match: re.Match[str]) -> Reading:
    return Reading(relation, read_words(match["subject"]), read_words(match["value"]))


def is_free(one: Reading) -> bool:
    """Return whether both sides say something, and nothing that depends on where it stands."""
    words = [*one.subject, *one.value]
    is_bound = not BOUND_WORDS.isdisjoint(words) or CHINESE_BOUND.search("".join(words))
    return bool(one.subject and one.value and not is_bound)


def read_words(text: str) -> tuple[str, ...]:
    """Return the words of a text without articles; those that mean something else in capitals keep them."""
    first, *rest = text.split() or [""]
    words = [first if first.isupper() else first.lower(), *rest]
    return tuple(lower_name(word) for word in words if word and word.lower() not in ARTICLES)


def lower_name(word: str) -> str:
    """Return a word in lower case: May, IT and US are other words then, and so are flags and codes."""
    lower = word.lower()
    return lower if word.isalpha() and lower not in STOP_WORDS | CASED else word


# ---- qualifiers --------------------------------------------------------------------------------------

# A vector hardly tells "before" from "after", "only" or "mostly" from nothing, nor who does something to
# whom.


def qualifies_otherwise(a: str, b: str) -> bool:
    """Return whether one text limits its claim where the other does not, says more, or turns it round."""
    a, b = (OPENING.sub(" ", unicodedata.normalize("NFKC", text)) for text in (a, b))
    one, other = count_qualifiers(a), count_qualifiers(b)
    return one != other or turns_round(a, b) or says_more(a, b) or says_more(b, a)


def count_qualifiers(text: str) -> Counter[str]:
    """Count the words that limit a claim, in English and Chinese; "may" is not the month."""
    words = (word for word in TOKEN.findall(text) if word == "may" or word.casefold() in QUALIFIERS)
    found = [*map(str.casefold, words), *map(str.casefold, PHRASES.findall(text))]
    return Counter(found if text.isascii() else [*found, *CHINESE_QUALIFIERS.findall(text)])


def says_more(a: str, b: str) -> bool:
    """Return whether a short text has the words of another and one more: "the public API", "the API"."""
    one, other = (Counter(list_words(text)) for text in (a, b))
    return len(one) <= MAX_SHORT_WORDS and not other - one and bool(one - other)


def list_words(text: str) -> list[str]:
    """Return the words that tell two claims apart, without endings; ideographs are not told apart."""
    words = (word for word in TOKEN.findall(text.casefold()) if word.isascii())
    return [stem(word) for word in words if word not in NEUTRAL]


def turns_round(a: str, b: str) -> bool:
    """Return whether two texts have the same words in another order: "the parser calls the lexer".

    One may begin with the end of the other ("In staging the parser sleeps"), or be passive.
    """
    one, other = (TOKEN.findall(text.casefold()) for text in (a, b))
    if PASSIVE.isdisjoint(one) != PASSIVE.isdisjoint(other):
        return False
    one, other = ([word for word in words if word not in NEUTRAL] for words in (one, other))
    return sorted(one) == sorted(other) and not is_rotated(one, other)


def is_rotated(one: list[str], other: list[str]) -> bool:
    """Return whether the end of three words and more stands before their beginning, or nothing is moved."""
    starts = range(1, len(one) if len(one) > 2 else 0)
    return one == other or any(one[at:] + one[:at] == other for at in starts)
