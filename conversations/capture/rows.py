"""Rows of hook events, collected and then written in few statements."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from conversations.capture import text_cleaning
from conversations.capture.events import HookEvent, clean_id, clean_text
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine, build_message
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.sessions.context import find_session
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import EarlierCalls, ObservationEngine, build_observation
from memory.engines.sessions.open_sessions import note_key
from memory.engines.sessions.tool_calls import as_text
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.lookup import find_branch, select_tombstones
from memory.models import Branch, Observation, Session
from memory.models.hashes import content_hash

BEGINS = frozenset({"SessionStart", "UserPromptSubmit", "Test"})  # these resume an ended session
MAX_SESSION_BYTES = 64 * 1024 * 1024  # bytes of long texts that one session may store in full
MAX_COMPACTION_MESSAGES = 500  # messages from one compaction
Role = Message.Role
SPOKEN = frozenset({Role.USER, Role.ASSISTANT})


@dataclass(frozen=True)
class StoredEvent:
    """The last event with what its transaction has read and written, so that its answer asks for nothing
    again: the session, the branch, and the message that it became. None where it was stored before.
    """

    event: HookEvent
    session: Session | None = None
    branch: Branch | None = None
    message: Message | None = None

    def load_session(self, actor: Actor) -> Session | None:
        return self.session or find_session(actor.project_id, self.event.session)

    def load_lineage(self, actor: Actor, branch_name: str) -> Lineage:
        return (self.branch or find_branch(actor, branch_name)).lineage()

    def name_prompt(self, session: Session) -> str:
        """Return the id of the session's last prompt, which is kept with what came with it; "" for none."""
        own, branch = self.message, self.branch
        if own and branch and branch.pk == session.branch_id and own.role == Message.Role.USER:
            return str(own.uid)
        prompts = Message.objects.on(session.branch).filter(session_id=session.key, role=Message.Role.USER)
        return "".join(str(row.uid) for row in prompts.newest(1))


class EventRows:
    """Rows of the events of one commit. Call ``take`` for each in order, then ``write``.

    ``late`` events resume nothing: their session may have ended since.
    """

    def __init__(self, commit: CommitWriter, actor: Actor, late: bool = False) -> None:
        self.commit, self.actor = commit, actor
        self.begins = frozenset() if late else BEGINS
        self.newest: Message | None = None  # what the last event became
        self.conversations: dict[tuple[str, str], Conversation | None] = {}
        self.used: dict[UUID, Conversation] = {}  # a session's agent may have messages in several
        self.messages: dict[UUID, list[Message]] = {}
        self.observations: list[Observation] = []
        self._sessions: dict[str, Session] = {}
        self._agents: dict[tuple[str, str, str], Actor] = {}
        self._long: Counter[str] = Counter()  # bytes of long texts, by session

    def take(self, event: HookEvent) -> None:
        who = self._name_agent(event)
        self.newest = None
        if event.name in self.begins:  # before its session is written: it was read ahead
            self._find_conversation(event, who)
        if not self._open_session(event):
            return
        if event.name in ("SessionStart", "SubagentStart"):
            self._open_conversation(event, who)
        elif event.name == "UserPromptSubmit":
            self._add_text(event, who, Role.USER, event.prompt)
        elif event.name in ("Stop", "SubagentStop"):
            self._add_text(event, who, Role.ASSISTANT, event.answer)
        elif event.name == "Test":  # consolidation and recall read no message of this role
            self._add_text(event, who, Role.SYSTEM, event.prompt)
        elif event.name == "PreCompact":
            self._add_missing_texts(event, who)
        elif event.name == "StopFailure":
            self._note_failure(event, who)
        elif event.name in ("PostToolUse", "PostToolUseFailure") and not text_cleaning.is_own_call(
            event.tool, event.input
        ):
            self._add_tool_call(event, who)

    def _name_agent(self, event: HookEvent) -> Actor:
        """Return the actor of an event, mostly the same as of the event before."""
        own = (event.session, event.client, event.agent)
        if own not in self._agents:
            self._agents[own] = get_event_actor(self.actor, event)
        return self._agents[own]

    def write(self) -> None:
        calls = EarlierCalls(self.commit, self.observations)  # read before anything is written
        for uid, rows in self.messages.items():
            MessageEngine().add(self.commit, self.used[uid], rows)
        if self.observations:
            ObservationEngine().add_observations(self.commit, self.observations, calls)
        for key, size in self._long.items():
            Session.objects.filter(pk=self._sessions[key].pk).update(captured=F("captured") + size)

    def describe(self, event: HookEvent) -> StoredEvent:
        """Return the last event that was taken, as it is stored."""
        return StoredEvent(event, self._sessions.get(event.session), self.commit.branch, self.newest)

    def list_telling(self) -> list[Session]:
        """Return the sessions in which something was said, or repaired, that may be learned."""
        spoken = (row for rows in self.messages.values() for row in rows if row.role in SPOKEN)
        found = (row for row in self.observations if row.observation_type == Observation.Type.DISCOVERY)
        keys = dict.fromkeys(row.session_id for row in (*spoken, *found))
        return [self._sessions[key] for key in keys if key in self._sessions]

    # ---- sessions and conversations ------------------------------------------------------------

    def _open_session(self, event: HookEvent) -> bool:
        """Create or find the session of an event; return False for one that was erased or deleted.

        It is read under the lock of the branch, which an erasure waits for: it takes nothing more afterwards.
        """
        manager = SessionManager()
        if event.session not in self._sessions:
            who = replace(self.actor, agent_id=self.actor.bound_agent or event.client)
            self._sessions[event.session] = manager.get_or_create(
                session_id=event.session,
                actor=who,
                branch_name=self.commit.branch.name,
                project_path=get_project_path(event),
            )
            self.commit.touch_session(event.session)
        session = self._sessions[event.session]
        if session.erased_at or session.deleted_at:
            return False
        note_key(session, self.actor)
        if event.name in self.begins and session.status != Session.Status.ACTIVE:
            self._sessions[event.session] = manager.resume_session(session_id=event.session, actor=self.actor)
        return True

    def _open_conversation(self, event: HookEvent, who: Actor) -> Conversation:
        """Return the newest conversation of the session and agent that is no fork.

        A resumed session gets a new one.
        """
        known, pair = self._find_conversation(event, who), (event.session, who.agent_id)
        if known is None or (event.name in self.begins and known.status != Conversation.Status.ACTIVE):
            title = " ".join(filter(None, ["Subagent" if event.agent else "", event.agent_type]))
            known = ConversationEngine().begin(self.commit, who, title=title[:300], model=event.model)
        self.conversations[pair] = self.used[known.uid] = known
        return known

    def _find_conversation(self, event: HookEvent, who: Actor) -> Conversation | None:
        pair = (event.session, who.agent_id)
        if pair not in self.conversations:
            rows = filter_conversations(self.commit.visible_rows(Conversation), event, who)
            self.conversations[pair] = next(iter(rows.newest(1)), None)
        return self.conversations[pair]

    # ---- messages and observations -------------------------------------------------------------

    def _add_text(self, event: HookEvent, who: Actor, role: str, text: str) -> None:
        strip = text_cleaning.strip_prompt if role == Role.USER else text_cleaning.strip_answer
        content = self._limit_text(event, text_cleaning.cut_middle(strip(clean_text(text))))
        if content:
            model = event.model if role == Role.ASSISTANT else ""
            self._add_message(event, who, role=role, content=content, model=model)

    def _limit_text(self, event: HookEvent, text: str) -> str:
        """Return the text; cut in the middle where the session has exceeded its limit."""
        size = len(text.encode())
        if size <= text_cleaning.LONG_TEXT_BYTES:
            return text
        if self._sessions[event.session].captured + self._long[event.session] >= MAX_SESSION_BYTES:
            return text_cleaning.cut_middle(text, text_cleaning.LONG_TEXT_BYTES)
        self._long[event.session] += size
        return text

    def _add_missing_texts(self, event: HookEvent, who: Actor) -> None:
        """Store the assistant's texts between tool calls that are missing: no other event has them."""
        clean = [
            text_cleaning.cut_middle(text_cleaning.strip_answer(clean_text(as_text(part))))
            for part in event.transcript[:MAX_COMPACTION_MESSAGES]
        ]
        by_hash = {content_hash(text): text for text in clean if text}
        cut = {
            key: content_hash(text_cleaning.cut_middle(text, text_cleaning.LONG_TEXT_BYTES))
            for key, text in by_hash.items()
        }
        own = {"session_id": event.session, "role": Role.ASSISTANT}
        stored = self.commit.visible_rows(Message).filter(**own, content_hash__in=[*by_hash, *cut.values()])
        known = {known for (known,) in stored.gather_values("content_hash")}
        gone = select_tombstones(self.commit.lineage, Message).filter(**own)
        known |= set(gone.values_list("content_hash", flat=True))
        known |= {row.content_hash for rows in self.messages.values() for row in rows}
        for key, text in by_hash.items():
            if known.isdisjoint((key, cut[key])):  # neither in full nor as `_limit_text` had to store it
                content = self._limit_text(event, text)
                self._add_message(event, who, role=Role.ASSISTANT, content=content, model=event.model)

    def _add_message(self, event: HookEvent, who: Actor, **fields: Any) -> Message:
        conversation = self._open_conversation(event, who)
        metadata: dict[str, Any] = {"client": event.client, "prompt_id": clean_id(event.prompt_id)}
        metadata |= {"duration_ms": event.duration_ms}
        metadata = {name: value for name, value in metadata.items() if value not in ("", None)}
        said_at = min(event.said_at, timezone.now()) if event.said_at else None
        row = build_message({**fields, "metadata": metadata, "said_at": said_at}, who)
        self.messages.setdefault(conversation.uid, []).append(row)
        self.newest = row
        return row

    def _add_tool_call(self, event: HookEvent, who: Actor) -> None:
        failed = event.name == "PostToolUseFailure"
        arguments, output = clean_text(event.input), clean_text(event.error if failed else event.output)
        call = {"id": clean_id(event.call), "name": event.tool, "input": text_cleaning.cut_texts(arguments)}
        content = self._limit_text(
            event, text_cleaning.cut_middle(text_cleaning.strip_injected(text_cleaning.read_output(output)))
        )
        message = self._add_message(event, who, role=Role.TOOL_RESULT, content=content, tool_calls=[call])
        content = message.content  # without what only its parts together tell to be a secret
        result = text_cleaning.with_status(output, content, event.client)
        if failed:
            result = {"error": content or "failed", "interrupted": event.interrupted}
        fields = {
            "tool_name": event.tool or "tool",
            "raw_input": arguments,
            "message_id": message.uid,  # which has the output
            "raw_output": result,
        }
        self.observations.append(build_observation(fields, who, is_clean=True))

    def _note_failure(self, event: HookEvent, who: Actor) -> None:
        """Record a failed turn as an observation: it is no answer of the assistant."""
        reasons = [clean_text(part).strip() for part in (event.error, event.details or event.answer)]
        summary = f"The turn failed: {': '.join(filter(None, reasons)) or 'no reason given'}"
        fields = {"summary": summary, "observation_type": "error", "outcome": Observation.Outcome.ERROR.value}
        self.observations.append(build_observation(fields, who))


def filter_conversations(rows: VersionedQuerySet, event: HookEvent, who: Actor) -> VersionedQuerySet:
    """Return the conversations of an event's session and agent that are no forks."""
    return rows.filter(session_id=event.session, agent_id=who.agent_id, parent_conversation_id=None)


def get_project_path(event: HookEvent) -> str:
    """Return where the session works; a test works nowhere, or the next session there would follow it."""
    return "" if event.name == "Test" else str(clean_text(event.root or event.cwd))[:1000]


def get_event_actor(actor: Actor, event: HookEvent) -> Actor:
    """Return the actor as this session's agent: the key's bound agent, else the program.

    A subagent follows after a slash.
    """
    base = actor.bound_agent or event.client
    agent = f"{base}/{event.agent}" if event.agent else base
    return replace(actor, session_id=event.session, agent_id=agent[:200], bound_agent="")
