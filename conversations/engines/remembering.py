"""Messages that are learned from at once: what was added, updated, superseded or ignored of them, and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from time import sleep
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from conversations.engines.consolidation import phrases, rules
from conversations.engines.consolidation.findings import is_chat
from conversations.engines.consolidation.report import CREATED, MERGED, ConsolidationReport, build_report
from conversations.engines.consolidation.runs import list_own_seqs
from conversations.engines.consolidation.session import learn_now
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import ConsolidationRun, Conversation, Message
from memory.actors import Actor
from memory.engines.sessions.learning import CLAIM_WAIT_SECONDS, enqueue_learning, system_actor
from memory.engines.sessions.manager import get_session
from memory.engines.statements.standing import replaces
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid, NotFound, QuotaExceeded, RunTaken, TooLarge
from memory.models import Fact, FactLink, Session
from memory.models.nodes import uuid7

Action = Literal["added", "updated", "superseded", "ignored", "pending"]
ADDED, UPDATED, SUPERSEDED, IGNORED, PENDING = ACTIONS = get_args(Action)
MAX_MESSAGES = 100  # that one call learns from
MAX_TRIES = 10  # while another worker learns from the session
MAX_TEXT_LENGTH = 200  # characters of an ignored message
NEW = "Nothing said so before."
KNOWN = "It was known already, and is confirmed."
MERGED_BY = "It takes the place of what said the same in other words."
REPLACED = "A newer statement takes its place: {text}"
DOUBTED = "It may hold no more; both are told until a curator decides: {text}"
NOTED_NOTHING = "The model noted nothing of it."
NOT_READ = "Only what people and agents say is read."
ANSWERED = "Of an answer, decisions alone are learned."
NOTHING_NEW = "What it states is known already, was taken away by a person, or its rule is switched off."
ASKS = "It asks, and states nothing."
HEARSAY = "It tells what others say."
NOT_MEANT = "It is not meant as it stands."
MOMENTARY = "It holds for the moment only."
BUSY = "Another worker learns from the session: this is stored, and learned from after that."
NOTHING_STATED = "It has no decision, no preference and no plain fact of a person's life."


SPOKEN = frozenset({Message.Role.USER, Message.Role.ASSISTANT})
REASONS = (
    (rules.SARCASTIC, NOT_MEANT),
    (rules.ASKS, ASKS),
    (phrases.QUESTION, ASKS),
    (phrases.SUPPOSED, NOT_MEANT),
    (phrases.PASSING, MOMENTARY),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a statement, or of a message of which nothing was learned, or is not yet."""

    action: Action
    text: Annotated[str, "Of the fact; of an ignored or pending message, its beginning."]
    reason: str
    fact_id: Annotated[UUID | None, "What was added, updated or superseded."] = None
    category: Annotated[str, "Empty for a message of which nothing was learned."] = ""
    person: Annotated[
        str, "Whom a plain fact of a life is about: a name, a relation, or user for who speaks."
    ] = ""
    message_id: Annotated[UUID | None, "The message that says it."] = None
    newer_id: Annotated[UUID | None, "Of a superseded fact: the one in its place."] = None


@dataclass(frozen=True)
class Remembered:
    """Stored messages, and what became of what they say; ``run`` is None where nothing was learned."""

    conversation_id: UUID
    session_id: str
    outcomes: Sequence[Outcome]
    run: ConsolidationRun | None = None

    @property
    def note(self) -> str:
        return self.run.note if self.run else ""


class RememberEngine:
    def remember(
        self, *, messages: Any, actor: Actor, branch_name: str = MAIN, session_id: str = ""
    ) -> Remembered:
        """Store messages at the end of a session's conversation, and learn from them before it answers.

        ``messages`` is a text of a person, or a list of texts and messages; one without a role is a
        person's. Without ``session_id`` a session of their own begins. Where a language model is set it is
        asked, otherwise rules read them. What another worker keeps from being learned from now is pending.
        Raises as ``MessageEngine.write_messages``.
        """
        actor = actor.with_origin(session_id=session_id or actor.session_id or f"remember-{uuid7()}")
        stored = MessageEngine().write_to(
            lambda: find_conversation(actor, branch_name).uid, read_messages(messages), actor, branch_name
        )
        session = get_session(actor, actor.session_id)
        run, hindrance = learn_if_possible(session)
        report = build_report(run) if run and run.commits else ConsolidationReport(run or ConsolidationRun())
        found = [*list_changed(report), *(list_superseded(session, run) if run else ())]
        learned = {evidence.id for change in report.changes for evidence in change.evidence}
        is_asked = run is not None and run.mode == ConsolidationRun.Mode.LLM
        left = [row for row in stored if row.uid not in learned]
        others = explain_others(left, is_asked, is_chat(session), hindrance)
        return Remembered(stored[0].conversation_id, actor.session_id, [*found, *others], run)


def read_messages(value: Any) -> list[Mapping[str, Any]]:
    """Return the messages of a text or list. Raises Invalid, TooLarge."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise Invalid("{field} must be a text, or a list with at least one message.", field="messages")
    if len(value) > MAX_MESSAGES:
        raise TooLarge(what="The list", limit=f"{MAX_MESSAGES} messages", field="messages")
    return [read_message(one) for one in value]


def read_message(value: Any) -> Mapping[str, Any]:
    """Return a message as it is stored; other products send texts, parts of a content, and names. Raises
    Invalid.
    """
    if isinstance(value, str):
        return {"role": Message.Role.USER.value, "content": value}
    if not isinstance(value, Mapping):
        raise Invalid("{field} must be texts, or messages with role and content.", field="messages")
    row = {"role": Message.Role.USER.value, **value}
    if isinstance(row.get("content"), list):
        row["content"] = join_parts(row["content"])
    if isinstance(name := row.pop("name", None), str) and name:
        row["metadata"] = {"name": name, **(row.get("metadata") or {})}
    return row


def join_parts(parts: Sequence[Any]) -> str:
    """Return the texts of a content that is a list of parts: pictures say nothing here."""
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def find_conversation(actor: Actor, branch_name: str) -> Conversation:
    """Return the open conversation of the actor's session, a new one where there is none."""
    engine = ConversationEngine()
    try:
        found = engine.get_conversation_by_session(
            session_id=actor.session_id, actor=actor, branch_name=branch_name
        )
    except NotFound:
        found = None
    if found is not None and found.status == Conversation.Status.ACTIVE:
        return found
    return engine.create_conversation(
        actor=actor, branch_name=branch_name, session_id=actor.session_id, agent_id=actor.agent_id
    )


def learn_if_possible(session: Session) -> tuple[ConsolidationRun | None, str]:
    """Learn from a session; where that cannot be now, return why: there is no room, or it is BUSY.

    The messages are stored: an error would have its caller send them again.
    """
    try:
        return learn_soon(session), ""
    except QuotaExceeded as error:
        return None, error.text
    except RunTaken:
        enqueue_learning(session)
        return None, BUSY


def learn_soon(session: Session) -> ConsolidationRun | None:
    """Learn from a session, as soon as no other worker does. Raises RunTaken."""
    for left in reversed(range(MAX_TRIES)):
        try:
            return learn_now(session, system_actor(session))
        except RunTaken:
            if not left:
                raise
            sleep(CLAIM_WAIT_SECONDS)
    return None


# ---- what became of them ---------------------------------------------------------------------------


def list_changed(report: ConsolidationReport) -> Iterator[Outcome]:
    """Yield the facts that a run made or confirmed."""
    for change in report.changes:
        is_new = change.action == CREATED
        reason = NEW if is_new else MERGED_BY if change.action == MERGED else KNOWN
        source = next((one.id for one in change.evidence if one.kind == FactLink.Target.MESSAGE), None)
        yield describe_fact(ADDED if is_new else UPDATED, change.fact, reason, message_id=source)


def list_superseded(session: Session, run: ConsolidationRun) -> Iterator[Outcome]:
    """Yield the older facts whose place those of a run take, or may take."""
    seqs = [seq for _branch, seq in list_own_seqs(run)]
    links = FactLink._base_manager.filter(branch=session.branch, seq_from__in=seqs, deleted=False)
    links = links.filter(link_type=FactLink.Type.CONTESTED_BY, valid_from__isnull=False)
    pairs = list(links.values_list("from_id", "to_id"))
    session.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Fact.objects.on(session.branch).fetch_by_key("uid", sorted(set(chain.from_iterable(pairs))))
    facts = {row.uid: row for row in rows}
    for older, newer in (pair for pair in pairs if facts.keys() >= set(pair)):
        text, old = facts[newer].fact_text, facts[older]
        reason = (REPLACED if replaces(text, old.fact_text) else DOUBTED).format(text=text)
        yield describe_fact(SUPERSEDED, old, reason, newer_id=newer)


def describe_fact(action: Any, fact: Fact, reason: str, **ids: UUID | None) -> Outcome:
    person = str(fact.metadata.get("person", ""))
    return Outcome(action, fact.fact_text, reason, fact.uid, fact.category, person, **ids)


def explain_others(
    rows: Iterable[Message], is_asked: bool, in_chat: bool, hindrance: str
) -> Iterator[Outcome]:
    """Yield the messages of which nothing was learned, with the reason; ``is_asked`` says that a model read
    them, ``hindrance`` why nobody did.
    """
    for row in rows:
        action = PENDING if hindrance == BUSY and row.role in SPOKEN else IGNORED
        unread = hindrance or (NOTED_NOTHING if is_asked else "")
        reason = (row.role in SPOKEN and unread) or explain_rules(row, in_chat)
        yield Outcome(action, row.content[:MAX_TEXT_LENGTH], reason, message_id=row.uid)


def explain_rules(row: Message, in_chat: bool) -> str:
    """Return why rules learn nothing from a message."""
    if row.role not in SPOKEN:
        return NOT_READ
    if next(rules.lessons(row.content, row.role == Message.Role.USER, is_chat=in_chat), None):
        return NOTHING_NEW
    if row.role == Message.Role.ASSISTANT:
        return ANSWERED
    for pattern, reason in REASONS:
        if pattern.search(row.content):
            return reason
    return HEARSAY if rules.is_hearsay(row.content) else NOTHING_STATED
