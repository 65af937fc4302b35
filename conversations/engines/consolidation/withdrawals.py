"""What a person takes back without naming its subject: "scratch that", "five is too early, make it nine".

Pure functions, no database. Which statement it is, follows from the prompts before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from conversations.engines.consolidation.lasting import lasts
from conversations.engines.consolidation.sentences import MIN_PART_LENGTH, sentences
from memory.engines.search.answer_boost import ASKS
from memory.engines.statements.change_words import FORGETS
from memory.engines.statements.claims import Claim, measured, read_claim, split_claims
from memory.engines.statements.values import COUNTED, Value, differ
from memory.patterns import lazy_pattern

MAX_CORRECTION_LENGTH = 80  # characters of what is put in another one's place
MAX_VALUE_WORDS = 4  # of it, where it has no number
MAX_CHANCE_COUNT = 2  # so many of something are often named
PART_END = lazy_pattern(r"[,;:]\s|[，；：]|\s[–—-]+\s")
_START = r"^\W*(?:(?:ok|okay|oh|hm+|well|ah|ach|eh|bon|pues|bem|sorry|please|bitte)\W+)*"
_THAT = r"(?: (?:that|it|this|what i (?:just )?said|the last (?:one|rule|thing|bit|part)))"
# All of a prompt.
TAKES_BACK = lazy_pattern(
    _START
    + r"(?:(?:scratch|forget|scrap|strike|ignore|disregard|undo|drop|revoke|cancel)(?: about)?"
    + _THAT
    + r"|i take (?:that|it) back|take that back|never ?mind(?: that)?|on second thoughts?,? no"
    r"|actually,? no(?:t)?|vergiss (?:das|es)(?: wieder)?|streich das(?: wieder)?|(?:ach|lieber"
    r"|nein,?) doch nicht|doch nicht|oublie(?:z)?(?: (?:ça|cela))|laisse tomber|finalement non|en fait non"
    r"|olv[ií]da(?:lo| eso)|d[ée]jalo|mejor no|esquece(?: isso)?|deixa (?:pra lá|para lá)|melhor não|算了"
    r"|当我没说|忘了(?:它|这个|这条)?吧?|撤回|取消刚才(?:的|那条)?|(?:今|さっき)の(?:は)?(?:なし"
    r"|忘れて)(?:ください)?|やっぱり(?:なし|やめ)(?:で)?|取り消し(?:て|ます)?)(?: please| bitte| again"
    r"| s'il te plaît| por favor)?\W*$",
    re.I,
)
# Before what holds instead.
CORRECTS = lazy_pattern(
    _START + r"(?:actually,? (?:no|wait|make (?:it|that))|(?:no|oh),? wait(?:,? no)?|wait,? no|no,? (?:sorry"
    r"|actually|make (?:it|that))|no(?=[,.:;–—-])|sorry|actually|correction|i meant|(?:scratch|strike|forget)"
    + _THAT
    + r"|make (?:that|it)|on second thought"
    r"|ach nein|nein(?: doch)?(?=[,.:;–—-])|doch lieber|lieber|korrektur|besser|en fait(?: non)?"
    r"|non(?=[,.:;–—-])|plutôt|mejor|en realidad|no,? espera|na verdade|não(?=[,.:;–—-])|melhor|aliás|不对"
    r"|等等|说错了|还是|改成|改为|やっぱり|やはり|いや|訂正)[\s,.:;–—、，：-]*",
    re.I,
)


# Before what holds instead, also where it is a word and no number.
REFUTES = lazy_pattern(
    _START
    + r"(?:actually,? no|(?:no|oh),? wait|wait,? no|no,? (?:sorry|actually)|correction|i meant|(?:scratch"
    r"|strike|forget)" + _THAT + r"|ach nein|nein,? doch|korrektur|en fait non|mejor|no,? espera|na verdade"
    r"|不对|说错了|やっぱり|いや|訂正)\b",
    re.I,
)


NAMED = lazy_pattern(r"[^\W\d_]{2,}[ -]\d[\d.-]*\W*$")


@dataclass(frozen=True)
class Withdrawal:
    """What a person says in the place of a statement; "" where only that is taken back."""

    text: str
    correction: str
    max_before: ClassVar[int] = 6  # messages among which that statement is looked for

    def fits(self, older: str) -> bool:
        """Return whether it may be about an older statement: it gives another number, or a short value."""
        if not self.correction:
            return True
        new = read_claim(self.correction)
        return any(fits_claim(new, old) for old in split_claims(older))


@dataclass(frozen=True)
class Restatement:
    """What a person says in the place of a value: one that it names, or the last of its kind."""

    text: str
    claims: Sequence[Claim]
    max_before: ClassVar[int] = 20

    def fits(self, older: str) -> bool:
        """Return whether an older statement has that value, or one of the kind of what is corrected."""
        values = [value for claim in self.claims for value in claim.values]
        named = {one for one in values if is_telling(one) and differ(tuple(values), (one,))}
        is_correction = any(claim.is_correction for claim in self.claims)
        corrected = [value for claim in self.claims for value in measured(claim) if is_correction]
        olds = split_claims(older)
        return any(not named.isdisjoint(old.values) or differ(tuple(corrected), old.values) for old in olds)


def is_telling(value: Value) -> bool:
    """Return whether two texts hardly have a value by chance."""
    return value.kind != COUNTED[0] or value.number > MAX_CHANCE_COUNT


def read_restatement(text: str) -> Restatement | None:
    """Return what a prompt of several sentences puts in the place of a value; None for any other."""
    if ASKS.search(text):
        return None
    parts = list(sentences(text, MIN_PART_LENGTH))
    claims = [split_claims(part) for part in parts]
    telling = [at for at, found in enumerate(claims) if any(one.values for one in found)]
    every = [claim for found in claims for claim in found]
    if not telling or not any(claim.is_change or claim.is_correction for claim in every):
        return None
    return Restatement(" ".join(parts[telling[0] : telling[-1] + 1]), every)


def read_withdrawal(text: str, previous: str) -> Withdrawal | None:
    """Return what a prompt takes back; None for any other, and for the answer to an agent's question."""
    plain = " ".join(text.split())
    if len(plain) > MAX_CORRECTION_LENGTH or ASKS.search(plain) or ends_with_question(previous):
        return None
    if any(claim.is_withdrawal for claim in split_claims(plain)):
        return None  # it names what it takes back
    if TAKES_BACK.match(plain):
        return Withdrawal(plain, "")
    found = CORRECTS.match(plain)
    rest = plain[found.end() :] if found else ""
    return Withdrawal(plain, rest) if rest and (REFUTES.match(plain) or read_claim(rest).values) else None


def ends_with_question(text: str) -> bool:
    last = text.strip().rpartition("\n")[2]
    return bool(re.search(r"\w\W*[?？]\W*$", last))


def fits_claim(new: Claim, old: Claim) -> bool:
    """Return whether a correction has another number of the same kind, or is no more than a value, as is the
    name of a norm ("ISO 8601").
    """
    if new.values and not (NAMED.match(new.text) and not old.values):
        return differ(new.values, old.values)
    return 0 < len(new.words) <= MAX_VALUE_WORDS and not old.values


def is_withdrawal(sentence: str) -> bool:
    """Return whether a sentence only takes back what was said, or ends so ("use tabs, never mind"): no
    decision where there was nothing.
    """
    is_named = any(claim.is_withdrawal for claim in split_claims(sentence))
    is_void = TAKES_BACK.match(PART_END.split(sentence)[-1])
    return bool(is_void) or (is_named and not any(map(lasts, list_instead(sentence))))


def list_instead(sentence: str) -> list[str]:
    """Return the parts of a sentence behind what it gives up: "forget Mongo: the ledger is in Postgres"."""
    gives_up = any(claim.is_withdrawal or FORGETS.match(claim.text) for claim in split_claims(sentence))
    return PART_END.split(sentence)[1:] if gives_up else []
