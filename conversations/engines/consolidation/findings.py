"""What a session taught: findings in its messages and observations, each with its source."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Any
from uuid import UUID

from conversations.engines.consolidation import rules
from conversations.engines.consolidation.answers import find_withdrawn_sources
from conversations.engines.consolidation.exclusions import find_consumed, read_runs
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.hearsay import OBLIGES, is_hearsay
from conversations.engines.consolidation.lasting import is_at_work
from conversations.engines.consolidation.matching import Texts
from conversations.engines.consolidation.repairs import ToolCalls, describe_repair
from conversations.engines.consolidation.repeated import find_repeated
from conversations.engines.consolidation.revised import EarlierDecisions, find_times
from conversations.engines.consolidation.sentence_score import score_sentence
from conversations.engines.consolidation.withdrawals import (
    Restatement,
    Withdrawal,
    is_withdrawal,
    read_restatement,
    read_withdrawal,
)
from conversations.models import Message
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.utterances import find_utterances
from memory.engines.statements.change_words import PERMITS
from memory.engines.statements.changing import announces_change, may_change
from memory.engines.statements.rewording import rewords
from memory.engines.statements.standing import changes, replaces
from memory.models import Fact, FactLink, Observation, Session
from memory.texts import add_taken_back, split_taken_back

MAX_ENTRIES = 5000  # messages and observations of one session that are read
MAX_LAST = 1000  # observations of a session that runs, among which repairs are looked for
PAGE_SIZE = 20  # messages that are read at once
MAX_LESSONS = 50  # of one message; more are hardly decisions
MIN_STATED = -1.5  # log-odds of a sentence that a person may take back
MIN_REVISING = -2.0  # of one that may change what an earlier prompt said
MAX_RECENT = 3  # last answers of an agent, by which a session is known to be at work
MIN_REVISING_NEAR = -1.0  # of one that may change a decision, of which no word says that something does
MAX_OPEN = 8  # further sentences of one prompt that are compared with older decisions
OPENING_WORDS = 3  # by which a sentence is found in its message
STATED = frozenset({Observation.Type.DECISION, Observation.Type.INSIGHT})
Type = Observation.Type


class SessionReader:
    """The findings of a session in sources that no fact was made of yet, and how much was read for them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.read_to = session.branch.head_at
        self.messages = self.observations = 0  # that no run had read before
        self.last: UUID | None = None  # message that was read
        self._since, self._withdrawn = read_runs(session.branch, session.key)

    def find_new(self) -> Iterator[Finding]:
        """Yield findings of sources that no run has consumed, message by message."""
        yield from self._find_said(None)
        calls = list_observed(self.session).lowest(MAX_ENTRIES, "uid")
        self.observations += self._count_new(calls)
        yield from self._drop_consumed([*_find_in_observations(calls), *find_repeated(self.session, calls)])

    def find_since(self, mark: UUID | None, *, awaits_answer: bool = False) -> Iterator[Finding]:
        """Yield findings of what came after a message, or all: what a session that runs said and did.

        Where an answer is awaited, the first prompt of an agent waits for it, unless it has the form of what
        holds on: only the answer shows whether the prompt ordered work. What is waited for is not read.
        """
        yield from self._find_said(mark, awaits_answer)
        if _has_telling(self.session, mark):
            calls = list_observed(self.session).newest(MAX_LAST)[::-1]
            yield from self._drop_consumed(_find_in_observations(calls))

    def count_new(self) -> None:
        """Count what no run has read, of the whole session."""
        rows = [
            self._spoken,
            Observation.objects.on(self.session.branch).filter_indexed(session_id=self.session.key),
        ]
        if self._since is not None:
            rows = [one.filter(updated_at__gt=self._since) for one in rows]
        self.messages, self.observations = (len(list(one.gather_values("uid"))) for one in rows)

    def iterate_unread(self) -> Iterator[Message]:
        """Yield the messages that no run has read yet and no fact was made of, page by page."""
        for rows in _read_pages(self._spoken):
            fresh = [row for row in rows if self._is_new(row) and row.content.strip()]
            consumed = self._find_consumed([row.uid for row in fresh])
            yield from (row for row in fresh if row.uid not in consumed)

    @property
    def _spoken(self) -> Any:
        messages = Message.objects.on(self.session.branch).filter(
            session_id=self.session.key, picked_from=None
        )
        return messages.filter(role__in=[Message.Role.USER, Message.Role.ASSISTANT])

    def _find_said(self, mark: UUID | None, awaits_answer: bool = False) -> Iterator[Finding]:
        session, previous = self.session, dict[str, str]()  # the last answer of each agent
        recent = defaultdict[str, deque[str]](lambda: deque(maxlen=MAX_RECENT))  # and those before it
        for rows in _read_pages(self._spoken, mark):
            self.messages += self._count_new(rows)
            consumed = self._find_consumed([row.uid for row in rows])
            for at, row in enumerate(rows):
                if mark and row.agent_id not in previous:
                    previous[row.agent_id], before = self._find_answers(row)
                    recent[row.agent_id].extend(before)
                if row.uid not in consumed:
                    is_compared = session.compared_to is not None and row.uid <= session.compared_to
                    later = [one for one in rows[at + 1 :] if one.agent_id == row.agent_id]
                    around = (*list_replies(later), *recent[row.agent_id])
                    found = list(self._find_in_message(row, previous.get(row.agent_id, ""), around))
                    is_first = awaits_answer and found and not later and not around
                    if is_first and not any(map(is_lasting, found)):
                        return
                    yield from (one for one in found if not (one.is_open and is_compared))
                self.last = row.uid
                is_answer = row.role == Message.Role.ASSISTANT
                previous[row.agent_id] = row.content if is_answer else ""
                recent[row.agent_id].extend([row.content] if is_answer else [])

    def _find_in_message(self, row: Message, previous: str, around: Sequence[str]) -> Iterator[Finding]:
        """Yield the findings of a message; of one that takes something back, that with what it takes back."""
        is_persons = row.role == Message.Role.USER
        taken = (
            read_withdrawal(row.content, previous) or read_restatement(row.content) if is_persons else None
        )
        found = list(_find_in_message(row, previous, around, is_chat(self.session)))
        older = self._find_laid_down(row, taken, found) if taken else ""
        if taken and older:
            at, kind = row.said_at or row.created_at, FactLink.Target.MESSAGE
            yield Finding(add_taken_back(taken.text, older), "decision", row.uid, kind, at, is_persons)
            found = [one for one in found if one.text not in taken.text and taken.text not in one.text]
        yield from found

    def _find_laid_down(self, row: Message, taken: Withdrawal | Restatement, own: Sequence[Finding]) -> str:
        """Return the last statement of the prompts before a message that it may take back, "" for none.

        One that itself takes back what nobody said is none.
        A restatement takes back nothing where one of the message's ``own`` findings changes something itself.
        """
        stated = list(self._list_before(row, taken.max_before))
        found = next((text for text in stated if taken.fits(text)), "")
        if isinstance(taken, Withdrawal):
            is_void = is_withdrawal(found) and not self._takes_back(found, stated)
            return "" if is_void else found
        if not found or any(alters(one, text) for one in own for text in stated):
            return ""
        decided = EarlierDecisions(self.session, Texts({})).find(one.text for one in own)
        is_told = any(alters(one, fact.fact_text) for one in own for fact in decided[one.text])
        return "" if is_told else found

    def _takes_back(self, text: str, stated: Iterable[str]) -> bool:
        """Return whether a text takes back one of the statements beside it, or an earlier decision."""
        decided = EarlierDecisions(self.session, Texts({})).find([text])[text]
        return any(changes(text, older) for older in (*stated, *(fact.fact_text for fact in decided)))

    def _list_before(self, row: Message, count: int) -> Iterator[str]:
        """Yield what the prompts among so many messages before one lay down, the last first."""
        before = self._spoken.filter(agent_id=row.agent_id).newest(count, row.uid)
        answers = [one.content if one.role == Message.Role.ASSISTANT else "" for one in before]
        for at, one in enumerate(before):
            if one.role == Message.Role.USER:
                previous = "".join(answers[at + 1 : at + 2])
                yield from list_stated(one.content, previous, is_chat(self.session), answers)

    def _find_answers(self, row: Message) -> tuple[str, list[str]]:
        """Return what the agent answered right before a message, "" where it did not, and what lately."""
        before = self._spoken.filter(agent_id=row.agent_id).newest(2 * MAX_RECENT, row.uid)
        answers = [one.content if one.role == Message.Role.ASSISTANT else "" for one in before]
        return "".join(answers[:1]), list(filter(None, reversed(answers)))

    def _drop_consumed(self, found: Iterable[Finding]) -> Iterator[Finding]:
        observed = list(found)
        consumed = self._find_consumed([uid for finding in observed for uid in finding.sources])
        yield from (finding.without(consumed) for finding in observed if finding.source not in consumed)

    def _is_new(self, row: Any) -> bool:
        return self._since is None or row.updated_at > self._since

    def _count_new(self, rows: Sequence[Any]) -> int:
        return sum(map(self._is_new, rows))

    def _find_consumed(self, sources: Sequence[UUID]) -> set[UUID]:
        """Return the sources that a visible link shows as consumed, or whose facts a person took away."""
        consumed = find_consumed(FactLink.objects.on(self.session.branch), sources)
        return consumed | find_withdrawn_sources(self._withdrawn, sources)


def _read_pages(rows: Any, after: UUID | None = None) -> Iterator[list[Message]]:
    """Yield the first MAX_ENTRIES messages, or those after one, in pages: each may have a mebibyte."""
    for _ in range(MAX_ENTRIES // PAGE_SIZE):
        page = rows.lowest(PAGE_SIZE, "uid", after)
        if page:
            yield page
            after = page[-1].uid
        if len(page) < PAGE_SIZE:
            return


def list_observed(session: Session) -> Any:
    return Observation.objects.on(session.branch).filter_indexed(session_id=session.key)


def _has_telling(session: Session, mark: UUID | None) -> bool:
    """Return whether an observation after a message may say something."""
    telling = list_observed(session).filter(observation_type__in=[*STATED, Type.DISCOVERY])
    return bool(telling.lowest(1, "uid", mark))


def is_chat(session: Session) -> bool:
    """Return whether a session belongs to no repository."""
    return not session.project_path


def list_replies(later: Iterable[Message]) -> list[str]:
    """Return what an agent answered to a message, of those that it exchanged behind it."""
    return [one.content for one in takewhile(lambda one: one.role == Message.Role.ASSISTANT, later)]


def is_lasting(one: Finding) -> bool:
    """Return whether a finding has the form of what holds on, or takes something back."""
    own, taken_back = split_taken_back(one.text)
    return bool(taken_back) or rules.may_hold(own)


def _find_in_message(row: Message, previous: str, around: Sequence[str], in_chat: bool) -> Iterator[Finding]:
    at, is_persons = row.said_at or row.created_at, row.role == Message.Role.USER
    lessons = list(islice(rules.lessons(row.content, is_persons, previous, in_chat, around), MAX_LESSONS))
    found = [(lesson.text, lesson.category, False) for lesson in lessons]
    is_working = is_persons and is_at_work(row.content, in_chat, (previous, *around))
    if is_persons:
        rest = rules.read_rest(row.content, [lesson.text for lesson in lessons])
        bound = (OBLIGES, PERMITS)
        stating = (text for text in rest if may_change(text) or any(one.search(text) for one in bound))
        found += [(text, "decision", True) for text in islice(stating, MAX_OPEN)]
        found.sort(key=lambda one: find_position(one[0], row.content))
    for text, category, is_open in found:
        yield Finding(text, category, row.uid, FactLink.Target.MESSAGE, at, is_persons, is_open, is_working)


def list_stated(text: str, previous: str, in_chat: bool = False, around: Sequence[str] = ()) -> list[str]:
    """Return what a prompt lays down, the last first; of another one, what may state something."""
    is_working = is_at_work(text, in_chat, (previous, *around))
    found = [lesson.text for lesson in rules.lessons(text, True, previous, in_chat, around)]
    rest = (one for one in rules.read_rest(text, found, is_working) if score_sentence(one) >= MIN_STATED)
    return (found or list(rest))[::-1]


def find_position(text: str, content: str) -> int:
    """Return about where a message says a text, by its first words; 0 where the message has it otherwise."""
    return max(content.find(" ".join(text.split()[:OPENING_WORDS])), 0)


def drop_open(
    earlier: EarlierDecisions, found: Sequence[Finding], overruled: Mapping[str, Sequence[Finding]]
) -> list[Finding]:
    """Return the findings without those that change no decision, and lay nothing down by themselves.

    Only what was said before can be changed; what changes an earlier prompt, one of ``overruled``, shows that
    both laid something down.
    """
    if not any(finding.is_open for finding in found):
        return list(found)
    changed = list_changed(earlier, [finding for finding in found if finding.is_open])
    times = find_times(earlier.session, [fact for facts in changed.values() for fact in facts])
    kept: list[Finding] = []
    for one in found:
        is_told = any(one.said_at and times[fact.uid] <= one.said_at for fact in changed.get(one.text, ()))
        stated = [(other.text, other.said_at) for other in kept if other.is_statement]
        is_telling = is_told or is_change(one, stated) or revises_prompt(one, overruled.get(one.text, ()))
        if not one.is_open or is_telling:
            kept.append(one)
    return kept


def drop_reworded(
    earlier: EarlierDecisions, found: Sequence[Finding], leaders: Mapping[str, str]
) -> list[Finding]:
    """Return the findings without an agent's statements that would be facts of their own, those that are
    ``leaders``, and say a person's over again in other words.
    """
    own_facts = [one for one in found if leaders.get(one.text) == one.text]
    echoing = [one for one in own_facts if one.is_statement and not one.is_persons]
    if not echoing:
        return list(found)
    decided = earlier.find(one.text for one in echoing)
    heard = find_utterances(
        (fact for facts in decided.values() for fact in facts), earlier.session.branch.lineage()
    )
    persons = {uid for uid, one in heard.items() if one.speaker == Utterance.PERSON}
    own = [one.text for one in found if one.is_persons]
    known = {
        text: [fact.fact_text for fact in facts if fact.uid in persons] for text, facts in decided.items()
    }
    repeated = {text for text, others in known.items() if any(rewords(text, one) for one in (*own, *others))}
    return [one for one in found if one not in echoing or one.text not in repeated]


def list_changed(earlier: EarlierDecisions, found: Sequence[Finding]) -> dict[str, list[Fact]]:
    """Return the decisions that each finding changes by the rules, or is near to, by its text."""
    decided = earlier.find(one.text for one in found)
    changed = {one.text: [fact for fact in decided[one.text] if alters(one, fact.fact_text)] for one in found}
    near = [one.text for one in found if not is_step(one) and may_revise_near(one.text)]
    near = [text for text in near if OBLIGES.search(text) or (may_change(text) and not is_hearsay(text))]
    for text, facts in earlier.find_near(near).items():
        changed[text] += facts
    return changed


def is_step(one: Finding) -> bool:
    """Return whether a finding has only the form of a step of work: most of what it may change by the rules
    is a report, so it is learned only where it takes a decision's place.
    """
    return one.is_open and one.is_working and not rules.may_hold(one.text)


def alters(one: Finding, older: str) -> bool:
    """Return whether a finding changes an earlier text by the rules; a step has to take its place."""
    return replaces(one.text, older) if is_step(one) else changes(one.text, older)


def may_revise_near(text: str) -> bool:
    """Return whether a sentence is learned where a decision is about the same, though no rule sees what of
    it changes: where it says that something does less makes it a statement.
    """
    return score_sentence(text) >= (MIN_REVISING if announces_change(text) else MIN_REVISING_NEAR)


def is_change(one: Finding, stated: Iterable[tuple[str, datetime | None]]) -> bool:
    """Return whether a finding changes one of the texts that were said before it."""
    return any(at and one.said_at and at <= one.said_at and alters(one, text) for text, at in stated)


def revises_prompt(one: Finding, others: Iterable[Finding]) -> bool:
    """Return whether a finding replaces one of what it changes, or states enough to cast doubt on it."""
    states = score_sentence(one.text) >= MIN_REVISING
    return any(states or replaces(one.text, other.text) for other in others)


def _find_in_observations(rows: Sequence[Observation]) -> Iterator[Finding]:
    calls = ToolCalls(rows)
    for index, row in enumerate(rows):
        if row.observation_type in STATED:
            yield Finding(row.summary, row.observation_type, row.uid, FactLink.Target.OBSERVATION)
        elif row.observation_type == Type.DISCOVERY and (text := describe_repair(calls, index)):
            yield Finding(text, "bug_fix", row.uid, FactLink.Target.OBSERVATION)
