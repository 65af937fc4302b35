"""What a statement says, apart from how: its subject, its values, whether it denies, what it gives up.

Pure functions and no model; English, German, French, Spanish, Portuguese, Chinese and Japanese. Words are
cut to their roots, so that two languages share names, numbers and units alone.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from memory.engines.statements.change_words import (
    CHANGES,
    CORRECTED_TOPIC,
    CORRECTS,
    FUNCTION_WORDS,
    GIVES_UP,
    NEGATIONS,
    NEGATIONS_DENSE,
    NO_NEGATION,
    SAYING,
    SCOPES,
    SYNONYMS,
    TURNS_DOWN,
    WITHDRAWS,
)
from memory.engines.statements.revision_rules import CACHE_SIZE, SENTENCE_END, is_short, normalise, stem
from memory.engines.statements.values import (
    CLOCK,
    MEASURES,
    NUMBER,
    NUMBER_WORD,
    Value,
    find_values,
    keep_noun,
    write_numbers,
)
from memory.patterns import lazy_pattern
from memory.texts import ANSWERED, count_dense, split_taken_back
from memory.words import list_words

ROOT_LENGTH, MIN_CUT_LENGTH = 6, 4
MIN_TOPIC_SHARE = 0.34  # of the words of the shorter of two statements about one thing
MAX_VALUE_WORDS = 3  # of what is given up
WORD = lazy_pattern(
    r"[\u3400-\u9fff]+|[\u30a0-\u30ff]+|[^\W\u3040-\u9fff]+(?:['._/+#@-]+[^\W\u3040-\u9fff]+)*[+#]*|[,;:]"
)
CLAUSE_END = lazy_pattern(r"[,;]\s|(?<=[\u3040-\u9fff])[,;、]|\s[–—-]+\s")
PART_END = lazy_pattern(r"[,;，；、]\s?|\s[–—-]+\s|\s(?:so|also|donc|así que|então)\s|ので")
PREFERS = lazy_pattern(  # one over another
    r"\b(?:prefer|favou?r|like|choose|lieber|bevorzug\w+|préfère|prefiero|prefiro)\w*\s.{1,60}?"
    r"\s(?:over|to|als|vor|gegenüber|à|a|antes que)\s([^,;.]{1,40})"
)
NO_NEED = lazy_pattern(  # a clause that denies, and is no reason
    r"^\W*(?:no need|not? (?:necessary|needed)|kein bedarf|(?:plus )?(?:pas )?besoin d|no hace falta"
    r"|não precisa|無需|无需|不(?:需要|用|必))"
)
BOUNDS = frozenset({"min", "max"})
MIN_CLAUSE_ROOTS = 2
ACCENT = lazy_pattern(r"[\u0300-\u036f]")
DOUBLED = lazy_pattern(r"([bdgmnprt])\1$")  # pinned, pin
COMPOUND = lazy_pattern(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})")
KIND_OF_NAME = lazy_pattern(r"(?<=[^\W\d_]{3})(?:\.?js|db)$")  # Mongo and MongoDB, Vue and Vue.js
SIGNED = lazy_pattern(r"[^\W\d_]{4,}(?=[._/-]\w)")  # what a file's name begins with
HEAD = lazy_pattern(r"^([^:,;.]{2,40}?)\s?[:：]\s")
DENSE = lazy_pattern(r"[\u3040-\u9fff]")
VALUE_END = lazy_pattern(
    r"\b(?:for|in|on|to|with|by|at|any|anymore|now|of|because|please|and|as|für|im|in|bei|mehr|pour|dans|para"
    r"|en|em|no|na|nos|mais|already|por|par|durch|gegen|last|next|since|this)\b|[,;:.]"
)
DENSE_NAMES = sorted((word for word in SYNONYMS if "\u3400" <= word <= "\u9fff"), key=len, reverse=True)
CONNECTING = lazy_pattern(
    "("
    + "|".join(DENSE_NAMES)
    + ")|(?:不超过|以上|以下|以内)|["
    + "".join(word for word in FUNCTION_WORDS if "\u3400" <= word <= "\u9fff")
    + "]+"
)
NAME = lazy_pattern(r"(?<=[^.!?:\s]\s)[A-Z]\w[\w.+#-]*|\w+(?:[A-Z_./+#]\w*)+|[A-Za-z]+(?=[^\W\d_a-zA-Z])")
SAYER = lazy_pattern(  # who says so, by name or trade, is no part of what is said
    r"^\W*(?:(?:the|our|die|der|das|unsere?|la|le|el) )?"
    r"(?!(?:i|we|you|he|she|it|they|some\w+|people|every\w+|ich|wir|er|man|jemand|je|on|nous|ils?|elles?|yo|alguien"
    r"|eu|ele|ela|alguém|docs?|this|that)\b)[\w-]+"
    r" (?:says?|said|wants?|sagt|will|meint|dit|veut|dice|quiere|diz|quer)\b"
    r"|,? (?:says?|said|sagt|meint|dit|dice|diz) (?:our|the|unsere?|die|der|la|le|el|a|o) [\w-]+"
    r"(?: (?!so\b)[\w-]+)?(?=$|[,;.])"
)
REASON = lazy_pattern(  # why, or an example
    r",?\s+(?:such as|e\.?g\.|z\. ?b\.|par exemple|por ejemplo|por exemplo)\s.*|,\s+(?:like|wie|comme"
    r"|como)\s.*"
    r"|(?:例如|比如|例えば).*|\s+(?:because|since(?! \w*day\b)|so that|as the|weil|denn|parce que"
    r"|puisque|porque|ya que|因为|由于)\b.*"
)


@dataclass(frozen=True)
class Claim:
    """A sentence as its roots in order, its values and what it does to others."""

    text: str
    roots: tuple[str, ...]
    scope: frozenset[str]  # roots that say where or when it holds
    values: tuple[Value, ...]
    turned_down: tuple[frozenset[str], ...]  # "not X"
    corrected: frozenset[str]  # roots of what somebody says to correct
    topic: frozenset[str]  # of which a person says to forget what was said
    head: frozenset[str]  # roots of what stands before a colon
    names: frozenset[str]  # roots that are written with a capital letter or a sign
    is_negated: bool
    is_change: bool
    is_correction: bool

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.roots)

    @cached_property
    def given_up(self) -> tuple[frozenset[str], ...]:
        """Return the roots of each value that is given up by a word that says so: rarely asked, and slow."""
        return tuple(find_phrases(GIVES_UP, self.text))

    @property
    def is_withdrawal(self) -> bool:
        """Return whether it says that something holds no more, and nothing else."""
        return bool(self.topic)


@lru_cache(CACHE_SIZE)
def split_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a text, one a sentence."""
    if not is_short(text):
        return ()
    own = ANSWERED.sub("", split_taken_back(text)[0])
    found = tuple(read_claim(part) for part in SENTENCE_END.split(own) if part.strip())
    if found and found[0].is_change and len(found[0].roots) < MIN_CLAUSE_ROOTS + 1:  # "too much noise!"
        return (found[0], *(replace(one, is_change=True) for one in found[1:]))
    return found


def split_clauses(claim: Claim) -> list[Claim]:
    """Return the parts of a sentence between commas, where it has several; of one word those that deny."""
    parts = [read_claim(part) for part in CLAUSE_END.split(claim.text)]
    telling = [
        part for part in parts if part.values or part.is_negated or len(part.roots) >= MIN_CLAUSE_ROOTS
    ]
    return telling if len(parts) > 1 else []


@lru_cache(CACHE_SIZE)
def read_preference(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words of what a sentence chooses, and of what it turns down for that; None for any other."""
    claims = split_claims(text)
    if len(claims) != 1 or claims[0].values or claims[0].scope or claims[0].topic:
        return None
    [claim] = claims
    behind = [frozenset(list_roots(phrase)) for phrase in PREFERS.findall(claim.text)]
    rejected = frozenset[str]().union(*claim.given_up, *claim.turned_down, *behind) & claim.words
    chosen = claim.words - rejected
    return (chosen, rejected) if chosen and rejected else None


def prefers_same(newer: str, older: str) -> bool:
    """Return whether two sentences choose the same over the same: "tabs over spaces", "tabs, not spaces". The
    newer one may say in a word more of what.
    """
    new = read_preference(newer)
    old = new and read_preference(older)  # hardly any chooses: most are not read
    if not new or not old or new[1] != old[1]:
        return False
    return old[0] <= new[0] and len(new[0] - old[0]) <= 1


def prefers_other(newer: str, older: str) -> bool:
    """Return whether a sentence chooses what an older one turned down, over what that chose."""
    new = read_preference(newer)
    old = new and read_preference(older)
    return bool(new and old and new[1] <= old[0] and old[1] <= new[0] and len(new[0] - old[1]) <= 1)


def says_same(one: str, other: str) -> bool:
    """Return whether two sentences lay down the same in other common words: "use tabs", "I prefer tabs"."""
    claims = [split_claims(text) for text in (one, other)]
    if any(len(found) != 1 or "?" in found[0].text for found in claims):
        return False
    [a], [b] = claims
    if not a.roots or (a.roots, a.is_negated, a.values) != (b.roots, b.is_negated, b.values):
        return False  # most pairs end here
    words = [{word for word in WORD.findall(claim.text) if word.isalnum()} for claim in (a, b)]
    return words[0] ^ words[1] <= SAYING and not (a.topic or b.topic)


def may_deny(at: int, part: Claim) -> bool:
    """Return whether a part of a sentence denies something, and gives no reason for another part."""
    return part.is_negated and (at == 0 or bool(NO_NEED.match(part.text)))


def parts_value(new: Claim, old: Claim) -> bool:
    """Return whether a sentence tells something of an older one's value, and in another part, which has more
    to say, of its subject: "Jenkins is slow, the CI runs on Drone".
    """
    if PART_END.search(old.text):
        return False
    parts = [read_claim(part).words for part in PART_END.split(new.text)]
    for value in {old.roots[0], old.roots[-1]} | (old.names & old.words):
        subject = old.words - {value}
        naming = [part for part in parts if value in part]
        telling = [part for part in parts if value not in part and subject & part]
        is_apart = naming and all(subject.isdisjoint(part) for part in naming)
        if is_apart and any(part - old.words for part in telling):
            return True
    return False


@lru_cache(CACHE_SIZE)
def read_claim(sentence: str) -> Claim:
    bare = REASON.sub("", normalise(sentence)).lower().replace("’", "'")
    plain = write_numbers(bare)
    topic = read_topic(plain)
    values = tuple(find_values(plain))
    bare = NUMBER.sub(keep_noun, CLOCK.sub(" ", NUMBER_WORD.sub(" ", SAYER.sub(" ", plain))))
    return Claim(
        plain,
        tuple(list_roots(bare)),
        frozenset(root for phrase in SCOPES.findall(bare) for root in list_roots(VALUE_END.split(phrase)[0])),
        values,
        tuple(find_phrases(TURNS_DOWN, plain)),
        frozenset(root for phrase in CORRECTED_TOPIC.findall(plain) for root in list_roots(phrase)),
        topic,
        frozenset(root for phrase in HEAD.findall(plain) for root in list_roots(phrase)),
        frozenset(root for name in NAME.findall(sentence) for root in list_roots(name.lower())),
        is_negated(plain),
        bool(CHANGES.search(plain)),
        bool(CORRECTS.search(plain)),
    )


def read_topic(plain: str) -> frozenset[str]:
    """Return the roots of what a person says to forget; none where it says more or names nothing."""
    matches = (pattern.search(plain) for pattern in list_fitting(WITHDRAWS, plain))
    found = next((match[1] for match in matches if match), "")
    return frozenset(list_roots(NUMBER.sub(keep_noun, NUMBER_WORD.sub(" ", found))))


def find_phrases(patterns: tuple[re.Pattern[str], ...], plain: str) -> Iterator[frozenset[str]]:
    """Yield the roots and numbers of each short phrase that a pattern finds."""
    for pattern in list_fitting(patterns, plain):
        for match in pattern.finditer(plain):
            phrase = VALUE_END.split(match.group(1).strip())[0]
            words = frozenset(list_roots(NUMBER.sub(keep_noun, phrase)))
            if 0 < len(words) <= MAX_VALUE_WORDS:
                yield words


def list_fitting(patterns: tuple[re.Pattern[str], ...], plain: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns that may match a text: those of scripts without spaces need such a script."""
    return patterns if DENSE.search(plain) else list_spaced(patterns)


@cache
def list_spaced(patterns: tuple[re.Pattern[str], ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(pattern for pattern in patterns if not DENSE.search(pattern.pattern))


def list_roots(plain: str) -> list[str]:
    """Return the roots of what a text is about, of ideographs the pairs, in their order."""
    found: list[str] = []
    for word in WORD.findall(COMPOUND.sub(" ", plain)):
        if "\u3400" <= word[0] <= "\u9fff":
            for run in filter(None, CONNECTING.split(word)):
                found += [SYNONYMS[run]] if run in SYNONYMS else split_pairs(run)
        elif word not in ",;:" and word not in FUNCTION_WORDS:
            found.append(cut(word))
    return [root for root in found if root]


def list_synonyms(text: str) -> list[str]:
    """Return the words of other languages for the languages and days that a text names."""
    named = {SYNONYMS[word] for word in WORD.findall(text.lower()) if word in SYNONYMS}
    return sorted(word for word, known in SYNONYMS.items() if known in named)


def split_pairs(run: str) -> list[str]:
    return [a + b for a, b in pairwise(run)] or [run]


@lru_cache(CACHE_SIZE)
def cut(word: str) -> str:
    """Return the root of a word; "" for one that only connects others."""
    word = SYNONYMS.get(word, KIND_OF_NAME.sub("", word))
    bare = re.sub(r"^(?:l|d|n|j|s|qu|c|m|t)'(?=\w)|'(?:s|ll|re|ve|d|m|t)?$", "", word)
    is_form = stem(bare) in FUNCTION_WORDS and f"{stem(bare)}e" != bare  # a theme is no form of "them"
    if bare in FUNCTION_WORDS or is_form or bare.endswith("n't") or bare.isdigit():
        return ""
    if not bare.isalpha() or not bare[:1].isalpha():
        return bare
    plain = bare if bare.isascii() else ACCENT.sub("", unicodedata.normalize("NFD", bare))  # Wort, Wörter
    root = DOUBLED.sub(r"\1", stem(plain))[:ROOT_LENGTH]
    return root.rstrip("aeioy") if len(root) > MIN_CUT_LENGTH and root.isalpha() else root


def is_negated(plain: str) -> bool:
    """Return whether a text denies: it has an odd number of negations; "ne … pas" is one."""
    bare = NO_NEGATION.sub(" ", plain)
    counts = [len(pattern.findall(bare)) for pattern in NEGATIONS]
    return (max(counts) + len(NEGATIONS_DENSE.findall(bare))) % 2 == 1


# ---- two of them ------------------------------------------------------------------------------------------


def compare(new: Claim, old: Claim) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the roots that both have, those of the newer claim alone, and those of the older one alone, but
    for the least and the most; a pair of ideographs of which one belongs to a word that both have is no word.
    """
    shared, only_new, only_old = new.words & old.words, new.words - old.words, old.words - new.words
    only_new, only_old = only_new - BOUNDS, only_old - BOUNDS
    if not DENSE.search(old.text):
        return shared, only_new, only_old
    ends = {end for root in shared if DENSE.match(root) for end in (root[0], root[-1])}
    only_new, only_old = (
        frozenset(root for root in roots if len(root) != 2 or ends.isdisjoint((root[0], root[1])))
        for roots in (only_new, only_old)
    )
    return shared, only_new, only_old


def join_words(claims: Iterable[Claim]) -> frozenset[str]:
    return frozenset().union(*(claim.words | claim.topic for claim in claims))


def swaps(new: Claim, old: Claim) -> bool:
    """Return whether a word before the same word is another one: "the importer's batch", "the exporter's"."""
    before = [dict(list_neighbours(claim)) for claim in (new, old)]
    return any(
        before[0][root] not in old.words and before[1][root] not in new.words
        for root in before[0].keys() & before[1].keys()
    )


def list_neighbours(claim: Claim) -> Iterator[tuple[str, str]]:
    """Yield each root with the one before it; of ideographs only where both are of one run."""
    for before, root in pairwise(claim.roots):
        if root.isascii() or not count_dense(root) or before[-1] == root[0]:
            yield root, before


def narrows(new: Claim, old: Claim) -> bool:
    """Return whether the newer claim says where or when it holds, and the older one does not say that."""
    return bool(new.scope - old.words)


def measured(claim: Claim) -> tuple[Value, ...]:
    """Return the values of the kinds of which a thing has mostly one."""
    return tuple(value for value in claim.values if value.kind in MEASURES)


def shares_topic(one: str, other: str) -> bool:
    """Return whether both have a third of the shorter one's words; without spaces, pairs of characters."""
    words, others = map(set, map(list_words if count_dense(one + other) else list_roots, (one, other)))
    return len(words & others) >= MIN_TOPIC_SHARE * min(len(words), len(others)) > 0


def shares_root(one: str, other: str) -> bool:
    """Return whether both have a word in common."""
    return not set(list_named(one)).isdisjoint(list_named(other))


def shares_half(one: str, other: str) -> bool:
    """Return whether both have half of the words of the one with fewer."""
    words, others = set(list_named(one)), set(list_named(other))
    return 2 * len(words & others) >= min(len(words), len(others))


@lru_cache(CACHE_SIZE)
def list_named(text: str) -> list[str]:
    """Return the roots of a text; of a name with signs also those of its parts."""
    plain = normalise(text).lower()
    return list_roots(plain) + list_roots(" ".join(SIGNED.findall(plain)))
