"""Lines of what a session is told: a text, and in brackets its short id with the few words that it needs.

Most lines are what persons said and nobody verified, so those have the id alone. The day stands above the
lines of a day, and what the other words mean in the heading, where any line has them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from memory.engines.facts.rules import compute_essence
from memory.engines.facts.short_ids import SHORT_ID, shorten_id
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.utterances import LEARNED
from memory.models import Fact, FactAssessment
from memory.texts import BRIEFING_TAG, LATER, WAS, count_dense, cut_line

MAX_LINE = 300  # characters of a line
MAX_REPAIR_LENGTH = 800  # characters of a repair that is shown whole
MAX_WAS_LENGTH = 120  # of a statement that holds no more, or may not
MAX_NAME_LENGTH = 40  # of who said it
TAG = re.compile(rf"<[\s/]*(?={BRIEFING_TAG}|system-reminder|private)", re.I)
AGENTS, NOTED, OBSERVED, MESSAGE, VERIFIED, REPLACED = "agent", "note", "seen", "prompt", "✓", "replaced by"
FILED = "file"
INSTRUCTION_TAG = "instructions"  # of a fact that an import read in a file of instructions
REPAIR = "bug_fix"  # the category of what put a failure right
MEANINGS = {
    AGENTS: "an agent's words",
    NOTED: "written by hand or by a program",
    FILED: "a person's instructions, from a file such as AGENTS.md",
    OBSERVED: "seen in an agent's work",
    REPAIR: "a failure and what put it right",
    MESSAGE: "from an earlier prompt",
    VERIFIED: "verified",
}
ID_MEANING = "memory_get takes an [id]"


@dataclass(frozen=True)
class Line:
    """A line of a briefing: a memory's text, its id and day, and the words that stand beside the id."""

    text: str
    uid: UUID
    day: date
    marks: Sequence[str] = ()

    def __str__(self) -> str:
        return format_line(self.text, self.uid, self.marks)


def format_line(text: str, uid: UUID | str, marks: Sequence[str]) -> str:
    return f"- {text} [{' '.join([shorten_id(uid), *marks])}]"


def split_line(line: str) -> tuple[str, list[str]]:
    """Return the text of a line, and its id with the words beside it; none of what is no such line."""
    text, bracket, about = line.partition("- ")[2].rpartition(" [") if line.startswith("- ") else ("", "", "")
    return (text, about.rstrip("]").split()) if bracket else ("", [])


def list_short_ids(context: str) -> Iterator[str]:
    """Yield the short ids that the lines of a context have."""
    words = (word for line in context.splitlines() for word in split_line(line)[1])
    return (word for word in words if SHORT_ID.fullmatch(word))


class Budget:
    """Tokens and characters that a text may have: what it begins with is spent already."""

    def __init__(self, text: str, max_tokens: int, max_characters: int) -> None:
        self.max_tokens, self.max_characters = max_tokens, max_characters
        self.dense, self.length = count_dense(text), len(text)

    def take(self, text: str) -> bool:
        """Spend what a line costs with its end, where there is as much left."""
        return self.replace("", f"{text}\n")

    def replace(self, old: str, new: str) -> bool:
        """Spend what a text costs more than the one in whose place it comes, where there is as much left."""
        is_enough = self.fits(old, new)
        if is_enough:
            self.dense, self.length = self._add(old, new)
        return is_enough

    def fits(self, old: str, new: str) -> bool:
        """Return whether as much is left; nothing is spent."""
        dense, length = self._add(old, new)
        return dense - (dense - length) // 4 <= self.max_tokens and length <= self.max_characters

    def _add(self, old: str, new: str) -> tuple[int, int]:
        return self.dense + count_dense(new) - count_dense(old), self.length + len(new) - len(old)


def iterate_days(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the lines, each run of a day below that day."""
    day: date | None = None
    for line in lines:
        if line.day != day:
            day = line.day
            yield head_day(day)
        yield str(line)


def head_day(day: date) -> str:
    return f"{day}:"


def explain_marks(lines: Iterable[Line | str]) -> str:
    """Return a sentence on the words in brackets, of those that the lines have."""
    marks = (line.marks if isinstance(line, Line) else split_line(line)[1] for line in lines)
    words = {word for found in marks for word in found}
    meanings = (f"{mark}: {text}" for mark, text in MEANINGS.items() if mark in words)
    return f"{'; '.join([ID_MEANING, *meanings])}."


def mark_fact(fact: Fact, utterance: Utterance | None = None, newer: UUID | None = None) -> list[str]:
    """Return the words beside a fact's id: whose words it is, whether it was verified, what replaces it."""
    marks = [name_source(fact, utterance)]
    if fact.verification_status == FactAssessment.Status.VERIFIED:
        marks.append(VERIFIED)
    if newer:
        marks.append(f"{REPLACED} {shorten_id(newer)}")
    return [mark for mark in marks if mark]


def mark_older(uid: UUID) -> str:
    """Return the words beside a fact's id for the one whose place it took."""
    return f"was {shorten_id(uid)}"


def name_source(fact: Fact, utterance: Utterance | None) -> str:
    """Return the word for where a fact comes from; "" for a person's own words."""
    if utterance and utterance.speaker:
        return "" if utterance.speaker == Utterance.PERSON else AGENTS
    if fact.source_type != Fact.SourceType.OBSERVATION:
        return FILED if is_from_file(fact) else NOTED
    return REPAIR if fact.category == REPAIR else OBSERVED


def is_from_file(fact: Fact) -> bool:
    """Return whether a fact was read in a file of instructions, which people keep."""
    return fact.source_type == Fact.SourceType.IMPORT and INSTRUCTION_TAG in fact.tags


def show_fact(fact: Fact) -> str:
    """Return a fact as one line: its essence, but what a session taught whole where it is not too long.

    Half of a command is another one, and what a person decides often stands at the end.
    """
    if fact.category == REPAIR and len(fact.fact_text) <= MAX_REPAIR_LENGTH:
        return fenced_line(fact.fact_text, MAX_REPAIR_LENGTH)
    is_cut = fact.source_type in LEARNED and fact.essence == compute_essence(fact.fact_text)
    return fenced_line(fact.fact_text if is_cut and len(fact.fact_text) <= MAX_LINE else fact.essence)


def show_change(older: str, newer: str, names: tuple[str, str] = ("", "")) -> str:
    """Return the text of a statement with the one whose place it took, or may have, and who said them."""
    was = fenced_line(older, MAX_WAS_LENGTH).rstrip(" .;")
    first, second = (f" ({fenced_line(name, MAX_NAME_LENGTH)})" if name else "" for name in names)
    return f"{WAS}{was}{first}{LATER}{newer}{second}"


def fenced_line(text: str, max_length: int = MAX_LINE) -> str:
    """Return the text as one line, at most ``max_length`` characters, that cannot close its fence."""
    # The bracket is replaced, not removed: removal could join the surrounding text into a tag.
    return cut_line(TAG.sub("‹", text), max_length)
