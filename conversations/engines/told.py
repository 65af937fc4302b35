"""What a session was told by memory: at its start and with each prompt, line by line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from conversations.models import Message
from memory.engines.facts.assessment import attach_belief, exclusion_reasons
from memory.engines.facts.short_ids import shorten_id
from memory.engines.sessions.lines import split_line
from memory.engines.versions.repositories import is_left_out, name_repositories
from memory.models import Fact, Session
from memory.texts import UUID_PATTERN
from memory.words import extract_keywords

AT_START = "start"  # among what a session was told with its prompts, by the keys of their events
MAX_PROMPTS = 50  # the last ones that something was told with
MAX_WORDS = 6  # of both a prompt and a line that are named
MAX_READ = 4000  # characters of a prompt, and of a line, whose words are compared


@dataclass(frozen=True)
class ToldLine:
    """A line: what it said, the fact or message that it is of, as it is now, and why it was told.

    ``states`` are what became of the fact; ``words`` are those that it shares with the prompt.
    """

    text: str
    fact: Fact | None = None
    message: Message | None = None
    words: Sequence[str] = ()
    states: Sequence[str] = ()
    is_left_out: bool = False
    is_own: bool = False  # of the session's repository


@dataclass(frozen=True)
class ToldTime:
    """What was told at once; ``prompt`` is None at the start, and where the prompt is not known."""

    is_start: bool
    lines: Sequence[ToldLine]
    prompt: Message | None = None


class Memories(NamedTuple):
    """The facts and messages that a session was told of, as its branch has them now."""

    facts: Mapping[UUID, Fact]
    messages: Mapping[UUID, Message]


Entry = tuple[bool, UUID | None, Sequence[UUID]]  # whether it was at the start, the prompt's message, the ids


def list_told(session: Session, now: datetime) -> list[ToldTime]:
    """Return what a session was told, the start first, then with its last prompts in their order."""
    entries = list_entries(session)
    found = load_memories(session, entries)
    described = [describe_told(session, found, entry, now) for entry in entries]
    return [one for one in described if one.lines]


def list_entries(session: Session) -> list[Entry]:
    start = session.recalled.get(AT_START) or list(dict.fromkeys(UUID_PATTERN.findall(session.context)))
    prompts = [(key, ids) for key, ids in session.recalled.items() if key != AT_START][-MAX_PROMPTS:]
    entries: list[Entry] = [(True, None, [UUID(uid) for uid in start])]
    for key, ids in prompts:
        message = key.partition(" ")[2]
        entries.append((False, UUID(message) if message else None, [UUID(uid) for uid in ids]))
    return entries


def load_memories(session: Session, entries: Sequence[Entry]) -> Memories:
    uids = {uid for _, _, ids in entries for uid in ids}
    spoken = uids | {uid for _, uid, _ in entries if uid}
    lineage = session.branch.lineage()
    facts = Fact.objects.in_lineage(lineage).fetch_by_key("uid", uids)
    attach_belief(facts, lineage)
    name_repositories(facts, session.project_id)
    messages = Message.objects.in_lineage(lineage).fetch_by_key("uid", spoken)
    return Memories({fact.uid: fact for fact in facts}, {row.uid: row for row in messages})


def describe_told(session: Session, found: Memories, entry: Entry, now: datetime) -> ToldTime:
    is_start, message, uids = entry
    prompt = found.messages.get(message) if message else None
    shown = session.context.splitlines() if is_start else []
    words = frozenset(extract_keywords(prompt.content[:MAX_READ])) if prompt else frozenset[str]()
    lines = []
    for uid in uids:
        if fact := found.facts.get(uid):
            text = find_line(shown, uid) or fact.fact_text
            lines.append(describe_fact(session, fact, text, words, now))
        elif row := found.messages.get(uid):
            lines.append(ToldLine(row.content, message=row, words=list_shared(words, row.content)))
    return ToldTime(is_start, lines, prompt)


def describe_fact(session: Session, fact: Fact, text: str, words: frozenset[str], now: datetime) -> ToldLine:
    return ToldLine(
        text,
        fact,
        words=list_shared(words, text),
        states=exclusion_reasons(fact, now),
        is_left_out=is_left_out(fact, session.project_path),
        is_own=bool(fact.repository) and fact.repository == session.project_path,
    )


def find_line(lines: Iterable[str], uid: UUID) -> str:
    """Return the text of the line of a context that names an id, whole or by its end; "" for none."""
    names = (str(uid), shorten_id(uid))
    for line in lines:
        text, words = split_line(line)
        if any(name in words for name in names):
            return text
    return ""


def list_shared(words: frozenset[str], text: str) -> list[str]:
    return [word for word in extract_keywords(text[:MAX_READ]) if word in words][:MAX_WORDS]
