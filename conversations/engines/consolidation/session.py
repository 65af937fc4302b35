"""Consolidation of a session: its decisions and repairs become facts, by rule."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.db.models import Q

from conversations.engines.consolidation import rules
from conversations.engines.consolidation.repairs import ToolCalls, describe_repair
from conversations.engines.consolidation.revised import (
    Comparison,
    Statement,
    compare_texts,
    find_changed,
    link_revised,
)
from conversations.engines.consolidation.sentences import sentences
from conversations.engines.learning import choose_rule
from conversations.models import Message
from memory.actors import Actor
from memory.db.retry import retry_methods
from memory.engines.facts.batch import FactBatch
from memory.engines.sessions.utterances import DECIDED
from memory.engines.support.revision_rules import may_revise, revises
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.policies import Write
from memory.models import Fact, FactLink, Observation, Project, RecallLog, Session
from memory.queue.producer import enqueue
from memory.texts import BEFORE

MAX_ENTRIES = 5000  # messages and observations of one session that are read
PAGE_SIZE = 20  # messages that are read at once
MAX_LESSONS = 50  # of one message; more are hardly decisions
MAX_OPEN = 8  # further sentences of one prompt that are compared with older decisions
OPENING_WORDS = 3  # by which a sentence is found in its message
MAX_PIECE = 100  # findings in one commit, so that other writers wait for one piece only
MAX_PIECES = 20  # in one task, so that other tasks get their turn
STATED = frozenset({Observation.Type.DECISION, Observation.Type.INSIGHT})
CONFIDENCE = 0.7
Type, Link = Observation.Type, FactLink.Type


@dataclass(frozen=True)
class Finding:
    """A fact to write, and the message or observation that it comes from."""

    text: str
    category: str
    source: UUID
    to_type: str
    said_at: datetime | None = None
    is_persons: bool = False
    is_open: bool = False  # learned only where it changes a decision

    @property
    def is_statement(self) -> bool:
        """Return whether it says what was decided, so that it may take an older statement's place."""
        return self.said_at is not None and self.category in DECIDED

    @property
    def rule(self) -> str:
        return choose_rule(self.category, self.to_type)

    def fact(self) -> dict[str, Any]:
        observed = self.to_type == FactLink.Target.OBSERVATION
        kind = Fact.SourceType.OBSERVATION if observed else Fact.SourceType.CONSOLIDATION
        return {
            "fact_text": self.text,
            "category": self.category,
            "confidence": CONFIDENCE,
            "source_type": kind.value,
            "source_id": str(self.source),
        }

    def link(self, fact: Fact) -> FactLink:
        observed = self.to_type == FactLink.Target.OBSERVATION
        kind = Link.DERIVED_FROM if observed else Link.CONSOLIDATED_FROM
        return FactLink(
            from_id=fact.uid,
            to_id=self.source,
            to_type=self.to_type,
            link_type=kind,
            session_id=fact.session_id,
            task_id=fact.task_id,
            agent_id=fact.agent_id,
        )


@retry_methods
class SessionConsolidation:
    """The consolidator of sessions, for DAY1["consolidator"]."""

    def consolidate_session(self, *, session: Session, actor: Actor) -> int:
        """Write facts of a session's decisions and repairs; return how many are new.

        A source that was consumed once is skipped, whatever became of its fact; texts that Day1 itself gave
        the session are not learned. The texts are read outside of any transaction; every MAX_PIECE findings
        are a commit, with all findings of a message or observation. Beyond MAX_PIECES another task is queued.
        Sentences that are learned only where they change a decision are compared once, whatever comes of it.
        """
        actor.require_scope("write", session.branch.name)
        spoken = rules.Spoken(_list_known_texts(session))
        off = set(Project.objects.get(pk=session.project_id).rules_off)
        count = pieces = 0
        for piece in _split_findings(_find_new(session)):
            if pieces == MAX_PIECES:
                enqueue("memory.consolidate", session.pk)
                break
            candidates = [one for one in piece if one.rule not in off and not spoken.says(one.text)]
            if news := _drop_open(session, candidates):
                count += self._commit_findings(session, news, actor)
            _mark_compared(session, piece)
            pieces += bool(candidates)
        return count

    @staticmethod
    def _commit_findings(session: Session, news: Sequence[Finding], actor: Actor) -> int:
        """Write findings in one commit, without sources that were consumed or erased meanwhile."""
        comparison = compare_texts(session, [finding.text for finding in news if finding.is_statement])
        with open_commit(actor, session.branch.name, "consolidate.session", write=Write.EXTRACT) as commit:
            sources = [finding.source for finding in news]
            consumed = _find_consumed(commit.visible_rows(FactLink), sources)
            erased = erased_uids(session.project_id, {*sources, *comparison.uids})
            consumed |= erased
            left = [finding for finding in news if finding.source not in consumed]
            return _write_findings(commit, left, comparison.without(erased), actor) if left else 0


def _split_findings(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """Yield lists of at most MAX_PIECE findings, never splitting those of one source."""
    piece: list[Finding] = []
    for _, own in groupby(findings, lambda finding: finding.source):
        batch = list(islice(own, MAX_PIECE))
        if piece and len(piece) + len(batch) > MAX_PIECE:
            yield piece
            piece = []
        piece += batch
    if piece:
        yield piece


def _find_new(session: Session) -> Iterator[Finding]:
    """Yield findings of sources that no fact was made from yet, message by message."""
    links = FactLink.objects.on(session.branch)
    messages = Message.objects.on(session.branch).filter(session_id=session.key)
    spoken = messages.filter(role__in=[Message.Role.USER, Message.Role.ASSISTANT])
    previous: dict[UUID, str] = {}  # what the agent answered last in each conversation
    for rows in _read_pages(spoken):
        consumed = _find_consumed(links, [row.uid for row in rows])
        for row in rows:
            if row.uid not in consumed:
                is_compared = session.compared_to is not None and row.uid <= session.compared_to
                found = _find_in_message(row, previous.get(row.conversation_id, ""))
                yield from (one for one in found if not (one.is_open and is_compared))
            previous[row.conversation_id] = row.content if row.role == Message.Role.ASSISTANT else ""
    observed = list(_find_in_observations(session))
    consumed = _find_consumed(links, [finding.source for finding in observed])
    yield from (finding for finding in observed if finding.source not in consumed)


def _read_pages(rows: Any) -> Iterator[list[Message]]:
    """Yield the first MAX_ENTRIES messages in pages: each may have a mebibyte."""
    page = rows.lowest(PAGE_SIZE, "uid")
    for _ in range(MAX_ENTRIES // PAGE_SIZE):
        if page:
            yield page
            page = rows.lowest(PAGE_SIZE, "uid", page[-1].uid)


def _find_in_message(row: Message, previous: str) -> Iterator[Finding]:
    at, is_persons = row.said_at or row.created_at, row.role == Message.Role.USER
    lessons = list(islice(rules.lessons(row.content, is_persons, previous), MAX_LESSONS))
    found = [(lesson.text, lesson.category, False) for lesson in lessons]
    if is_persons:
        rest = rules.read_rest(row.content, [lesson.text for lesson in lessons])
        found += [(text, "decision", True) for text in islice(filter(may_revise, rest), MAX_OPEN)]
        found.sort(key=lambda one: find_position(one[0], row.content))
    for text, category, is_open in found:
        yield Finding(text, category, row.uid, FactLink.Target.MESSAGE, at, is_persons, is_open)


def find_position(text: str, content: str) -> int:
    """Return about where a message says a text, by its first words; 0 where the message has it otherwise."""
    return max(content.find(" ".join(text.split()[:OPENING_WORDS])), 0)


def _drop_open(session: Session, found: Sequence[Finding]) -> list[Finding]:
    """Return the findings without those that change no decision, and lay nothing down by themselves.

    Only what was said before can be changed.
    """
    texts = [finding.text for finding in found if finding.is_open]
    if not texts:
        return list(found)
    changed = find_changed(session, texts)
    kept: list[Finding] = []
    for one in found:
        stated = [(other.text, other.said_at) for other in kept if other.is_statement]
        if not one.is_open or any(
            at and one.said_at and at <= one.said_at and revises(one.text, text)
            for text, at in (*changed[one.text], *stated)
        ):
            kept.append(one)
    return kept


def _mark_compared(session: Session, piece: Sequence[Finding]) -> None:
    """Store up to which message further sentences were compared, so that none is compared again."""
    if opened := [finding.source for finding in piece if finding.is_open]:
        session.compared_to = opened[-1]
        Session.objects.filter(pk=session.pk).update(compared_to=session.compared_to)


def _find_in_observations(session: Session) -> Iterator[Finding]:
    rows = (
        Observation.objects.on(session.branch)
        .filter_indexed(session_id=session.key)
        .lowest(MAX_ENTRIES, "uid")
    )
    calls = ToolCalls(rows)
    for index, row in enumerate(rows):
        if row.observation_type in STATED:
            yield Finding(row.summary, row.observation_type, row.uid, FactLink.Target.OBSERVATION)
        elif row.observation_type == Type.DISCOVERY and (text := describe_repair(calls, index)):
            yield Finding(text, "bug_fix", row.uid, FactLink.Target.OBSERVATION)


# ---- exclusions --------------------------------------------------------------------------------


def _find_consumed(links: Any, sources: Sequence[UUID]) -> set[UUID]:
    """Return the sources that a visible link shows as consumed already."""
    requested = list(dict.fromkeys(sources))
    consumed: set[UUID] = set()
    for start in range(0, len(requested), 500):
        found = links.filter(
            Q(link_type=Link.DERIVED_FROM) | Q(link_type=Link.CONSOLIDATED_FROM),
            to_id__in=requested[start : start + 500],
        )
        consumed |= {row.to_id for row in found.fetch_all()}
    return consumed


def _list_known_texts(session: Session) -> list[str]:
    """Return the texts that Day1 gave this session: at its start, with prompts, and as search results.

    What it gave as holding no more is none of them: a person who says it again goes back to it.
    """
    recalls = RecallLog.objects.filter(project=session.project_id, session_id=session.key)
    ids = {UUID(uid) for recall in recalls.order_by("-id")[:500] for uid in recall.fact_ids}
    ids |= {UUID(uid) for found in session.recalled.values() for uid in found}
    texts = [line for line in session.context.splitlines() if not line.startswith(BEFORE)]
    requested = sorted(ids)
    for start in range(0, len(requested), 500):
        facts = Fact.objects.on(session.branch).filter(uid__in=requested[start : start + 500]).fetch_all()
        texts += [fact.fact_text for fact in facts]
        messages = Message.objects.on(session.branch).filter(uid__in=requested[start : start + 500])
        texts += [sentence for row in messages.fetch_all() for sentence in sentences(row.content)]
    return texts


def _write_findings(
    commit: CommitWriter, found: Sequence[Finding], comparison: Comparison, actor: Actor
) -> int:
    batch = FactBatch([finding.fact() for finding in found], actor, Fact.Status.ACTIVE, deduplicate=True)
    written = batch.write_facts(commit)
    links = {}
    for finding, result in zip(found, written, strict=True):
        links[(result.fact.uid, finding.source)] = finding.link(result.fact)
    commit.add_rows(list(links.values()))
    pairs = zip(found, written, strict=True)
    link_revised(
        commit,
        [
            Statement(result.fact, one.text, one.said_at, one.is_persons)
            for one, result in pairs
            if one.said_at and one.text in comparison.disagreeing
        ],
        comparison,
    )
    return sum(result.created for result in written)
