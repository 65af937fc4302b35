"""Rules that find decisions and preferences in messages. Pure functions, no database.

Phrases name a decision whoever says it; what else a person lays down is found by a score of its words. The
rules favour precision over recall: a sentence that asks, doubts, denies or reports is no decision.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conversations.engines.consolidation.sentence_score import score_sentence
from memory.models.hashes import normalise_text

MIN_SCORE = 0.6  # of a person's sentence without a phrase of the rules: one idle one in twenty reaches it
MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 10, 400  # characters of a sentence
MIN_CONTAINED_SHARE = 0.6  # share of a sentence from which a text contained in it is equivalent
MIN_JACCARD = 0.85  # token Jaccard from which two sentences are equivalent

CODE_BLOCK = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.S | re.M)
QUOTE = re.compile(r"^[^\S\n]*>.*$", re.M)
MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+)\s+")
END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
WORD = re.compile(r"\w+")
LOG_LINE = re.compile(r"^\W*(?:\d{2,4}[-:/]\d\d\b|(?:WARN(?:ING)?|ERROR|INFO|DEBUG|FATAL)\b)")

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


# What another said: only a phrase makes a decision of it.
REPORTED = re.compile(
    r"(?i)\b(?:says?|(?<!i )said|claims?|according to|wondering|i wonder|torn between|thinking (?:aloud|out"
    r" loud)|(?:the|their) (?:docs?|datasheet|paper|blog|runbook|comment)s?)\b"
    r"|有人说|据说|听说|网上|文档里说|论文里说|注释里|师兄"
)
# What ends with the task, and what was so elsewhere: no phrase makes a decision of it.
PASSING = re.compile(
    r"(?i)\b(?:for now|for this (?:one|run|once|time|task|pr|screenshot|demo)|(?:just|only) (?:this )?once"
    r"|one time|temporar(?:y|ily)|for a (?:minute|moment|sec|second|bit)"
    r"|(?:last|previous|old|former) (?:company|job|employer|team))\b"
    r"|暂时|临时|这次先|先这样|回头再|上家|前公司|上一家"
)


@dataclass(frozen=True)
class Lesson:
    """A sentence worth storing, with its category."""

    text: str
    category: str


def lessons(text: str, spoken_by_user: bool) -> Iterator[Lesson]:
    """Yield decisions in a message, and preferences in a person's; each sentence once."""
    seen: set[str] = set()
    for sentence in sentences(text):
        category = choose_category(sentence, spoken_by_user)
        if category and normalise_text(sentence) not in seen:
            seen.add(normalise_text(sentence))
            yield Lesson(sentence, category)


def choose_category(sentence: str, spoken_by_user: bool) -> str:
    """Return decision, preference, or "" for neither."""
    if NOT_DECIDED.search(sentence) or PASSING.search(sentence):
        return ""
    if DECIDED.search(sentence):
        return "decision"
    if not spoken_by_user:
        return ""
    if PREFERRED.search(sentence):
        return "preference"
    return "decision" if lays_down(sentence) else ""


def lays_down(sentence: str) -> bool:
    """Return whether a person's sentence without a phrase of the rules lays something down."""
    return not REPORTED.search(sentence) and score_sentence(sentence) >= MIN_SCORE


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a message's prose: no code, no quotations, none too short or long."""
    prose = QUOTE.sub("", CODE_BLOCK.sub("\n", text))
    for part in END.split(prose):
        line = " ".join(MARK.sub("", part).replace("**", "").split())
        if LOG_LINE.match(part):
            continue
        if (
            len(line) <= MAX_SENTENCE_LENGTH
            and len(line) + 2 * sum(char > "\u2e7f" for char in line) >= MIN_SENTENCE_LENGTH
        ):
            yield line


class Spoken:
    """The texts that Day1 gave a session, prepared for many comparisons."""

    def __init__(self, texts: Iterable[str]) -> None:
        plain = dict.fromkeys(normalise_text(text) for text in texts)
        self._known = [(text, set(WORD.findall(text))) for text in plain]

    def says(self, text: str) -> bool:
        """Return whether one of the texts equals this one, contains it, or is most of it."""
        plain = normalise_text(text)
        words = set(WORD.findall(plain))
        return any(_same(plain, words, known, others) for known, others in self._known)


def _same(plain: str, words: set[str], known: str, others: set[str]) -> bool:
    if plain in known or (len(known) > MIN_CONTAINED_SHARE * len(plain) and known in plain):
        return True
    return bool(words) and len(words & others) / len(words | others) > MIN_JACCARD
