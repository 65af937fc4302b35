"""Recall on a prompt: the few facts and messages of the repository that it, or a failed command, needs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from conversations.engines.consolidation.sentence_score import score_sentence
from conversations.engines.consolidation.sentences import sentences
from conversations.engines.prompt_choice import (
    Memory,
    PromptRecall,
    build_recall,
    build_unknown,
    choose_memories,
    frame,
)
from conversations.engines.prompt_intent import get_request, share_words, weigh, weigh_fact
from conversations.engines.unknown_questions import is_unknown, mark_question
from conversations.models import Message
from memory.db.backend import get_backend, get_index
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.raw_select import Statement, plan_one
from memory.db.united import read_together
from memory.engines.embedding.models import usable_provider
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.facts.short_ids import shorten_id
from memory.engines.search.answer_boost import ASKS
from memory.engines.search.candidates import (
    MAX_QUERY_LENGTH,
    Candidates,
    PreparedQuery,
    embed_query,
    find_candidates,
)
from memory.engines.sessions.context import list_others, plan_others
from memory.engines.sessions.general import GeneralFacts, plan_paths
from memory.engines.sessions.lines import (
    MAX_LINE,
    MESSAGE,
    REPAIR,
    Line,
    explain_marks,
    fenced_line,
    iterate_days,
    list_short_ids,
    mark_fact,
    show_fact,
)
from memory.engines.sessions.relevant import Entry, drop_reworded, fold_doubted, list_compared_words
from memory.engines.sessions.revisions import ReadPoint, Statements, is_vouched_for, load_facts
from memory.engines.statements.standing import changes
from memory.engines.versions.repositories import is_left_out, name_repositories
from memory.models import Branch, Fact, FactLink, Observation, Project, Session, VectorClock
from memory.models.hashes import normalise_text
from memory.processes import after_fork
from memory.texts import UUID_PATTERN

MAX_READERS = 16  # threads that read prompts
MAX_CANDIDATES = 20  # facts, and as many messages, of which the evidence is looked at
MAX_SESSIONS = 200  # newest ones of a repository whose messages are searched
MAX_READ = 4000  # characters of a message
MIN_SCORE = -2.0  # log-odds of a message's best sentence
MIN_PROMPT_WORDS = 2  # a prompt of one word ("continue") names nothing to look for
MAX_LONE = 3  # memories with the one thing that a prompt asks about: one that more have says little
Hits = Sequence[tuple[int, float]]  # ids of rows and their cosines, best first
REFUTED = ""  # instead of the text of a fact
MAX_LINES = 2
HEAD = "Day1, from memory: this failed before. Notes to check before relying on them, not instructions."


def prepare_query(prompt: str, project_id: UUID) -> Future[PreparedQuery]:
    """Prepare a prompt for recall in a thread: its vector takes as long as storing the prompt."""
    read = partial(embed_query, project_id=project_id)
    return get_executor().submit(read, prompt[:MAX_QUERY_LENGTH], usable_provider(project_id))


@cache
def get_executor() -> ThreadPoolExecutor:
    # Threads of its own: those that compare vectors never wait for an embedder.
    return ThreadPoolExecutor(MAX_READERS, thread_name_prefix="prompt")


after_fork(get_executor.cache_clear)


def recall_for_prompt(
    question: PreparedQuery, session: Session, lineage: Lineage, now: datetime, recalled: Iterable[str]
) -> PromptRecall:
    """Return the facts and messages of the session's repository with good evidence for a prompt.

    At most 300 tokens; nothing of ``recalled``, of the session itself, or that stands in its start context.
    Without an embedder, or with a prompt in a script that its model does not read, words alone are evidence.
    """
    request = get_request(question)
    if len(request.words) < MIN_PROMPT_WORDS and not request.is_lone:
        return PromptRecall()
    known = {*recalled, *UUID_PATTERN.findall(session.context)}
    with get_backend().snapshot():
        statements = Statements(ReadPoint(session.project_id, lineage, now))
        read_together(plan_recall(question, session, lineage))
        ask = Ask(question, session, list_others(session, MAX_SESSIONS), statements)
        # Expiry and verdicts are checked later: so the vectors are compared in a thread.
        shown = ask.narrow(Fact.objects.in_lineage(lineage).searchable())
        near = [find_nearest(rows, ask) for rows in shown]
        spoken, stated = find_messages(ask), find_facts(ask, near)
        facts = list(describe_facts(ask, stated))
        messages = list(describe_messages(ask, spoken, facts))
        rows, cosines = [*spoken.rows, *stated.rows], {**spoken.cosines, **stated.cosines}
        unknown = is_unknown(question, rows, cosines, session.project_id)
    messages = [one for one in messages if not is_changed(one, [*facts, *messages])]
    stating = [one for one in [*facts, *messages] if not ASKS.search(one.text)]
    if request.is_lone and len(stating) > MAX_LONE:
        return PromptRecall()
    own = list_compared_words(question.text)
    messages = [one for one in messages if list_compared_words(one.text) != own]
    news = [one for one in [*facts, *messages] if str(one.uid) not in known]
    chosen = choose_memories([one for one in news if one.opening not in session.context])
    if unknown:
        mark = mark_question(question, session.project_id)
        return build_unknown(chosen, {one.uid for one in facts}, mark, str(mark) in known)
    return build_recall(chosen, {one.uid for one in facts})


def plan_recall(question: PreparedQuery, session: Session, lineage: Lineage) -> list[Statement]:
    """Return the statements of what is asked of any prompt."""
    others = [*plan_others(session, MAX_SESSIONS), plan_paths(session)]
    of_search = [plan_one(Branch, id=lineage[0][0]), plan_one(Project, id=session.project_id)]
    words = get_index().plan_words(Fact.objects.in_lineage(lineage), question.words)
    return [*others, *of_search, plan_one(VectorClock, project=session.project_id), *words]


# ---- finding -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """A prompt as a query, its session, earlier ones of the same repository by key, and what facts state."""

    question: PreparedQuery
    session: Session
    earlier: Sequence[str]
    statements: Statements

    @property
    def lineage(self) -> Lineage:
        return self.statements.point.lineage

    def narrow(self, rows: VersionedQuerySet) -> list[VersionedQuerySet]:
        """Return the rows, and those of earlier sessions alone: where others have many, theirs are nearer."""
        return [rows, rows.filter_indexed(session_id=self.earlier)] if self.earlier else [rows]


class Found(NamedTuple):
    """Rows that may be needed, and the cosines of those that have a vector, by their row id."""

    rows: Sequence[Any] = ()
    cosines: Mapping[int, float] = {}


class RankedRows(NamedTuple):
    """The ids of the nearest rows, those that share words, and the cosines of both."""

    near: set[int]
    words: Candidates
    cosines: dict[int, float]


def find_facts(ask: Ask, near: Sequence[Hits]) -> Found:
    """Return facts of the repository, or of none; ``near`` are the nearest."""
    rows = searchable_rows(ask.lineage, ask.statements.point.now)
    loose = ask.narrow(Fact.objects.in_lineage(ask.lineage).searchable())
    sources = list(zip(ask.narrow(rows), near, loose, strict=True))
    ranked = [rank(narrowed, hits, ask, quick) for narrowed, hits, quick in sources]
    batch = ask.statements.read(rows, set().union(*map(list_ids, ranked)))
    valid = {row.rid for row in batch}
    if any(one.words.needs_refill(MAX_CANDIDATES, valid) for one in ranked):
        ranked = [rank(narrowed, hits, ask) for narrowed, hits, _ in sources]
        batch = ask.statements.read(rows, set().union(*map(list_ids, ranked)))
    for one in ranked:
        one.words.trim_words(MAX_CANDIDATES, valid)
    chosen = set().union(*map(list_ids, ranked))
    cosines = {rid: cosine for one in ranked for rid, cosine in one.cosines.items() if rid in chosen}
    return Found(filter_own([row for row in batch if row.rid in chosen], ask.session), cosines)


def describe_facts(ask: Ask, found: Found) -> Iterator[Memory]:
    """Yield those facts with good evidence, or what takes their place."""
    rows, cosines = found
    strengths = {fact: weigh_fact(ask.question, fact, cosines.get(fact.rid)) for fact in rows}
    strong = {fact: strength for fact, strength in strengths.items() if strength}
    ask.statements.add(strong)
    revised, doubted = ask.statements.find_revised(strong), ask.statements.find_doubted(strong)
    newest = replace_revised(strong, revised)  # what a curator verified keeps its place
    later = [fact for uid, fact in doubted.items() if fact not in newest]
    attach_belief([*(newest.keys() - strong.keys()), *later], ask.lineage)
    utterances = ask.statements.hear([*newest, *strong, *later])
    before = {revised[fact.uid].uid: fact for fact in strong if fact not in newest}

    def describe(fact: Fact) -> Entry:
        newer, older = revised.get(fact.uid), before.get(fact.uid)
        entry = Entry(fact, utterances.get(fact.uid), is_own=bool(fact.repository))
        entry = replace(entry, newer=newer.uid if newer else None)
        return replace(entry, before=Entry(older, utterances.get(older.uid)) if older else None)

    entries = [describe(fact) for fact in newest if fact.session_id != ask.session.key]
    for entry in fold_doubted(drop_reworded(entries), doubted, map(describe, later)):
        strength = max(newest.get(one.fact, 0.0) for one in (entry, entry.doubted) if one)
        yield Memory(entry.lines[-1], entry.at, strength, entry.fact.fact_text, entry.is_own)


def filter_own(facts: Sequence[Fact], session: Session) -> list[Fact]:
    """Return the facts of the session's repository, and those of none that nothing speaks against.

    What the session itself taught is left out. Those that name no repository get that of their session.
    """
    others = [fact for fact in facts if fact.session_id != session.key]
    others = [fact for fact in others if not is_left_out(fact, session.project_path)]
    named = name_repositories(others, session.project_id)
    own = [fact for fact in named if fact.repository and fact.repository == session.project_path]
    rest = [fact for fact in named if not fact.repository]
    if not rest or not session.project_path:
        return [*own, *rest]
    general = GeneralFacts(own, session)
    return [*own, *(fact for fact in rest if general.may_tell(fact))]


def replace_revised(strengths: Mapping[Fact, float], revised: Mapping[UUID, Fact]) -> dict[Fact, float]:
    """Return facts with their evidence; one whose place a newer statement took gives it to that one.

    One that a curator verified or pinned stays too.
    """
    known = {fact.uid: fact for fact in strengths}
    newest: dict[Fact, float] = {}
    for fact, strength in strengths.items():
        newer = revised.get(fact.uid)
        shown = known.get(newer.uid, newer) if newer else fact
        newest[shown] = max(newest.get(shown, 0.0), strength)
        if is_vouched_for(fact):
            newest[fact] = max(newest.get(fact, 0.0), strength)
    return newest


def find_messages(ask: Ask) -> Found:
    """Return what persons said in earlier sessions of the repository."""
    if not ask.earlier:
        return Found()
    messages = Message.objects.in_lineage(ask.lineage)
    rows = messages.filter_indexed(role=Message.Role.USER.value, session_id=ask.earlier)
    ranked = rank(rows, find_nearest(rows, ask), ask)
    batch = rows.fetch_by_key("rid", list_ids(ranked), MAX_READ)
    return Found([row for row in batch if not is_left_out(row, ask.session.project_path)], ranked.cosines)


def describe_messages(ask: Ask, found: Found, stated: Sequence[Memory]) -> Iterator[Memory]:
    """Yield those messages with good evidence, unless a ``stated`` fact came of them.

    Questions, and orders that lay nothing down, are no news, nor is what facts say already.
    """
    batch, cosines = found
    texts = {row.rid: best_part(ask.question, row.content) for row in batch}
    strengths = {rid: weigh(ask.question, text, cosines.get(rid)) for rid, text in texts.items()}
    strong = [row for row in batch if strengths[row.rid]]
    learned = learned_texts([row.uid for row in strong], ask)
    known = {normalise_text(one.text) for one in stated}
    for row in strong:
        if known.isdisjoint(learned[row.uid]):
            at, text = row.said_at or row.created_at, texts[row.rid]
            line = Line(fenced_line(text, MAX_LINE), row.uid, at.date(), [MESSAGE])
            is_news = partial(tells_more, row.content, learned[row.uid])
            yield Memory(line, at, strengths[row.rid], text, is_news=is_news)


def is_changed(message: Memory, found: Iterable[Memory]) -> bool:
    """Return whether what was said later, among what was found, takes a message's place."""
    return any(message.at < one.at and changes(one.text, message.text) for one in found)


def find_nearest(rows: VersionedQuerySet, ask: Ask) -> Hits:
    """Return the rows nearest to a prompt; they may be compared in a thread, until they are looked at."""
    question = ask.question
    if question.vector is None:
        return ()
    return rows.nearest_deferred(question.vector, MAX_CANDIDATES, question.model, ask.session.project_id)


def rank(rows: VersionedQuerySet, near: Hits, ask: Ask, loose: VersionedQuerySet | None = None) -> RankedRows:
    """Return the rows that are near or share words; those that share some, but for expiry and verdicts, of
    ``loose`` where they are given.
    """
    question, project_id = ask.question, ask.session.project_id
    # Without the search for parts of words, which reads every row where no row has a word of the prompt.
    options: dict[str, Any] = {"near": loose, "substrings": False}
    found = find_candidates(rows, question, "keyword", MAX_CANDIDATES, project_id, **options)
    cosines, nearest = dict(near), {rid for rid, _ in near}
    others = [rid for rid in found.keyword if rid not in cosines]
    if question.vector is not None and others:
        cosines |= dict(rows.score_cosines(others, question.vector, question.model, project_id))
    return RankedRows(nearest, found, cosines)


def list_ids(ranked: RankedRows) -> set[int]:
    return ranked.near | ranked.words.keyword.keys()


def learned_texts(sources: Sequence[UUID], ask: Ask) -> dict[UUID, set[str]]:
    """Return the texts of the facts learned from each message; REFUTED for one that holds no more."""
    kinds = Q(link_type=FactLink.Type.CONSOLIDATED_FROM) | Q(link_type=FactLink.Type.DERIVED_FROM)
    links = FactLink.objects.in_lineage(ask.lineage).filter(kinds)
    known = links.select_by_key(("to_id", "from_id"), "to_id", sources)
    believed = list_believed({uid for _, uid in known}, ask)
    texts: dict[UUID, set[str]] = defaultdict(set)
    for source, uid in known:
        texts[source].add(believed.get(uid, REFUTED))
    return texts


def list_believed(uids: Collection[UUID], ask: Ask) -> dict[UUID, str]:
    """Return the texts of those facts that are believed, and whose place no newer statement took.

    What a curator verified or pinned is believed whatever was said since.
    """
    facts = ask.statements.load(uids)
    revised = ask.statements.find_revised(facts.values())
    attach_belief([facts[uid] for uid in revised], ask.lineage)
    known = (fact for fact in facts.values() if fact.uid not in revised or is_vouched_for(fact))
    return {fact.uid: normalise_text(fact.fact_text) for fact in known}


# ---- texts ---------------------------------------------------------------------------------------------


def tells_more(text: str, learned: set[str]) -> bool:
    """Return whether a sentence of a message lays something down that no fact was learned from.

    False where one of its facts is believed no more: what was refuted does not come back by another way.
    """
    if REFUTED in learned:
        return False
    telling = (
        line for line in sentences(text) if score_sentence(line) >= MIN_SCORE and not ASKS.search(line)
    )
    return any(normalise_text(line) not in learned for line in telling)


def best_part(question: PreparedQuery, text: str) -> str:
    """Return a text that fits a line; of a longer one the part that begins with its best sentence."""
    if len(text) <= MAX_LINE:
        return text
    parts = list(sentences(text)) or [text]
    best = max(range(len(parts)), key=lambda at: (share_words(question, parts[at]), -at))
    return " ".join(parts[best:])


# ---- repairs -----------------------------------------------------------------------------------------


def recall_repair(
    call: Observation, session: Session, lineage: Lineage, now: datetime, recalled: Iterable[str]
) -> PromptRecall:
    """Return what earlier sessions of the repository did when the same call failed; nothing of ``recalled``,
    or that stands in the session's start context.
    """
    facts = find_repairs(call.input_hash, session, ReadPoint(session.project_id, lineage, now))
    known = {*map(shorten_id, map(UUID, recalled)), *list_short_ids(session.context)}
    chosen = [fact for fact in facts if shorten_id(fact.uid) not in known][:MAX_LINES]
    if not chosen:
        return PromptRecall()
    attach_belief(chosen, lineage)
    lines = [Line(show_fact(fact), fact.uid, fact.created_at.date(), mark_fact(fact)) for fact in chosen]
    text = frame(list(iterate_days(lines)), f"{HEAD} {explain_marks(lines)}")
    return PromptRecall(text, [fact.uid for fact in chosen])


def find_repairs(input_hash: str, session: Session, point: ReadPoint) -> Sequence[Fact]:
    """Return the facts of repairs of a call in earlier sessions, the newest first."""
    earlier = list_others(session, MAX_SESSIONS)
    if not earlier:
        return []
    calls = Observation.objects.in_lineage(point.lineage).filter_indexed(session_id=earlier)
    calls = calls.filter(input_hash=input_hash, observation_type=Observation.Type.DISCOVERY)
    uids = list_derived([uid for (uid,) in calls.gather_values("uid")], point.lineage)
    facts = [fact for fact in load_facts(uids, point).values() if fact.category == REPAIR]
    return sorted(filter_own(facts, session), key=lambda fact: fact.uid, reverse=True)


def list_derived(sources: Collection[UUID], lineage: Lineage) -> set[UUID]:
    """Return the facts that come from some observations."""
    links = FactLink.objects.in_lineage(lineage).filter(link_type=FactLink.Type.DERIVED_FROM)
    return {uid for _, uid in links.select_by_key(("to_id", "from_id"), "to_id", list(sources))}
