"""Findings by a language model: what it notes of a session's record, with the pieces that say so."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.findings import SessionReader
from conversations.engines.instructions import build_preset
from conversations.engines.prompt_intent import is_dense, is_plainly_english
from conversations.models import Instructions, Message
from memory.conf import conf
from memory.engines.statements.claims import list_named
from memory.engines.statements.personal_facts import PERSONAL
from memory.exceptions import ModelBudgetSpent, ProviderNonsense, ProviderUnavailable
from memory.models import FactLink
from memory.patterns import lazy_pattern
from memory.providers import chat
from memory.providers.chat import iterate_objects
from memory.providers.openai_server import find_configured
from memory.providers.prompts import build_prompt

FOLDER = Path(__file__).parents[2] / "prompts"
PROMPT = "extract-2"  # a changed prompt is a new file, since runs name it
MAX_TEXT_LENGTH = 2_000  # characters of one message
MAX_RECORD = 16_000  # of all pieces of one prompt
MAX_ANSWER = 64_000  # characters of an answer that are read
MAX_NOTES = 20  # of one answer
MIN_LENGTH, MAX_LENGTH = 10, 400  # characters of a note
GENERAL = "general"  # category of a note in another one than those of the project
NUMBER = lazy_pattern(r"\d+")
LEFT_TO_RULES = "Rules read the rest; the model does not come back to it."
SPENT = "The budget of {most} calls is spent: rules read the rest."
DOWN = "The model did not answer ({reason}): rules read the rest."


@dataclass
class ModelCosts:
    """What a model was asked in a run, and why it was asked no more."""

    model: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    note: str = ""

    def ask(self, server: chat.ChatServer, messages: Sequence[chat.Message]) -> str | None:
        """Return the model's answer; None, with the reason in the note, where it is asked no more."""
        budget = conf().consolidation_budget
        if self.calls >= budget:
            self.note = SPENT.format(most=budget)
            return None
        self.calls += 1
        try:
            answer = server.complete(messages)
        except ModelBudgetSpent as spent:
            self.calls -= 1
            self.note = f"{spent.text} {LEFT_TO_RULES}"
            return None
        except ProviderUnavailable as error:  # half an answer is one too
            self.give_up(error)
            return None
        self.model = server.model[:200]
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens
        return answer.text

    def give_up(self, error: ProviderUnavailable) -> None:
        """Note why the model is asked no more."""
        self.note = DOWN.format(reason=error.text)[:500]


@dataclass(frozen=True)
class Record:
    """Pieces of a session that fit one prompt, by the ids under which the model sees them."""

    pieces: Mapping[str, Message]

    def describe(self) -> list[tuple[str, str]]:
        """Return the texts of the pieces, below their ids and who said them."""
        return [(f"{name}, {describe_speaker(row)}", get_text(row)) for name, row in self.pieces.items()]


@dataclass
class Extraction:
    """The model of the settings, asked about one record after another, as long as it answers."""

    server: chat.ChatServer
    instructions: Instructions = field(default_factory=lambda: build_preset(Instructions.Preset.CODING))
    costs: ModelCosts = field(default_factory=ModelCosts)
    show_progress: Callable[[ModelCosts], None] = lambda costs: None  # called after each answer
    invented: set[UUID] = field(default_factory=set)  # sources of notes that no word of theirs supports

    def read_session(self, reader: SessionReader) -> Iterator[Finding]:
        """Yield what the model notes of messages that no run has read yet; of those that it was not asked
        about or made something up of, and of what tools did, what the rules find.
        """
        left: set[UUID] = set()
        records = split_record(reader.iterate_unread())
        for record in records:
            found = self._ask(record)
            self.show_progress(self.costs)
            if found is None:
                left = {row.uid for rest in chain([record], records) for row in rest.pieces.values()}
                break
            yield from found
        observed, left = FactLink.Target.OBSERVATION, left | self.invented
        yield from (one for one in reader.find_new() if one.to_type == observed or one.source in left)

    def _ask(self, record: Record) -> list[Finding] | None:
        """Return the notes on a record; None where the model is asked no more."""
        wishes = describe_wishes(self.instructions)
        prompt = build_prompt(FOLDER / f"{PROMPT}.txt", record.describe(), **wishes)
        if (text := self.costs.ask(self.server, prompt)) is None:
            return None
        try:
            notes = list(parse_notes(text, record, self.instructions.categories))
        except ProviderNonsense as error:
            self.costs.give_up(error)
            return None
        kept = [note for note in notes if is_supported(note, record)]
        sources = {uid for note in notes if note not in kept for uid in note.sources}
        self.invented |= sources - {uid for note in kept for uid in note.sources}
        return kept


def find_extraction() -> Extraction | None:
    """Return the model of the settings; None where there is none, or its settings cannot be used."""
    server, _problem = find_configured(chat.get_judge)
    return Extraction(server) if server and conf().consolidation_budget else None


def split_record(rows: Iterable[Message]) -> Iterator[Record]:
    """Yield records of at most MAX_RECORD characters."""
    pieces: dict[str, Message] = {}
    length = 0
    for row in rows:
        size = len(get_text(row))
        if pieces and length + size > MAX_RECORD:
            yield Record(pieces)
            pieces, length = {}, 0
        pieces[f"p{len(pieces) + 1}"] = row
        length += size
    if pieces:
        yield Record(pieces)


def get_text(row: Message) -> str:
    return row.content[:MAX_TEXT_LENGTH]


def describe_wishes(one: Instructions) -> dict[str, str]:
    """Return what the prompt says of a project's instructions, by the names that it has for them."""
    return {
        "instructions": one.text,
        "categories": ", ".join(one.categories),
        "first": one.categories[0],
    }


def describe_speaker(row: Message) -> str:
    """Return who said a piece."""
    return "the person" if row.role == Message.Role.USER else "the agent"


def parse_notes(text: str, record: Record, categories: Collection[str]) -> Iterator[Finding]:
    """Yield the notes of an answer whose evidence is in the record; others are dropped.

    Raises ProviderNonsense for an answer without one list of facts.
    """
    found = (one.get("facts") for one in iterate_objects(text[:MAX_ANSWER]))
    answers = [facts for facts in found if isinstance(facts, list)]
    if len(answers) != 1:
        raise ProviderNonsense(reason="it has no list of facts")
    for note in answers[0][:MAX_NOTES]:
        if isinstance(note, dict) and (finding := read_note(note, record, categories)):
            yield finding


def read_note(note: Mapping[str, Any], record: Record, categories: Collection[str]) -> Finding | None:
    """Return a note as a finding; None for one of another form, or without evidence in the record."""
    text, names = note.get("text"), note.get("evidence")
    if not isinstance(text, str) or not isinstance(names, list):
        return None
    text = " ".join(text.split())
    rows = [record.pieces[name] for name in names if isinstance(name, str) and name in record.pieces]
    if not rows or not MIN_LENGTH <= len(text) <= MAX_LENGTH:
        return None
    category = note.get("category")
    return build_finding(text, category if category in {*categories, *PERSONAL} else GENERAL, rows)


def is_supported(note: Finding, record: Record) -> bool:
    """Return whether a note has a word or a number of its evidence, or of the piece before, to which that may
    answer. It need have none unless both are plainly in one language.
    """
    rows = [*record.pieces.values()]
    cited = [at for at, row in enumerate(rows) if row.uid in note.sources]
    texts = [get_text(row) for at in cited for row in rows[max(at - 1, 0) : at + 1]]
    evidence = "\n".join(dict.fromkeys(texts))
    if not any(is_one(evidence) and is_one(note.text) for is_one in (is_plainly_english, is_dense)):
        return True
    words, others = ({*list_named(text), *NUMBER.findall(text)} for text in (evidence, note.text))
    return not words.isdisjoint(others)


def build_finding(text: str, category: str, rows: Sequence[Message]) -> Finding:
    """Return a finding with the first piece as its source and the others beside it."""
    first, *others = dict.fromkeys(rows)
    kind = FactLink.Target.MESSAGE.value
    return Finding(
        text,
        category,
        first.uid,
        kind,
        first.said_at or first.created_at,
        first.role == Message.Role.USER,
        is_models=True,
        more=tuple((row.uid, kind) for row in others),
    )
