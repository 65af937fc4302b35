"""Verdicts of a language model on what a statement does to earlier ones: the question and how an answer is
read. No database access.

Wherever an answer leaves a doubt the verdict is ``unsure``: no model replaces anything by a mistake of form.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.engines.consolidation.extraction import build_messages
from conversations.engines.consolidation.matching import split_tokens
from conversations.engines.consolidation.revised import Statement
from conversations.models.runs import VERDICTS
from memory.models import PairVerdict
from memory.providers.chat import Message
from memory.providers.chat_json import iterate_objects
from memory.words import STOP_WORDS

MAX_ANSWER = 16_000  # characters of an answer that are read
MAX_TEXT_LENGTH = 2_000  # characters of one statement
NEWER = "n"  # the name under which the model sees the newer statement
Verdict = PairVerdict.Verdict
ALIKE = frozenset({Verdict.REPLACES, Verdict.NARROWS, Verdict.SAME})  # verdicts on one subject


@dataclass(frozen=True)
class VerdictQuestion:
    """A statement, and earlier ones by the names under which the model sees them."""

    newer: Statement
    earlier: Mapping[str, Statement]

    def build_messages(self) -> list[Message]:
        statements = {**self.earlier, NEWER: self.newer}
        pieces = {f"{name}, {one.at:%Y-%m-%d}": one.text for name, one in statements.items()}
        return build_messages({name: text[:MAX_TEXT_LENGTH] for name, text in pieces.items()}, VERDICTS)

    def names_subject(self, subject: str, name: str) -> bool:
        """Return whether a subject has a word of the newer statement, or of this earlier one."""
        words = split_tokens(subject) - STOP_WORDS
        texts = (self.newer.text, self.earlier[name].text)
        return any(words & split_tokens(text) for text in texts)


def build_question(newer: Statement, earlier: Sequence[Statement]) -> VerdictQuestion:
    return VerdictQuestion(newer, {f"s{at}": one for at, one in enumerate(earlier, 1)})


def parse_verdicts(text: str, question: VerdictQuestion) -> dict[str, str]:
    """Return the verdict on each earlier statement, by its name; ``unsure`` on all of them where the answer
    has another form, or names a statement that is none of the question's.
    """
    unsure = dict.fromkeys(question.earlier, Verdict.UNSURE.value)
    lists = (one.get("verdicts") for one in iterate_objects(text[:MAX_ANSWER]))
    answers = [entries for entries in lists if isinstance(entries, list)]
    if len(answers) != 1:
        return unsure
    found: dict[str, set[str]] = defaultdict(set)
    for entry in answers[0]:
        name = find_earlier_name(entry, question)
        if not name:
            return unsure
        found[name].add(read_verdict(entry, name, question))
    return unsure | {name: verdicts.pop() for name, verdicts in found.items() if len(verdicts) == 1}


def find_earlier_name(entry: Any, question: VerdictQuestion) -> str:
    """Return the earlier statement of an entry, "" unless it names a pair of the question in either order."""
    pair = [entry.get("later"), entry.get("earlier")] if isinstance(entry, dict) else []
    if NEWER not in pair:
        return ""
    pair.remove(NEWER)
    return next((name for name in question.earlier if name == pair[0]), "")


def read_verdict(entry: Mapping[str, Any], name: str, question: VerdictQuestion) -> str:
    """Return the verdict of an entry; ``unsure`` the wrong way round, or about a subject of neither."""
    verdict, subject = entry.get("verdict"), entry.get("subject")
    if entry["later"] != NEWER or verdict not in Verdict.values:
        return Verdict.UNSURE.value
    if verdict in ALIKE and not (isinstance(subject, str) and question.names_subject(subject, name)):
        return Verdict.UNSURE.value
    return str(verdict)
