"""Runs that ask the model of the settings which earlier statements a person's new ones replace.

The commit that learns statements queues the run, and rules have judged by then; see decision 0075.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Sum
from django.utils import timezone

from conversations.engines.consolidation.extraction import DOWN, FOLDER, SPENT, find_extraction
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.matching import split_tokens
from conversations.engines.consolidation.revised import Statement, list_decided, read_stored
from conversations.engines.consolidation.runs import (
    claim_run,
    postpone_run,
    set_values,
    show_progress,
    store_commit,
)
from conversations.engines.prompt_intent import weigh
from conversations.models import ConsolidationRun
from conversations.models.runs import VERDICTS
from memory.actors import Actor
from memory.clock import read_time
from memory.conf import conf
from memory.db.bulk_sql import insert_all
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.search.candidates import build_query, find_candidates
from memory.engines.sessions.learning import system_actor
from memory.engines.sessions.revisions import STANDINGS, Revision, find_verdicts, store_revisions
from memory.engines.statements.standing import Standing, judge_standing
from memory.engines.support.leases import FIRST_WAIT, MAX_WAIT
from memory.engines.support.model_budgets import RETRY_SECONDS, paid_by
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.pair_answers import get_pair_answers
from memory.engines.versions.policies import Write
from memory.engines.versions.repositories import find_repositories
from memory.exceptions import ModelBudgetSpent, ProviderNonsense, ProviderUnavailable
from memory.models import Branch, Fact, FactLink, PairVerdict, Session
from memory.models.hashes import normalise_text
from memory.models.links import JUDGED_WEIGHT
from memory.providers.chat import ChatServer, Message, iterate_objects
from memory.providers.openai_server import REFUSED_TEXTS, REFUSING
from memory.providers.prompts import build_prompt
from memory.queue.producer import enqueue
from memory.words import STOP_WORDS

KIND = "consolidate.verdict"
MAX_EARLIER = 5  # statements that one question is about
MAX_CANDIDATES = 20  # that share words with a statement, and as many that are near to it in meaning
MIN_EVIDENCE = 0.35  # that both are about near the same, see prompt_evidence
MAX_AGE = timedelta(days=1)  # of a run whose model does not answer
BUDGET_PERIOD = timedelta(days=1)  # in which a session may ask as often as the settings say
Pair = tuple[Statement, Statement]  # an older and a newer one
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
        pieces = [
            (f"{name}, {one.at:%Y-%m-%d}", one.text[:MAX_TEXT_LENGTH]) for name, one in statements.items()
        ]
        return build_prompt(FOLDER / f"{VERDICTS}.txt", pieces)

    def names_subject(self, subject: str, name: str) -> bool:
        """Return whether a subject has a word of the newer statement, or of this earlier one."""
        words = split_tokens(subject) - STOP_WORDS
        texts = (self.newer.text, self.earlier[name].text)
        return any(words & split_tokens(text) for text in texts)


def request_verdicts(session: Session, commit: CommitWriter, found: Sequence[Finding]) -> None:
    """Queue a run over what a commit learned of a person, in its transaction, where a model is set and other
    statements are there. The slot of the run names the commit.
    """
    count = len({one.text for one in found if one.is_persons and one.is_statement})
    if not count or find_extraction() is None or len(list_decided(commit.branch).newest(count + 1)) <= count:
        return
    run = claim_run(
        commit.branch,
        ConsolidationRun.Level.SESSION,
        session.key,
        system_actor(session),
        ConsolidationRun.State.QUEUED,
        slot=f"{commit.branch.pk}:{VERDICTS}:{commit.seq}",
        mode=ConsolidationRun.Mode.LLM,
        prompt=VERDICTS,
    )
    enqueue("conversations.consolidate", str(run.pk))


def judge_statements(session: Session, run: ConsolidationRun, actor: Actor) -> None:
    """Ask about the statements of the commit that a run names, one after another, and store the verdicts.

    A run whose model does not answer is postponed; one that was, asks about the rest.
    """
    run.note, extraction = "", find_extraction()
    if extraction is None:  # it was taken out of the settings meanwhile
        return
    seq = int((run.slot or "").rpartition(":")[2])
    for newer in list_statements(session.branch, seq):
        session.branch.refresh_from_db(fields=["head", "head_at"])
        question = build_question(newer, find_open(session, newer))
        if not question.earlier:
            continue
        if count_calls(session) + run.calls >= conf().consolidation_budget:
            run.note = SPENT.format(most=conf().consolidation_budget)
            return
        try:
            with paid_by(session.project_id):
                verdicts = ask_model(extraction.server, run, question)
        except ProviderUnavailable as error:
            return stop_asking(run, error)
        show_progress(run)
        store_verdicts(session, run, question, verdicts, actor)


def list_statements(branch: Branch, seq: int) -> list[Statement]:
    """Return what persons stated, and a commit learned or confirmed, in the order in which it was said."""
    links = FactLink._base_manager.filter(branch=branch, seq_from=seq, deleted=False)
    uids = links.filter(to_type=FactLink.Target.MESSAGE).values_list("from_id", flat=True)
    facts = list_decided(branch).fetch_by_key("uid", sorted(set(uids)))
    found = read_stored(facts, branch.lineage()).values()
    return sorted((one for one in found if one.is_persons), key=lambda one: (one.at, one.fact.uid))


def find_open(session: Session, newer: Statement) -> list[Statement]:
    """Return earlier statements about near the same, the nearest first, that rules do not replace and of
    which neither the model nor a curator said anything yet.
    """
    near = sorted(find_near(session, newer), key=lambda entry: (-entry[0], entry[1].fact.uid))
    pairs = {(one.fact.uid, newer.fact.uid): (one.fact, newer.fact) for _, one in near}
    answered = set(find_verdicts(session.project_id, pairs.values()))
    answered |= get_pair_answers().find_kept(list(pairs), dict(session.branch.lineage()))
    left = (one for _, one in near if (one.fact.uid, newer.fact.uid) not in answered)
    return list(left)[:MAX_EARLIER]


def find_near(session: Session, newer: Statement) -> Iterator[tuple[float, Statement]]:
    """Yield earlier statements of the repository with the evidence that both are about near the same; more
    than any has by itself where the rules, or the nearness of both in meaning, doubt the earlier one.
    """
    branch, rows = session.branch, list_decided(session.branch)
    query = build_query(newer.text, session.project_id)
    hits = find_candidates(rows, query, "hybrid", MAX_CANDIDATES, session.project_id, substrings=False)
    facts = list(rows.rows().filter(pk__in=hits.rids))
    known = zip(facts, find_repositories(session.project_id, facts), strict=True)
    own = [fact for fact, repository in known if repository == session.project_path]
    doubted = list_doubted(branch, newer)
    for one in read_stored(own, branch.lineage()).values():
        standing = judge_standing(newer.text, one.text)
        is_same = normalise_text(newer.text) == normalise_text(one.text)
        if one.at < newer.at and standing is not Standing.REPLACED and not is_same:
            is_doubted = standing is Standing.DOUBTED or one.fact.uid in doubted
            evidence = weigh(query, one.text, hits.vector.get(one.fact.rid)) + 2 * is_doubted
            if evidence >= MIN_EVIDENCE:
                yield evidence, one


def list_doubted(branch: Branch, newer: Statement) -> set[UUID]:
    """Return the earlier facts that a link leaves in doubt for a newer one."""
    links = FactLink.objects.on(branch).filter(link_type=FactLink.Type.CONTESTED_BY, to_id=newer.fact.uid)
    return {link.from_id for link in links.fetch_all()}


# ---- the model -------------------------------------------------------------------------------------


def ask_model(server: ChatServer, run: ConsolidationRun, question: VerdictQuestion) -> dict[str, str]:
    """Return the verdict on each earlier statement, by its name. Raises ProviderUnavailable where there is no
    answer; one that cannot be used is an answer, and costs as one.
    """
    try:
        answer = server.complete(question.build_messages())
        text, costs = answer.text, (answer.input_tokens, answer.output_tokens)
    except ProviderNonsense as error:
        text, costs = "", tuple(error.data.get(name, 0) for name in ("input_tokens", "output_tokens"))
    run.calls, run.model = run.calls + 1, server.model[:200]
    run.input_tokens, run.output_tokens = run.input_tokens + costs[0], run.output_tokens + costs[1]
    return parse_verdicts(text, question)


def count_calls(session: Session) -> int:
    """Return how often runs of a session that have ended asked for verdicts lately."""
    lately = {"finished_at__isnull": False, "started_at__gte": read_time() - BUDGET_PERIOD}
    runs = ConsolidationRun.objects.filter(branch=session.branch_id, target=session.key, prompt=VERDICTS)
    return runs.filter(**lately).aggregate(calls=Sum("calls"))["calls"] or 0


def stop_asking(run: ConsolidationRun, error: ProviderUnavailable) -> None:
    """Say in a run that the model does not answer, and postpone it where a later try may succeed."""
    if isinstance(error, ModelBudgetSpent):
        run.note = error.text
        postpone_run(run, RETRY_SECONDS)
        return
    run.note = DOWN.format(reason=error.text)[:500]
    age = read_time() - run.started_at
    if error.data.get("status") in (*REFUSED_TEXTS, *REFUSING) or age > MAX_AGE:
        return
    wait = error.data.get("retry_after", age.total_seconds())
    postpone_run(run, min(max(wait, FIRST_WAIT), MAX_WAIT))


# ---- verdicts --------------------------------------------------------------------------------------


def store_verdicts(
    session: Session,
    run: ConsolidationRun,
    question: VerdictQuestion,
    verdicts: Mapping[str, str],
    actor: Actor,
) -> None:
    """Store the verdicts of an answer, and what comes of them in a commit of the model's."""
    judged = {(one, question.newer): verdicts[name] for name, one in question.earlier.items()}
    author = replace(actor, label=run.model)
    set_values(run, _commit_verdicts(session, run, judged, author))


@retry_transaction
def _commit_verdicts(
    session: Session, run: ConsolidationRun, judged: Mapping[Pair, str], author: Actor
) -> dict[str, object]:
    """Commit verdicts on pairs whose texts are still what was judged; return the run's new values."""
    with write_transaction():
        with open_commit(author, session.branch.name, KIND, write=Write.EXTRACT) as commit:
            uids = {one.fact.uid for pair in judged for one in pair}
            shown = commit.visible_rows(Fact).filter(uid__in=sorted(uids)).fetch_all()
            texts = {fact.uid: fact.fact_text for fact in shown}
            left = {pair: verdict for pair, verdict in judged.items() if is_shown(pair, texts)}
            insert_all([build_row(session, pair, left[pair], run.model) for pair in left])
            store_revisions(commit, [revision for pair in left for revision in revise(pair, left[pair])])
        return store_commit(run, commit.commit, {})


def is_shown(pair: Pair, texts: Mapping[UUID, str]) -> bool:
    """Return whether both texts are what was judged."""
    return all(texts.get(one.fact.uid) == one.text for one in pair)


def build_row(session: Session, pair: Pair, verdict: str, model: str) -> PairVerdict:
    older, newer = (one.fact for one in pair)
    return PairVerdict(
        slot=PairVerdict.build_slot(older, newer),
        project_id=session.project_id,
        newer_id=newer.uid,
        older_id=older.uid,
        verdict=verdict,
        model=model,
        created_at=timezone.now(),
    )


def revise(pair: Pair, verdict: str) -> Iterator[Revision]:
    """Yield the revision that a verdict makes, where rules say less."""
    older, newer = pair
    if STANDINGS.get(verdict, Standing.HOLDS) > judge_standing(newer.text, older.text):
        yield Revision(older.fact, newer.fact, newer.at, JUDGED_WEIGHT)


# ---- the question ------------------------------------------------------------------------------------

# Wherever an answer leaves a doubt the verdict is ``unsure``: no model replaces anything by a
# mistake of form.


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
