"""The demo's content. It is loaded once for all these tests, which only read it."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from conversations.engines.consolidation.session import SessionConsolidation
from conversations.engines.replays.engine import ReplayEngine
from conversations.engines.told import list_told
from conversations.models import Conversation, Message
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.review.review_queue import ReviewEngine
from curation.engines.templates.engine import TemplateEngine
from curation.engines.verification.engine import VerificationEngine
from day1site.demo import loader as loading
from day1site.demo.script import find_start
from memory.actors import Actor, local_actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import create_main
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.versions.lookup import find_branch
from memory.models import (
    AuditEntry,
    Branch,
    Commit,
    Confirmation,
    Fact,
    FactLink,
    Observation,
    Project,
    Relation,
    Session,
)
from tests.memory.test_projects import rows

pytestmark = pytest.mark.slow
CONSOLIDATOR = "conversations.engines.consolidation.session.SessionConsolidation"


@pytest.fixture(scope="module")
def loader(django_db_setup: None, django_db_blocker: Any) -> Iterator[Actor]:
    """Load the demo as the local user of another project."""
    with django_db_blocker.unblock():
        project = Project.objects.create(name="Test", slug="test")
        create_main(project)
        actor = local_actor(project.pk)
        with override_settings(DAY1={**settings.DAY1, "consolidator": CONSOLIDATOR}):
            assert loading.load(actor)[1]
        yield actor
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture(scope="module")
def demo(loader: Actor) -> Actor:
    """Return the local user in the demo."""
    return local_actor(Project.objects.get(slug="demo").pk)


def everything() -> list[Fact]:
    return list(Fact.objects.all_versions())


def test_it_holds_what_a_newcomer_wants_to_see(demo: Actor) -> None:
    facts, links = everything(), list(FactLink.objects.all_versions())
    kinds = Counter(Commit.objects.values_list("kind", flat=True))
    assert len({fact.uid for fact in facts}) >= 300
    assert Session.objects.filter(status="completed").count() >= 20
    assert len({fact.agent_id for fact in facts} - {""}) >= 5
    assert kinds["fact.update"] + kinds["fact.supersede"] >= 20
    assert {link.link_type for link in links} == set(FactLink.Type.values)
    assert sum(link.link_type == "CONTESTED_BY" for link in links) >= 10
    assert {fact.category for fact in facts} >= set(
        "bug_fix architecture pattern decision security performance preference discovery insight"
        " configuration error general".split()
    )
    assert {fact.kind for fact in facts} == set(Fact.Kind.values) - {"REFLECTION"}
    assert {fact.priority for fact in facts} == set(Fact.Priority.values)
    assert {fact.status for fact in facts} == set(Fact.Status.values)
    assert {fact.visibility for fact in facts} == set(Fact.Visibility.values)
    assert sum(in_chinese(fact.fact_text) for fact in facts) >= 15
    lengths = sorted(len(fact.fact_text) for fact in facts)
    assert (lengths[0] < 60, lengths[-1] > 600) == (True, True)


def in_chinese(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


def test_what_was_said_in_some_sessions(demo: Actor) -> None:
    talks = Conversation.objects.all_versions()
    messages, whole = list(Message.objects.all_versions()), {talk.uid: talk for talk in talks}
    assert len(whole) >= 6
    assert sum(in_chinese(talk.title) for talk in whole.values()) >= 2
    assert Counter(Conversation.objects.on(find_branch(demo, "main")).values_list("status", flat=True)) == {
        "completed": 13,
        "active": 3,
    }
    assert {message.role for message in messages} == {"user", "assistant", "tool_result"}
    assert {message.conversation_id for message in messages} == set(whole)
    assert sum(bool(message.said_at and message.session_id) for message in messages) >= 98
    assert any(message.thinking for message in messages)


def test_what_agents_did_in_them(demo: Actor) -> None:
    seen = list(Observation.objects.all_versions())
    said = {message.uid: message for message in Message.objects.all_versions()}
    assert len(seen) >= 30
    assert len({one.session_id for one in seen}) >= 6
    assert {one.outcome for one in seen} == set(Observation.Outcome.values)
    assert {one.observation_type for one in seen} == set(Observation.Type.values)
    called = [one for one in seen if one.tool_name]
    for one in called:
        (call,) = said[one.message_id].tool_calls
        assert (said[one.message_id].role, call["name"]) == ("tool_result", one.tool_name)
    repaired = [one for one in called if one.observation_type == "discovery"]
    assert len(repaired) >= 5
    assert {one.parent_id for one in repaired} <= {one.uid for one in called if one.outcome != "success"}


def test_facts_come_from_what_was_said_and_done(demo: Actor) -> None:
    """Check that they are consolidated already, so that a worker finds nothing new."""
    sources = [row.uid for model in (Message, Observation) for row in model.objects.all_versions()]
    learned = [
        fact for facts in LinkEngine().facts_from(source_ids=sources, actor=demo).values() for fact in facts
    ]
    assert len(learned) >= 10
    assert {fact.category for fact in learned} >= {"decision", "bug_fix", "insight", "preference"}
    before = rows()
    for session in Session.objects.filter(status="completed"):
        assert SessionConsolidation().consolidate_session(session=session, actor=demo) == 0
    assert rows() == before


def test_what_is_connected(demo: Actor) -> None:
    known = RelationEngine().list_relations(actor=demo, limit=100).results
    assert len({row.uid for row in Relation.objects.all_versions()}) == len(known) >= 15
    assert sum(in_chinese(str(one)) for one in known) >= 3
    assert max(known, key=lambda one: one.strength).triple == ("payments-api", "calls", "ledger-core")
    assert {one.target_entity for one in known if one.valid_until} == {"PostgreSQL 15", "Redis"}
    found = RelationEngine().graph_query(entity="ledger-core", depth=1, actor=demo)
    assert "PostgreSQL 16" in {node.entity for node in found.nodes}


def test_beliefs_of_every_kind(demo: Actor) -> None:
    main, now = find_branch(demo, "main"), timezone.now()
    here = Fact.objects.on(main)
    assert here.filter(expires_at__lte=now).count() >= 2
    assert here.filter(expires_at__gt=now).count() >= 1
    assert here.filter(valid_until__lte=now).count() >= 3
    assert here.filter(status="created").count() >= 2
    assert here.filter(pinned=True).count() >= 4
    engine = FactEngine()
    for verdict, most in (("verified", 15), ("invalidated", 5)):
        page = engine.list_facts(
            actor=demo, filters=FactFilter.from_values({"verification_status": verdict}), limit=100
        )
        assert len(page.results) >= most
        assert all(fact.verification_reason for fact in page.results)
    confirmed = Confirmation.objects.order_by("seq").first()
    assert confirmed is not None
    assert engine.get_fact(fact_id=confirmed.uid, actor=demo).confirmation_count >= 1


def test_it_looks_half_a_year_old(demo: Actor) -> None:
    start, now = find_start(timezone.now()), timezone.now()
    assert timedelta(days=181) <= now - start < timedelta(days=182)
    commits = Commit.objects.filter(branch__name="main").order_by("seq")
    times = [commit.at for commit in commits]
    assert times == sorted(times)
    assert start <= times[0] < start + timedelta(days=1)
    assert start + timedelta(days=181) <= times[-1] <= now
    branches = Branch.objects.exclude(name="main")
    assert branches.count() >= 6
    assert branches.exclude(archived_at=None).count() >= 1
    past = branches.get(name="review/double-payout")
    assert past.fork_seq < commits.filter(at__lt=past.created_at).last().seq
    assert not Session.objects.exclude(status="active").filter(ended_at=None).exists()
    recorded_early = AuditEntry.objects.filter(project=demo.project_id, at__lt=now - timedelta(hours=1))
    assert not recorded_early.exists()


def test_it_has_a_merge_request_with_a_conflict_and_a_task(demo: Actor) -> None:
    requests = MergeRequestEngine().list_requests(actor=demo).results
    assert [(one.state, one.source.name, one.target.name) for one in requests] == [
        ("open", "task/session-tokens", "main"),
        ("open", "task/webhook-window", "main"),
    ]
    request = requests[1]
    found = MergeRequestEngine().check_request(request_id=request.number, actor=demo)
    assert found.view is not None
    assert found.view.undecided == {"edited": 1}
    assert len(found.view.list_positions("fact")) == 2
    (task,) = TaskEngine().list_tasks(actor=demo).results
    assert (task.slug, task.state, len(task.objectives.all())) == ("ledger-close", "active", 3)
    assert [part.agent_id for part in task.agents.all()] == ["ledger-agent", "ops-scribe"]


def test_it_fills_every_place(demo: Actor) -> None:
    request = MergeRequestEngine().list_requests(actor=demo).results[0]
    check = MergeRequestEngine().check_request(request_id=request.number, actor=demo).check
    assert check is not None
    assert [(one.name, one.state) for one in check.results] == [
        ("conflicts", "warning"),
        ("secrets", "passed"),
        ("recall", "failed"),
    ]
    handoffs = HandoffEngine().list_handoffs(actor=demo).results
    assert sorted(one.state for one in handoffs) == ["accepted", "pending"]
    templates = TemplateEngine().list_templates(actor=demo).results
    assert {one.name for one in templates} == {"payment-service", "incident"}
    (bundle,) = KnowledgeBundleEngine().list_bundles(actor=demo).results
    assert (bundle.name, bundle.counts["conversations"]) == ("tidemark-basics", 0)
    (hidden,) = QuarantineEngine().list_quarantines(actor=demo).results
    assert (hidden.target, hidden.counts["fact"]) == ("wiki-mirror", 3)
    (replay,) = ReplayEngine().list_replays(actor=demo).results
    assert replay.state == "done"
    (job,) = VerificationEngine().list_jobs(actor=demo).results
    assert job.total == 12
    contested = ReviewEngine().list_items(actor=demo, kind="contested", status="open").results
    assert len(contested) == 2


def test_programs_are_told_what_the_team_knows(demo: Actor) -> None:
    for key, prompts in (("led-0016-close", 2), ("api-0024-webhooks", 2)):
        told = list_told(Session.objects.get(key=key), timezone.now())
        assert sum(one.prompt is not None for one in told) == prompts, key
    spot = list_told(Session.objects.get(key="ops-0018-staging"), timezone.now())[-1].lines
    said = {line.text: line.states for line in spot}
    assert "invalidated" in said["Staging could run on spot instances; nobody would notice an eviction."]
    assert Session.objects.get(key="ops-0018-staging").agent_id == "ops-scribe"
    lines = [line.text for one in told if one.is_start for line in one.lines]
    assert "A webhook that fails is tried again for two days, then it waits for the merchant to ask." in lines


def test_time_travel_has_something_to_show(demo: Actor) -> None:
    start, engine = find_start(timezone.now()), SearchEngine()
    asked = {"query": "timeout acquirer Norvik seconds", "actor": demo, "limit": 3}
    then = engine.search(**asked, at=start + timedelta(days=20)).hits
    now = engine.search(**asked).hits
    assert "is 10 seconds" in then[0].fact.fact_text
    assert any("is 3 seconds" in hit.fact.fact_text for hit in now)
    assert not any("is 10 seconds" in hit.fact.fact_text for hit in now)


def test_loading_it_again_changes_nothing(loader: Actor) -> None:
    before = rows()
    counts, new = loading.load(loader)
    assert (new, rows()) == (False, before)
    assert counts["Fact"] == len({fact.uid for fact in everything()})
    for model in (Conversation, Message, Observation, Relation):
        assert counts[model.__name__] == len({row.uid for row in model.objects.all_versions()})


@pytest.mark.slow
def test_it_ends_today_whenever_it_is_loaded(loader: Actor) -> None:
    """Check early in a day too, when what the story says of the afternoon has not come yet."""
    loading.remove(loader)
    early = timezone.now().replace(hour=0, minute=20) + timedelta(days=3)
    with time_machine.travel(early, tick=True):
        loading.load(loader)
        last = Commit.objects.filter(branch__name="main").order_by("-seq")[0].at
        assert early.replace(minute=0) < last <= timezone.now()
