"""What a language model says that new statements do to earlier ones, behind the prompts of sessions."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from werkzeug import Response

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.report import build_report
from conversations.engines.consolidation.runs import end_dead_runs
from conversations.models import ConsolidationRun
from conversations.tasks import consolidate
from conversations.views.consolidation import describe_run, list_notes
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.briefing import newest_facts
from memory.engines.sessions.learning import learn_running
from memory.models import Commit, Fact, FactLink, PairVerdict, Project, QueueMessage, Session
from tests.curation.fake_judge import MODEL, FakeJudge, completion
from tests.memory.api.client import Api, api_for
from tests.memory.test_model_budgets import allow, spend
from tests.site.hook_events import event, send
from tests.site.test_hooks_revised import find_fact, read_start

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]
OLD = "We decided: invoices are rendered with Puppeteer."
NEW = "We decided: WeasyPrint renders the invoices."
DOUBTED = "We decided that the invoices are rendered by Puppeteer."  # by rules, beside the next one
LATER = "We decided that WeasyPrint makes the PDF invoices."
MAILED, MOVED = "We decided: mails go out through SendGrid.", "We always send mails via SES."
BOTH, REPLACED, APART = (["later", "older"], [(NEW, OLD)]), (["later"], [(NEW, OLD)]), [(NEW, ""), (OLD, "")]
State = ConsolidationRun.State


@pytest.fixture(scope="module")
def server() -> Iterator[FakeJudge]:
    with FakeJudge() as server:  # one, since a client of another address takes long to make
        yield server


@pytest.fixture
def model(settings: Any, learning: None, server: FakeJudge) -> FakeJudge:
    settings.DAY1 = {**settings.DAY1, **server.settings(), "recall_on_prompt": False}
    server.prompts.clear()
    server.next.clear()
    return server


def entry(verdict: str, subject: str = "invoices", later: str = "n", earlier: str = "s1") -> dict[str, Any]:
    return {"later": later, "earlier": earlier, "verdict": verdict, "subject": subject}


def answer(*entries: Any) -> str:
    return json.dumps({"verdicts": list(entries)})


def state(api: Api, session: str, text: str, **fields: Any) -> None:
    """Say something in a session that goes on, and learn from it as the worker does."""
    send(api, event("UserPromptSubmit", session, prompt=text, prompt_id=f"{session}-{text[:40]}", **fields))
    learn_running(Session.objects.get(key=session).pk)


def carry_out() -> ConsolidationRun:
    """Carry out the one run that waits; one that asked nothing leaves no row."""
    run = ConsolidationRun.objects.get(state=State.QUEUED)
    consolidate(str(run.pk))
    return ConsolidationRun.objects.filter(pk=run.pk).first() or ConsolidationRun()


def judge(
    api: Api, model: FakeJudge, reply: str | Response, old: str = OLD, new: str = NEW
) -> ConsolidationRun:
    state(api, "s1", old)
    state(api, "s2", new)
    model.next.append(completion(reply) if isinstance(reply, str) else reply)
    return carry_out()


def list_newest(actor: Actor) -> list[str]:
    names = {OLD: "older", DOUBTED: "older", NEW: "later", LATER: "later"}
    return [names[fact.fact_text] for fact in newest_facts(actor, "main", 10)]


def describe(api: Api, actor: Actor) -> tuple[list[str], list[tuple[str, str]]]:
    """Return which facts count as new, and what a session is told; no fact may have changed."""
    assert {(fact.status, fact.version) for fact in Fact.objects.all_versions()} == {("active", 1)}
    return list_newest(actor), read_start(api, "s9")


def test_what_the_model_says_is_replaced_stands_behind_the_newer_one(
    api: Api, actor: Actor, model: FakeJudge
) -> None:
    run = judge(api, model, answer(entry("replaces")))
    assert describe(api, actor) == REPLACED
    assert (run.state, run.mode, run.model, run.calls, run.input_tokens) == ("done", "llm", MODEL, 1, 100)
    assert describe_run(run) == "Asked the model about 1 statement."
    assert list_notes(build_report(run)) == []  # it changed something, though no fact
    (commit,) = Commit.objects.filter(kind="consolidate.verdict")
    assert (commit.actor_kind, commit.actor_label, commit.added, run.commits) == (
        "system",
        MODEL,
        1,
        [str(commit.pk)],
    )
    (item,) = ReviewItem.objects.all()
    old, new = find_fact(OLD), find_fact(NEW)
    assert (item.kind, item.fact_id, item.other_id) == ("contested", new.uid, old.uid)
    system, user = (one["content"] for one in model.prompts[0])
    fence, day = user.split()[0], f"{old.created_at:%Y-%m-%d}"
    assert fence in system
    assert user == f"{fence} s1, {day}\n{OLD}\n{fence} end\n\n{fence} n, {day}\n{NEW}\n{fence} end"


@pytest.mark.parametrize(
    "reply",
    [
        completion(answer(entry("narrows"))),
        completion(answer(entry("unsure", ""))),
        completion("The newer statement clearly replaces s1."),
        completion(None),
        completion(answer(entry("replaces")), finish="length"),
    ],
)
def test_what_is_not_sure_is_told_as_both_and_asked_of_a_curator(
    api: Api, actor: Actor, model: FakeJudge, reply: Response
) -> None:
    run = judge(api, model, reply)
    assert (run.state, run.calls, run.input_tokens, describe(api, actor)) == ("done", 1, 100, BOTH)
    assert [item.kind for item in ReviewItem.objects.all()] == ["contested"]


@pytest.mark.parametrize("verdict", ["same", "other"])
def test_what_holds_beside_the_newer_one_stays(
    api: Api, actor: Actor, model: FakeJudge, verdict: str
) -> None:
    run = judge(api, model, f"Here it is: {answer(entry(verdict))}")
    assert (run.commits, describe(api, actor)) == ([], (["later", "older"], APART))
    assert not ReviewItem.objects.exists()


@pytest.mark.parametrize(("verdict", "newest"), [("replaces", ["later"]), ("other", ["later", "older"])])
def test_a_doubt_of_the_rules_is_decided_by_replaces_alone_until_it_is_undone(
    api: Api, actor: Actor, model: FakeJudge, verdict: str, newest: list[str]
) -> None:
    run = judge(api, model, answer(entry(verdict)), DOUBTED, LATER)
    assert describe(api, actor) == (newest, [(LATER, DOUBTED)])
    if run.commits:
        ConsolidationEngine().undo_run(run_id=run.pk, actor=actor)
    assert describe(api, actor) == (["later", "older"], [(LATER, DOUBTED)])
    assert ReviewItem.objects.count() == 1


def test_an_undone_verdict_leaves_both_and_is_not_asked_for_again(
    api: Api, actor: Actor, model: FakeJudge
) -> None:
    run = judge(api, model, answer(entry("replaces")))
    ConsolidationEngine().undo_run(run_id=run.pk, actor=actor)
    assert list_newest(actor) == ["later", "older"]
    state(api, "s3", NEW)  # once more: the commit that confirms it queues a run
    assert (carry_out().branch_id, len(model.prompts)) == (None, 1)


def test_whoever_goes_back_to_what_was_before_is_told_that(api: Api, actor: Actor, model: FakeJudge) -> None:
    judge(api, model, answer(entry("replaces")))
    state(api, "s3", OLD)
    model.say(answer(entry("replaces")))
    assert carry_out().calls == 1  # the other way round it is another question
    assert read_start(api, "s9") == [(OLD, NEW)]


def test_a_changed_text_has_no_verdict(api: Api, actor: Actor, model: FakeJudge) -> None:
    judge(api, model, answer(entry("replaces")))
    text = "We decided: invoices are numbered by year."
    FactEngine().update_fact(fact_id=find_fact(NEW).uid, updates={"fact_text": text}, actor=actor)
    assert read_start(api, "s9") == [(text, ""), (OLD, "")]


def test_a_link_by_hand_needs_a_verdict(api: Api, actor: Actor, model: FakeJudge) -> None:
    judge(api, model, answer(entry("other", "")))
    PairVerdict.objects.all().delete()
    body = {"to_id": str(find_fact(NEW).uid), "link_type": "CONTESTED_BY", "weight": 0.5}
    body["valid_from"] = "2026-01-01T00:00:00Z"
    assert api.post(f"/facts/{find_fact(OLD).uid}/links", body).status_code == 201
    assert read_start(api, "s9") == APART


def test_an_erased_fact_leaves_no_verdict(api: Api, actor: Actor, model: FakeJudge) -> None:
    judge(api, model, answer(entry("replaces")))
    uid = str(find_fact(OLD).uid)
    ErasureEngine().erase(scope="fact", target=uid, confirm="test", actor=actor)
    assert not PairVerdict.objects.exists()


# ---- who, and where --------------------------------------------------------------------------------


def test_of_two_people_who_disagree_both_are_told(
    api: Api, actor: Actor, model: FakeJudge, project: Any
) -> None:
    state(api, "s1", OLD)
    state(api_for(project), "s2", NEW)
    model.say(answer(entry("replaces")))
    assert carry_out().calls == 1
    assert list_newest(actor) == ["later", "older"]


def test_a_statement_is_compared_with_earlier_ones_of_its_repository_alone(
    api: Api, actor: Actor, model: FakeJudge
) -> None:
    state(api, "s1", OLD, day1={"client": "claude-code", "root": "github.com/acme/other"})
    FactEngine().write_fact(fact_text=OLD.replace("are", "were"), category="decision", actor=actor)
    state(api, "s2", NEW)
    assert (carry_out().branch_id, model.prompts) == (None, [])


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "newest"), [("replaces", [MOVED]), ("other", [MOVED, MAILED])])
def test_what_nearness_alone_leaves_in_doubt_is_asked_about(
    api: Api, actor: Actor, model: FakeJudge, settings: Any, verdict: str, newest: list[str]
) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    state(api, "s1", MAILED)
    EmbeddingEngine().embed_pending(actor.project_id)
    state(api, "s2", MOVED)
    assert [fact.fact_text for fact in newest_facts(actor, "main", 10)] == [MOVED, MAILED]
    model.say(answer(entry(verdict, "mails")))
    assert carry_out().calls == 1
    assert [fact.fact_text for fact in newest_facts(actor, "main", 10)] == newest


def test_at_most_five_statements_are_asked_about(api: Api, model: FakeJudge) -> None:
    for number in range(7):
        state(api, "s1", f"We decided: invoices of kind {chr(97 + number) * 3} are rendered in hue.")
    ConsolidationRun.objects.all().delete()
    state(api, "s2", NEW)
    model.say(answer())
    carry_out()
    assert model.prompts[0][1]["content"].count(" end") == 6


def test_without_a_model_or_a_budget_nothing_is_queued(api: Api, model: FakeJudge, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidation_budget": 0}
    state(api, "s1", OLD)
    state(api, "s2", NEW)
    assert not ConsolidationRun.objects.filter(prompt="standing-1").exists()


def test_a_spent_budget_leaves_the_rest_to_the_rules(api: Api, model: FakeJudge, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidation_budget": 1}
    judge(api, model, answer(entry("other", "")))
    state(api, "s2", "We decided: invoices are archived as PDF/A.")
    run = carry_out()
    assert (run.state, run.calls, len(model.prompts)) == ("partial", 0, 1)
    assert run.note == "The budget of 1 calls is spent: rules read the rest."


# ---- a model that is away --------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "headers"), [(500, {}), (429, {"Retry_After": "900"})])
def test_a_model_that_is_away_is_asked_again(
    api: Api, actor: Actor, model: FakeJudge, status: int, headers: dict[str, str]
) -> None:
    model.fail(status, **headers)
    run = judge(api, model, answer(entry("replaces")))
    assert (run.state, run.calls, list_newest(actor)) == ("queued", 0, ["later", "older"])
    assert run.note.startswith("The model did not answer (")
    assert run.finished_at is None
    assert run.lease_until - run.started_at >= timedelta(seconds=900 if headers else 30)
    ConsolidationRun.objects.filter(pk=run.pk).update(lease_until=run.started_at)
    QueueMessage.objects.all().delete()
    end_dead_runs()
    assert QueueMessage.objects.filter(payload__contains=str(run.pk)).count() == 1
    run = carry_out()
    assert (run.state, run.calls, run.note, list_newest(actor)) == ("done", 1, "", ["later"])


def test_a_budget_that_is_used_up_postpones_the_question(
    api: Api, actor: Actor, project: Project, model: FakeJudge
) -> None:
    allow(project, actor, model_calls=1)
    spend(project)
    run = judge(api, model, answer(entry("replaces")))
    assert (run.state, run.calls, len(model.prompts)) == ("queued", 0, 0)
    assert run.note.startswith("Partial: budget used up. The project has spent 1 of 1 calls of models")
    assert list_newest(actor) == ["later", "older"]  # by rules
    assert (carry_out().state, len(model.prompts)) == ("queued", 0)
    allow(project, actor, model_calls=9)
    run = carry_out()
    assert (run.state, run.calls, run.note, list_newest(actor)) == ("done", 1, "", ["later"])
    assert len(model.prompts) == 1


def test_a_run_whose_worker_died_is_taken_again(api: Api, actor: Actor, model: FakeJudge) -> None:
    state(api, "s1", OLD)
    state(api, "s2", NEW)
    run = ConsolidationRun.objects.get(state=State.QUEUED)
    ConsolidationRun.objects.filter(pk=run.pk).update(state=State.RUNNING, lease_until=run.started_at)
    end_dead_runs()
    model.say(answer(entry("replaces")))
    assert (carry_out().pk, list_newest(actor)) == (run.pk, ["later"])


@pytest.mark.parametrize("status", [400, 401])
def test_a_server_that_refuses_is_not_asked_again(
    api: Api, actor: Actor, model: FakeJudge, status: int
) -> None:
    model.fail(status)
    run = judge(api, model, answer(entry("replaces")))
    assert (run.state, len(model.prompts), list_newest(actor)) == ("partial", 1, ["later", "older"])


def test_a_model_that_is_down_for_a_day_is_given_up(api: Api, actor: Actor, model: FakeJudge) -> None:
    state(api, "s1", OLD)
    state(api, "s2", NEW)
    run = ConsolidationRun.objects.get(state=State.QUEUED)
    ConsolidationRun.objects.filter(pk=run.pk).update(started_at=run.started_at - timedelta(days=2))
    model.fail(500)
    found = carry_out()
    assert (found.state, found.calls, describe(api, actor)[0]) == ("partial", 0, ["later", "older"])
    assert not FactLink.objects.all_versions().filter(link_type="CONTESTED_BY").exists()
