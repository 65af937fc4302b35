"""What a session's words say it decided, by rule. Pure functions, no database.

A rule misses much and should err little: a sentence that asks, doubts or denies is no decision.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.models.hashes import normalise

LEAST, MOST = 15, 400  # characters of a sentence
HOLDS = 0.6  # the share of a sentence from which a text within it is what it says
SAME = 0.85  # token Jaccard from which two sentences are one

CODE_BLOCK = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.S | re.M)
QUOTE = re.compile(r"^\s*>.*$", re.M)
MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+)\s+")
END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
WORD = re.compile(r"\w+")

DECIDED = re.compile(
    r"(?i)\b(?:we|i)(?:'ve| have|'re| are)?\s+(?:now\s+|finally\s+|just\s+)?"
    r"(?:decided|agreed|chose|chosen|settled|picked|opted|going to go with|went with|standardi[sz]ed on)\b"
    r"|^(?:\W*)(?:decision|decided|agreed|resolution)\s*[:—–-]"
    r"|\blet(?:'|’)?s (?:use|go with|stick (?:with|to)|switch to|keep|adopt|move to|settle on)\b"
    r"|\b(?:we|i)(?:'ll| will) (?:use|go with|stick (?:with|to)|switch to|adopt|keep using)\b"
    r"|\bwe (?:use|switched to|moved to|keep) \S.{2,120}\b(?:instead of|rather than|because|not)\b"
    r"|\b(?:using|went with|chose|picked|switched to) \S.{2,120}\b(?:instead of|rather than|over)\b"
    r"|\b(?:the )?decision is\b|\bfrom now on\b|\bgoing forward\b"
    r"|(?:决定|确定|商定|约定|统一)(?:了|使用|用|采用|改用|为)?|(?:改用|采用|以后(?:都|一律)?用|我们(?:就)?用)"
)
PREFERRED = re.compile(
    r"(?i)^\W*(?:please )?(?:always|never) (?!mind\b)\w+"
    r"|\bi (?:always |really )?(?:prefer|want you to always|never want)\b|(?:我(?:更)?喜欢|总是|从不|不要再)"
)
NOT_DECIDED = re.compile(
    r"(?i)\?\s*$|？\s*$|^\W*(?:if|should|could|would|can|maybe|perhaps|what if|whether)\b"
    r"|\b(?:haven't|have not|hasn't|not yet|didn't|did not|never|yet to|before we|until we|once we|unless)"
    r"\s+(?:\w+\s+)?(?:decided?|agreed?|chosen?|choose|settled?)\b"
    r"|\b(?:might|may|could|should we|do we|not sure|undecided)\b|(?:还没|尚未|没有)决定|是否|要不要"
)


@dataclass(frozen=True)
class Lesson:
    """A sentence worth keeping, and of which category it is."""

    text: str
    category: str


def lessons(text: str, spoken_by_user: bool) -> Iterator[Lesson]:
    """Decisions that a message states, and what a person says they always want; each sentence once."""
    seen: set[str] = set()
    for sentence in sentences(text):
        category = category_of(sentence, spoken_by_user)
        if category and normalise(sentence) not in seen:
            seen.add(normalise(sentence))
            yield Lesson(sentence, category)


def category_of(sentence: str, spoken_by_user: bool) -> str:
    """decision, preference, or "" for what is neither."""
    if NOT_DECIDED.search(sentence):
        return ""
    if DECIDED.search(sentence):
        return "decision"
    return "preference" if spoken_by_user and PREFERRED.search(sentence) else ""


def sentences(text: str) -> Iterator[str]:
    """The prose of a message, sentence by sentence: no code, no quotations, nothing too short or long."""
    prose = QUOTE.sub("", CODE_BLOCK.sub("\n", text))
    for part in END.split(prose):
        line = " ".join(MARK.sub("", part).replace("**", "").split())
        if len(line) <= MOST and len(line) + 2 * sum(char > "\u2e7f" for char in line) >= LEAST:
            yield line


def repair(command: str, error: str, steps: Iterable[str]) -> str:
    """What put a failed call right, in one text."""
    done = "; ".join(steps)
    return f"{command} failed: {error}. It worked after: {done}."


def says(known: Iterable[str], text: str) -> bool:
    """Whether one of some texts says the same as this one, holds it, or is most of it."""
    plain, words = normalise(text), set(WORD.findall(normalise(text)))
    for other in known:
        spoken = normalise(other)
        if plain in spoken or (spoken in plain and len(spoken) > HOLDS * len(plain)):
            return True
        others = set(WORD.findall(spoken))
        if words and len(words & others) / len(words | others) > SAME:
            return True
    return False
