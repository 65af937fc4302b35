"""Consolidation of a session: its decisions and repairs become facts, by rule."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import NamedTuple
from uuid import UUID

from conversations.engines.consolidation.echoes import Spoken
from conversations.engines.consolidation.exclusions import (
    find_consumed,
    list_known_texts,
    list_recalled_ids,
)
from conversations.engines.consolidation.extraction import PROMPT, Extraction, ModelCosts, find_extraction
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.findings import (
    SessionReader,
    drop_open,
    drop_reworded,
    is_chat,
)
from conversations.engines.consolidation.judging import request_verdicts
from conversations.engines.consolidation.matching import Texts, find_same, read_texts
from conversations.engines.consolidation.overruled import find_overruled
from conversations.engines.consolidation.revised import Comparison, EarlierDecisions, compare_texts
from conversations.engines.consolidation.runs import (
    drop_run,
    is_empty,
    list_own_seqs,
    open_run,
    set_values,
    show_progress,
    store_commit,
)
from conversations.engines.consolidation.writing import FindingWriter, choose_leaders
from conversations.engines.instructions import find_instructions
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.db.raw_select import select_equal
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.sessions.utterances import LEARNED
from memory.engines.support.model_budgets import paid_by
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.policies import Write
from memory.models import Commit, Fact, FactLink, Project, Session
from memory.queue.producer import enqueue

MAX_COMMIT_FINDINGS = 100  # in one commit, so that other writers wait for one piece only
MAX_COMPARISONS = 4  # of a piece, while other sessions are learned from at the same time
MAX_PIECES = 20  # in one task, so that other tasks get their turn
REST_QUEUED = "The rest is queued."
REST_UNREAD = "Only the first findings were tried: a run queues the rest."
ASKS_NO_MODEL = "A dry run asks no language model: rules read all of it."
KIND = "consolidate.session"


class Outpaced(Exception):
    """Another session was learned from since the texts were compared: it may have said the same."""


class Piece(NamedTuple):
    """Findings of one commit, and their texts to compare."""

    found: Sequence[Finding]
    texts: Texts


class SessionConsolidation:
    """The consolidator of sessions, for DAY1["consolidator"]."""

    def consolidate_session(self, *, session: Session, actor: Actor) -> int:
        """Write facts of a session's decisions and repairs; return how many are new.

        A run that read nothing new and changed nothing leaves no trace. Raises Conflict while another worker
        has the session.
        """
        actor.require_scope("write", session.branch.name)
        with open_run(session.branch, ConsolidationRun.Level.SESSION, session.key, actor) as run:
            run_session(session, run, actor)
        if is_empty(run):
            drop_run(run)
        return run.created

    def learn_running(self, *, session: Session, actor: Actor) -> int:
        """Write facts of what a session decided and repaired since the last time, by rules, while it runs;
        return how many are new. Raises as ``consolidate_session``.
        """
        actor.require_scope("write", session.branch.name)
        run = learn_since(session, actor, awaits_answer=not is_chat(session))
        return run.created if run else 0


@dataclass(frozen=True)
class SessionSource:
    """What was read of a session: its new findings in pieces, and how much was read for them."""

    session: Session
    pieces: Sequence[Piece]
    reader: SessionReader
    costs: ModelCosts
    recalled: frozenset[UUID]
    is_whole: bool = True  # nothing is left for another run

    def join_pieces(self) -> Piece:
        """Return all pieces as one."""
        found = [one for piece in self.pieces for one in piece.found]
        words = {text: words for piece in self.pieces for text, words in piece.texts.words.items()}
        vectors = {text: data for piece in self.pieces for text, data in piece.texts.vectors.items()}
        model = next((piece.texts.model for piece in self.pieces if piece.texts.model), "")
        return Piece(found, Texts(words, vectors, model))


@dataclass(frozen=True)
class PiecePlan:
    """What is written of a piece: compared with what is stored, without a transaction.

    ``head`` is the branch's last commit that was compared.
    """

    head: int
    news: Sequence[Finding]
    same: Mapping[str, Fact]
    leaders: Mapping[str, str]
    comparison: Comparison


def run_session(session: Session, run: ConsolidationRun, actor: Actor) -> None:
    """Read a session and write what it taught, for a run that has it alone; a model is asked in no
    transaction.
    """
    extraction = find_extraction()
    if extraction is not None:
        extraction.instructions = find_instructions(session.project_id)

        def show_costs(costs: ModelCosts) -> None:
            set_costs(run, costs)
            show_progress(run)

        extraction.show_progress = show_costs
    with paid_by(session.project_id):
        source = read_session(session, extraction)
    consolidate_session(source, run, actor)


def read_session(session: Session, extraction: Extraction | None = None) -> SessionSource:
    """Read what a run needs, models included: no transaction is open here.

    A source that was consumed once is skipped, whatever became of its fact; texts that Day1 itself gave the
    session are not learned. By rules, at most one piece more than a run writes is read; a model's budget
    bounds its notes, which are written whole, since it would be asked about their messages again.
    """
    session.branch.refresh_from_db(fields=["head", "head_at"])
    reader = SessionReader(session)
    findings = extraction.read_session(reader) if extraction else reader.find_new()
    return read_findings(reader, findings, extraction)


def read_findings(
    reader: SessionReader, findings: Iterable[Finding], extraction: Extraction | None = None
) -> SessionSource:
    """Return findings in pieces, without what the session was given."""
    session = reader.session
    [(off,)] = select_equal(Project, ["rules_off"], id=[session.project_id])
    recalled = list_recalled_ids(session)
    spoken = Spoken(list_known_texts(session, recalled))
    pieces = []
    for found in islice(_split_findings(findings), None if extraction else MAX_PIECES + 1):
        fresh = [one for one in found if one.rule not in off and not spoken.says(one.text)]
        pieces.append(Piece(found, read_texts(session.project_id, [one.text for one in fresh])))
    costs, is_whole = extraction.costs if extraction else ModelCosts(), True
    if extraction is None:
        pieces, is_whole = pieces[:MAX_PIECES], len(pieces) <= MAX_PIECES
    return SessionSource(session, pieces, reader, costs, frozenset(recalled), is_whole)


def learn_now(session: Session, actor: Actor) -> ConsolidationRun | None:
    """Write facts of what a session said since the last time, by the model of the settings where there is
    one; return the run, None where nothing was found. Raises as ``consolidate_session``.
    """
    if find_extraction() is None:
        return learn_since(session, actor)
    with open_run(session.branch, ConsolidationRun.Level.SESSION, session.key, actor) as run:
        run_session(session, run, actor)
    return run


def learn_since(session: Session, actor: Actor, *, awaits_answer: bool = False) -> ConsolidationRun | None:
    """Write facts of what a session said and did since the last time, by rules."""
    session.branch.refresh_from_db(fields=["head", "head_at"])
    reader = SessionReader(session)
    found = list(reader.find_since(session.compared_to, awaits_answer=awaits_answer))
    run = learn_findings(reader, found, actor) if found else None
    if reader.last:
        mark_read(session, reader.last)
    return run


def learn_findings(reader: SessionReader, found: Sequence[Finding], actor: Actor) -> ConsolidationRun | None:
    """Write findings of a session that runs. Where there is nothing to write no run is begun; what a language
    model reads at the end stays unread.
    """
    source = read_findings(reader, found)
    plans = ((at, plan_piece(source, piece)) for at, piece in enumerate(source.pieces))
    first, planned = next(((at, plan) for at, plan in plans if plan and plan.news), (0, None))
    if planned is None:
        return None
    session = reader.session
    with open_run(session.branch, ConsolidationRun.Level.SESSION, session.key, actor) as run:
        for piece in source.pieces[first:]:
            learn_piece(source, run, piece, actor, planned)
            planned = None  # the next ones are compared with what was written
        if run.commits and find_extraction() is None:
            reader.count_new()
            set_read(source, run, "")
    if not run.commits:
        drop_run(run)
        return None
    return run


def consolidate_session(source: SessionSource, run: ConsolidationRun, actor: Actor) -> None:
    """Write the findings of a session: a piece is a commit, with all findings of a message or observation.

    Sentences that are learned only where they change a decision are compared once, whatever comes of it.
    """
    set_costs(run, source.costs)
    for piece in source.pieces:
        learn_piece(source, run, piece, actor)
    set_read(source, run, source.costs.note)
    if not source.is_whole:
        run.note = REST_QUEUED
        enqueue("memory.consolidate", source.session.pk)


def learn_piece(
    source: SessionSource, run: ConsolidationRun, piece: Piece, actor: Actor, plan: PiecePlan | None = None
) -> None:
    """Compare and write a piece; again where another session's facts came in between.

    ``plan`` is how it was compared a moment ago.
    """
    for left in reversed(range(MAX_COMPARISONS)):
        plan = plan or plan_piece(source, piece)
        if plan is None:
            return _mark_compared(source.session, piece.found)
        with suppress(Outpaced):
            return write_piece(source, run, plan, piece, actor, is_last=not left)
        plan = None


def set_read(source: SessionSource, run: ConsolidationRun, note: str) -> None:
    """Set how much a run has read, where it has read all."""
    run.note = note
    if source.is_whole:
        run.messages, run.observations = source.reader.messages, source.reader.observations
        run.read_to = source.reader.read_to


def set_costs(run: ConsolidationRun, costs: ModelCosts) -> None:
    """Set what a language model was asked, and which."""
    run.calls, run.input_tokens, run.output_tokens = costs.calls, costs.input_tokens, costs.output_tokens
    if costs.model:
        run.mode, run.model, run.prompt = ConsolidationRun.Mode.LLM, costs.model, PROMPT


def plan_piece(source: SessionSource, piece: Piece) -> PiecePlan | None:
    """Return what of a piece is written, without what says what the session was given in other words."""
    session, texts = source.session, piece.texts
    session.branch.refresh_from_db(fields=["head", "head_at"])  # the pieces before count
    head = session.branch.head
    fresh = [one for one in piece.found if one.text in texts.words]
    overruled, earlier = find_overruled(session, fresh, texts), EarlierDecisions(session, texts)
    news = drop_open(earlier, fresh, overruled)
    if not news:
        return None
    own = {one.text for one in news}
    older = {
        other.text: other for one in news for other in overruled.get(one.text, ()) if other.text not in own
    }
    texts = texts.add_words(older)
    news += older.values()
    requested: dict[str, Collection[UUID]] = {
        one.text: () if one.is_persons else source.recalled for one in news
    }
    same = find_same(session.branch, session.project_path, texts, requested)
    persons = {one.text for one in news if one.is_persons}
    same = {text: fact for text, fact in same.items() if text not in persons or fact.source_type in LEARNED}
    news = [one for one in news if one.text not in same or same[one.text].uid not in source.recalled]
    leaders = choose_leaders([one.text for one in news if one.text not in same], texts)
    news = drop_reworded(earlier, news, leaders)
    stated = find_first_times(news)
    prompts = {(text, one.text) for text, others in overruled.items() for one in others}
    comparison = compare_texts(earlier, stated, [text for text in stated if text not in same], prompts)
    return PiecePlan(head, news, same, leaders, comparison)


def find_first_times(news: Iterable[Finding]) -> dict[str, datetime]:
    """Return when each statement was said first, by its text."""
    times: dict[str, datetime] = {}
    for one in news:
        if one.said_at and one.is_statement:
            times[one.text] = min(times.get(one.text, one.said_at), one.said_at)
    return times


def write_piece(
    source: SessionSource,
    run: ConsolidationRun,
    plan: PiecePlan,
    piece: Piece,
    actor: Actor,
    *,
    is_last: bool = True,
) -> None:
    """Write what was planned in one commit. Raises Outpaced, unless this is the last try."""
    set_values(run, _commit_findings(source.session, run, plan, piece, actor, is_last))


@retry_transaction
def _commit_findings(
    session: Session, run: ConsolidationRun, plan: PiecePlan, piece: Piece, actor: Actor, is_last: bool
) -> dict[str, object]:
    """Commit findings, without sources erased or consumed meanwhile; return the run's new values."""
    with write_transaction():
        with open_commit(actor, session.branch.name, KIND, write=Write.EXTRACT) as commit:
            if not is_last and is_outpaced(plan, commit):
                raise Outpaced
            sources = [one.source for one in plan.news]
            further = {uid for one in plan.news for uid, _kind in one.more}
            gone = erased_uids(session.project_id, {*sources, *further, *plan.comparison.uids})
            own = list_own_seqs(run)  # notes of a model share their sources
            skipped = gone | find_consumed(commit.visible_rows(FactLink), sources, own)
            left = [one for one in plan.news if one.source not in skipped]
            left = [one for one in left if gone.isdisjoint(uid for uid, _kind in one.more)]
            writer = FindingWriter(commit, plan.same, plan.leaders, actor)
            counts = writer.write(left, plan.comparison.without(gone))
            request_verdicts(session, commit, left)
        _mark_compared(session, piece.found)
        return store_commit(run, commit.commit, counts)


def is_outpaced(plan: PiecePlan, commit: CommitWriter) -> bool:
    """Return whether a session was learned from since the comparison of a plan."""
    if commit.seq == plan.head + 1:  # mostly nothing came between
        return False
    later = Commit.objects.filter(branch=commit.branch, seq__gt=plan.head, kind=KIND)
    return later.exists()


def _split_findings(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """Yield lists of at most MAX_COMMIT_FINDINGS findings, never splitting those of one source."""
    piece: list[Finding] = []
    for _, own in groupby(findings, lambda finding: finding.source):
        batch = list(islice(own, MAX_COMMIT_FINDINGS))
        if piece and len(piece) + len(batch) > MAX_COMMIT_FINDINGS:
            yield piece
            piece = []
        piece += batch
    if piece:
        yield piece


def _mark_compared(session: Session, piece: Sequence[Finding]) -> None:
    """Store up to which message further sentences were compared, so that none is compared again."""
    if opened := [finding.source for finding in piece if finding.is_open]:
        mark_read(session, opened[-1])


@retry_transaction
def mark_read(session: Session, uid: UUID) -> None:
    """Store that rules have read the session's messages up to one."""
    session.compared_to = uid
    Session.objects.filter(pk=session.pk).update(compared_to=uid)
