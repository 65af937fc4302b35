"""What a session was told by memory: at its start and with each prompt, line by line, and what came of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from conversations.engines.prompt_intent import CONNECTING
from conversations.engines.prompt_recall import best_part
from conversations.models import Message
from memory.actors import Actor
from memory.db.expressions import ActiveOnLineage
from memory.db.querysets import Lineage
from memory.db.raw_select import select_equal
from memory.engines.facts.assessment import attach_belief, exclusion_reasons
from memory.engines.facts.short_ids import shorten_id
from memory.engines.search.candidates import MAX_QUERY_LENGTH, embed_query
from memory.engines.sessions.lines import fenced_line, show_fact, split_line
from memory.engines.sessions.manager import get_session
from memory.engines.sessions.revisions import ReadPoint, Statements
from memory.engines.sessions.told_answers import AGAIN, NOT_HERE, WRONG, answer_line, place
from memory.engines.support import validation as c
from memory.engines.versions.commits import open_commit
from memory.engines.versions.repositories import is_left_out, list_left_out, name_repositories
from memory.exceptions import Conflict
from memory.models import Branch, Commit, Confirmation, Fact, FactLink, FactUse, Session
from memory.repository_names import ANY
from memory.texts import UUID_PATTERN
from memory.words import extract_keywords

Versions = Mapping[UUID, Sequence[Any]]  # of memories that have more than one, each with the newest first


def load_versions(rows: Sequence[Fact | Message], lineage: Lineage) -> Versions:
    """Return all versions along a lineage of those memories of one kind that have changed."""
    found = defaultdict[UUID, list[Any]](list)
    changed = [row.uid for row in rows if row.version > 1]
    for row in type(rows[0]).objects.history(lineage, *changed) if changed else ():
        found[row.uid].append(row)
    return found


def find_told_version(fact: Fact, versions: Versions, branch: Branch, line: str, seq: int | None) -> Fact:
    """Return the version of a fact that a line of a context states, else what a branch showed at a seq.

    Where neither is known it is the first: an answer to a line is never about a text that it did not have.
    """
    every = versions.get(fact.uid, [fact])
    if stated := [row for row in every if show_fact(row) in line]:
        return max(stated, key=lambda row: len(show_fact(row)))
    return find_shown(every, branch, seq) or every[-1]


def find_shown(versions: Sequence[Fact], branch: Branch, seq: int | None) -> Fact | None:
    """Return the version that a branch showed at a seq; None where it is not known."""
    if seq is None:
        return None
    for branch_id, limit in branch.full_lineage(seq):
        begun = [row for row in versions if row.branch_id == branch_id and row.seq_from <= limit]
        if begun:
            return max(begun, key=lambda row: row.seq_from)
    return None


def find_written(message: Message, versions: Versions, branch: Branch) -> int | None:
    """Return the seq of a branch with which a message came to be; None for one of another branch."""
    every = [message, *versions.get(message.uid, ())]
    return min((row.seq_from for row in every if row.branch_id == branch.pk), default=None)


CHECK_ANSWER = c.one_of([WRONG, NOT_HERE, AGAIN])
AT_START = "start"  # among what a session was told with its prompts, by the keys of their events
MAX_PROMPTS = 50  # the last ones that something was told with
MAX_WORDS = 6  # of both a prompt and a line that are named
MAX_READ = 4000  # characters of a prompt, and of a line, whose words are compared


@dataclass(frozen=True)
class ToldLine:
    """A line: what it said, the fact or message that it is of, as it is now, and why it was told.

    ``words`` are those that it shares with the prompt; ``states`` are why a fact is told no more. The text of
    a fact that ``is_changed`` is another one now.
    """

    text: str
    fact: Fact | None = None
    message: Message | None = None
    words: Sequence[str] = ()
    states: Sequence[str] = ()
    is_left_out: bool = False
    is_own: bool = False  # of the session's repository
    is_changed: bool = False
    aftermath: "Aftermath | None" = None


@dataclass(frozen=True)
class ToldTime:
    """What was told at once; ``prompt`` is None at the start, and where the prompt is not known."""

    is_start: bool
    lines: Sequence[ToldLine]
    prompt: Message | None = None


@dataclass(frozen=True)
class Aftermath:
    """What came of a line: what took its place or casts doubt on it, who confirmed and who builds on it.

    ``marked`` is the commit that made it as it is, where it is told no more.
    """

    newer: Fact | None = None
    doubting: Fact | None = None
    confirmed: Sequence[datetime] = ()
    citing: Sequence[Fact] = ()
    uses: int = 0  # how often searches and sessions got it, this one too
    marked: Commit | None = None


class Memories(NamedTuple):
    """The facts and messages that a session was told of, as its branch has them now."""

    facts: Mapping[UUID, Fact]
    messages: Mapping[UUID, Message]
    came: Mapping[UUID, Aftermath]
    versions: Versions  # of both


Entry = tuple[bool, UUID | None, Sequence[UUID]]  # whether it was at the start, the prompt's message, the ids


def list_told(session: Session, now: datetime) -> list[ToldTime]:
    """Return what a session was told, the start first, then with its last prompts in their order."""
    entries = list_entries(session)
    found = load_memories(session.branch, entries, now)
    described = [describe_told(session, found, entry, now) for entry in entries]
    return [one for one in described if one.lines]


def list_entries(session: Session) -> list[Entry]:
    start = session.recalled.get(AT_START) or list(dict.fromkeys(UUID_PATTERN.findall(session.context)))
    named = ((key.partition(" ")[2], ids) for key, ids in session.recalled.items() if key != AT_START)
    prompts = sorted(named, key=itemgetter(0))[-MAX_PROMPTS:]  # stored by the hashes of their events
    entries: list[Entry] = [(True, None, [UUID(uid) for uid in start])]
    for message, ids in prompts:
        entries.append((False, UUID(message) if message else None, [UUID(uid) for uid in ids]))
    return entries


def load_memories(branch: Branch, entries: Sequence[Entry], now: datetime) -> Memories:
    uids = {uid for _, _, ids in entries for uid in ids}
    spoken = uids | {uid for _, uid, _ in entries if uid}
    lineage = branch.lineage()
    facts = Fact.objects.in_lineage(lineage).fetch_by_key("uid", uids)
    attach_belief(facts, lineage)
    name_repositories(facts, branch.project_id)
    messages = Message.objects.in_lineage(lineage).fetch_by_key("uid", spoken)
    came = load_aftermath(facts, [row for row in messages if row.uid in uids], branch, now)
    versions = {**load_versions(facts, lineage), **load_versions(messages, lineage)}
    return Memories({fact.uid: fact for fact in facts}, {row.uid: row for row in messages}, came, versions)


def load_aftermath(
    facts: Sequence[Fact], messages: Sequence[Message], branch: Branch, now: datetime
) -> dict[UUID, Aftermath]:
    """Return what came of facts and messages, with a fixed number of queries."""
    lineage, uids = branch.lineage(), [fact.uid for fact in facts]
    statements = Statements(ReadPoint(branch.project_id, lineage, now))
    revised, doubted = statements.find_revised(facts), statements.find_doubted(facts)
    uses = dict(select_equal(FactUse, ("uid", "access_count"), uid=uids))
    citing = find_citing([*uids, *(row.uid for row in messages)], lineage)
    confirmed = list_confirmed(uids, lineage)
    # A verdict says by itself who gave it, and leaves the row as somebody else made it.
    told_no_more = [fact for fact in facts if {*exclusion_reasons(fact, now)} - {"invalidated"}]
    rows: list[Fact | Message] = [*facts, *messages]
    marked = find_marks([*(row for row in rows if list_left_out(row)), *told_no_more])
    found = {
        row.uid: Aftermath(citing=citing.get(row.uid, ()), marked=marked.get(row.uid)) for row in messages
    }
    for fact in facts:
        others = citing.get(fact.uid, [])
        children = [one for one in others if one.parent_id == fact.uid]
        successor = next(iter(children or others), None) if fact.status == Fact.Status.SUPERSEDED else None
        found[fact.uid] = Aftermath(
            successor or revised.get(fact.uid),
            doubted.get(fact.uid),
            confirmed.get(fact.uid, ()),
            [one for one in others if one is not successor],
            uses.get(fact.uid, 0),
            marked.get(fact.uid),
        )
    return found


def find_citing(uids: Sequence[UUID], lineage: Lineage) -> dict[UUID, list[Fact]]:
    """Return the facts that replace each memory, or that have a link to it, the newest first."""
    rows = Fact.objects.in_lineage(lineage)
    links = FactLink.objects.in_lineage(lineage).exclude(link_type=FactLink.Type.CONTESTED_BY)
    pairs = set(links.select_by_key(("to_id", "from_id"), "to_id", uids))
    pairs |= set(rows.select_by_key(("parent_id", "uid"), "parent_id", uids))
    known = {fact.uid: fact for fact in rows.fetch_by_key("uid", {uid for _, uid in pairs})}
    found = defaultdict[UUID, list[Fact]](list)
    for to, uid in sorted(pairs, reverse=True):
        if uid in known:
            found[to].append(known[uid])
    return found


def list_confirmed(uids: Sequence[UUID], lineage: Lineage) -> dict[UUID, list[datetime]]:
    """Return when each fact was first confirmed by each of its sources."""
    rows = Confirmation.objects.filter(ActiveOnLineage(lineage), uid__in=uids)
    first = dict[tuple[UUID, str], datetime]()
    for uid, source, at in rows.order_by("-at").values_list("uid", "source", "at"):
        first[uid, source] = at
    found = defaultdict[UUID, list[datetime]](list)
    for (uid, _), at in first.items():
        found[uid].append(at)
    return found


def find_marks(rows: Sequence[Fact | Message]) -> dict[UUID, Commit]:
    """Return the commits that made rows as they are."""
    made = Commit.objects.that_made({(row.branch_id, row.seq_from) for row in rows})
    keys = {row.uid: (row.branch_id, row.seq_from) for row in rows}
    return {uid: made[key] for uid, key in keys.items() if key in made}


def describe_told(session: Session, found: Memories, entry: Entry, now: datetime) -> ToldTime:
    is_start, message, uids = entry
    prompt = found.messages.get(message) if message else None
    shown = session.context.splitlines() if is_start else []
    words = frozenset(extract_keywords(prompt.content[:MAX_READ])) if prompt else frozenset[str]()
    seq = find_written(prompt, found.versions, session.branch) if prompt else None
    lines = []
    for uid in uids:
        if fact := found.facts.get(uid):
            text = find_line(shown, uid)
            version = find_told_version(fact, found.versions, session.branch, text, seq)
            line = describe_fact(session, fact, text or show_fact(version), words, now)
            is_changed = version.fact_text != fact.fact_text
            lines.append(replace(line, aftermath=found.came[uid], is_changed=is_changed))
        elif row := found.messages.get(uid):
            text = find_line(shown, uid) or show_message(row, prompt)
            is_out, shared = is_left_out(row, session.project_path), list_shared(words, text)
            line = ToldLine(text, message=row, words=shared, is_left_out=is_out)
            lines.append(replace(line, aftermath=found.came[uid]))
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


def show_message(row: Message, prompt: Message | None) -> str:
    """Return a message as the line that came with a prompt."""
    question = embed_query(prompt.content[:MAX_QUERY_LENGTH], None) if prompt else None
    text = row.content[:MAX_READ]
    return fenced_line(best_part(question, text) if question else text)


def find_line(lines: Iterable[str], uid: UUID) -> str:
    """Return the text of the line of a context that names an id, whole or by its end; "" for none."""
    names = (str(uid), shorten_id(uid))
    for line in lines:
        text, words = split_line(line)
        if any(name in words for name in names):
            return text
    return ""


def answer_told_fact(
    *, session_id: str, fact_id: UUID, answer: str, actor: Actor, expected_version: int | None = None
) -> Commit | None:
    """Apply what a curator says of a fact that a session was told; return the commit, None without a change.

    As ``answer_line``, but raises Conflict where the fact says something else since the session was told it.
    """
    session = get_session(actor, session_id, is_shown=True)
    actor.require_scope("curate", session.branch.name)
    every = (line for one in list_told(session, timezone.now()) for line in one.lines)
    lines = [line for line in every if line.fact and line.fact.uid == fact_id]
    if answer != AGAIN and lines and all(line.is_changed for line in lines):
        raise Conflict("The fact was changed since the session was told it: say it of the fact as it is now.")
    return answer_line(
        session_id=session_id, fact_id=fact_id, answer=answer, actor=actor, expected_version=expected_version
    )


def answer_message(*, session_id: str, message_id: UUID, answer: str, actor: Actor) -> Commit | None:
    """Apply what a curator says of a message that a session was told; return the commit, None without a
    change.

    *wrong* leaves it out of every session, *not_here* out of those of this session's repository, *here* tells
    it there again. Raises NotFound, Conflict for a session without a repository, Invalid, scope and branch
    refusals.
    """
    answer = CHECK_ANSWER("answer", answer)
    session = get_session(actor, session_id, is_shown=True)
    branch = session.branch.name
    actor.require_scope("curate", branch)
    with open_commit(actor, branch, "message.update") as commit:
        row = commit.get_version(Message, message_id)
        repository = ANY if answer == WRONG else session.project_path
        metadata = place(row, repository, answer == AGAIN)
        if metadata == row.metadata:
            return None
        commit.targets.append(str(commit.change_row(row, metadata=metadata).uid))
    return commit.commit


def list_shared(words: frozenset[str], text: str) -> list[str]:
    shared = words - CONNECTING
    return [word for word in extract_keywords(text[:MAX_READ]) if word in shared][:MAX_WORDS]
