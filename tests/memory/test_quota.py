"""Quotas: what a project stores is counted beside its writes, and past its quota it takes no more."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.engines.verification.engine import VerificationEngine, build_job
from curation.models import ReviewItem, Score, Verification
from day1site.refusal_pace import RefusalPace
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.support.idempotency import Answer, IdempotencyEngine
from memory.engines.support.usage import SCHEDULE, UsageEngine, count_stored, is_derived
from memory.engines.support.write_buffer import buffer
from memory.exceptions import Invalid, QuotaExceeded
from memory.models import Branch, Membership, Project, ProjectUsage, RecallLog
from memory.models.usage import forget_known, read_usage
from memory.quota import Quota, format_size
from tests.memory.api.client import api_for, refused, state
from tests.memory.views.conftest import person

engine, usage_engine = FactEngine(), UsageEngine()
WORDS = ("Tea", "Coffee", "Bread", "Salt", "Rice", "Oil")
SERVER = Quota(20_000_000, 20_000_000_000)


@pytest.fixture
def full(project: Project, actor: Actor) -> Project:
    """Return a project with a fact, whose quota is what it stores."""
    engine.write_fact(fact_text="Deploys run at noon.", actor=actor)
    fill(project)
    return project


def fill(project: Project, share: float = 1.0) -> None:
    """Set the quota so that the project has used this share of it."""
    used = usage_engine.count_project(project.pk)
    usage_engine.set_quota(slug=project.slug, text=f"rows={int(used.rows / share)}")


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("20GB", Quota(20_000_000, 20_000_000_000)),
        (" 1.5 mib", Quota(20_000_000, 1_572_864)),
        ("rows=5000000", Quota(5_000_000, 20_000_000_000)),
        ("rows=7, bytes=2000", Quota(7, 2000)),
        ("bytes=none,rows=7", Quota(7, 0)),
        ("none", Quota(0, 0)),
    ],
)
def test_a_quota_is_read(text: str, quota: Quota) -> None:
    assert SERVER.with_parts(text) == quota


@pytest.mark.parametrize(
    "text", ["", "20", "20XB", "-1GB", "0GB", "rows=1GB", "rows=0", "rows=1,rows=2", "files=3", "bytes="]
)
def test_another_text_is_no_quota(text: str) -> None:
    with pytest.raises(ValueError, match="it must be"):
        SERVER.with_parts(text)


def test_a_size_is_read_by_a_person() -> None:
    assert [format_size(size) for size in (0, 999, 1000, 1_550_000, 20_000_000_000)] == [
        "0 B",
        "999 B",
        "1 KB",
        "1.6 MB",
        "20 GB",
    ]


@pytest.mark.django_db(transaction=True)
def test_what_is_counted_beside_writes_is_what_the_rows_say(project: Project, actor: Actor) -> None:
    usage_engine.count_project(project.pk)
    fact = engine.write_fact(fact_text="Zürich 東京", metadata={"a": "ü"}, tags=["x"], actor=actor).fact
    engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Bern"}, actor=actor)
    engine.delete_fact(fact_id=fact.uid, actor=actor.with_origin(session_id="s1"))
    said = ConversationEngine().create_conversation(session_id="s1", actor=actor)
    MessageEngine().write_message(conversation_id=said.uid, role="user", content="Hello", actor=actor)
    kept = engine.write_fact(fact_text="Berne is the seat.", actor=actor).fact
    QuestionEngine().create_question(text="Where?", expected=[str(kept.uid)], actor=actor)
    BranchManager().create_branch(name="side", actor=actor)
    KeyEngine().create_key(label="one", scopes=["read"], actor=actor)
    run = {"actor": actor, "key": "k", "route": "r", "request": "q", "work": lambda: Answer(200, "é" * 50)}
    IdempotencyEngine().run_once(**run)
    SearchEngine().search(query="Bern", actor=actor)
    buffer.flush()
    counted = read_usage(project.pk)
    assert (counted.rows, counted.bytes) == count_stored(project.pk)
    assert counted.rows > 15


@pytest.mark.django_db(transaction=True)
def test_a_count_keeps_what_others_write_meanwhile(project: Project, actor: Actor) -> None:
    ProjectUsage.objects.create(project=project, rows=1000, bytes=-5)  # lost and counted twice
    usage_engine.count_project(project.pk)
    engine.write_fact(fact_text="Deploys run at noon.", actor=actor)
    buffer.flush()
    counted = read_usage(project.pk)
    assert (counted.rows, counted.bytes) == count_stored(project.pk)


@pytest.mark.django_db(transaction=True)
def test_at_its_quota_a_project_takes_no_writes(full: Project) -> None:
    api = api_for(full)
    fill(full)
    before, used = state(), read_usage(full.pk).rows
    for path, body in (
        ("/facts", {"fact_text": "More."}),
        ("/facts/bulk", {"facts": [{"fact_text": "More."}]}),
        ("/branches", {"name": "side"}),
        ("/bundles", {"name": "all"}),
        ("/ingest/hook", {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Hi"}),
        ("/tasks", {"name": "More"}),
    ):
        problem = refused(api.post(path, body, Idempotency_Key=path), 403, "quota_exceeded")
        assert problem["data"] == {"part": "rows", "used": used, "limit": used}
        assert f"{used} of {used} rows" in problem["detail"]
    assert state() == before
    (row,) = api.get("/facts").json()["results"]
    assert api.get("/facts/search?query=deploys").json()["results"][0]["fact"]["id"] == row["id"]
    health = api.get("/health").json()
    assert (health["status"], health["quota"]["full"]) == ("degraded", True)
    assert health["quota"]["rows"] == {"used": used, "limit": used}


@pytest.mark.django_db(transaction=True)
def test_a_repeatable_write_at_the_quota_takes_no_lock(project: Project, actor: Actor) -> None:
    """Refuse it before a transaction; answer what was stored before; let go on what does not grow."""
    api, keyed = api_for(project), {"Idempotency_Key": "first"}
    row = api.post("/facts", {"fact_text": "Deploys run at noon."}, **keyed).json()
    fill(project)
    before = state()
    with CaptureQueriesContext(connection) as queries:
        for _ in range(2):
            refused(api.post("/facts", {"fact_text": "More."}, Idempotency_Key="new"), 403, "quota_exceeded")
        again = api.post("/facts", {"fact_text": "Deploys run at noon."}, **keyed)
        refused(api.post("/facts", {"fact_text": "Other."}, **keyed), 409, "conflict", "Idempotency-Key")
    assert {query["sql"].split()[0] for query in queries.captured_queries} == {"SELECT"}
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, row, "true")
    assert state() == before
    verdict = {"verdict": "verified", "reason": "password: q8r!xk29z"}
    answers = [api.post(f"/facts/{row['id']}/verify", verdict, Idempotency_Key="rated") for _ in range(2)]
    assert [(answer.status_code, answer["Day1-Redacted"]) for answer in answers[:1]] == [(200, "1")]
    assert answers[1].json() == answers[0].json()


@pytest.mark.django_db(transaction=True)
def test_hooks_are_answered_at_the_quota(full: Project) -> None:
    """A session that starts is told what memory knows; nothing of its event is stored."""
    api = api_for(full)
    fill(full)
    before = state()
    start = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w", "source": "startup"}
    problem = refused(api.post("/ingest/hook?client=claude-code", start), 403, "quota_exceeded")
    output = problem["answer"]["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "Deploys run at noon." in output["additionalContext"]
    for body in ([start], start | {"hook_event_name": "Stop"}):
        assert "answer" not in refused(api.post("/ingest/hook", body), 403, "quota_exceeded")
    assert state() == before


@pytest.mark.django_db(transaction=True)
def test_at_its_quota_what_curates_and_frees_goes_on(full: Project, actor: Actor) -> None:
    key, _ = KeyEngine().create_key(label="one", scopes=["read"], actor=actor)
    usage_engine.set_quota(slug=full.slug, text="none")
    BranchManager().create_branch(name="side", actor=actor)
    doomed = engine.write_fact(fact_text="A secret of somebody.", actor=actor).fact
    fill(full)
    (fact,) = [one for one in engine.list_facts(actor=actor).results if one.uid != doomed.uid]
    KeyEngine().create_key(label="two", scopes=["write"], actor=actor)  # first: a tenth past, it may not
    engine.set_verification(fact_id=fact.uid, verdict="verified", reason="seen", actor=actor)
    BranchManager().archive_branch(name="side", actor=actor)
    KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    engine.delete_fact(fact_id=fact.uid, actor=actor)
    with pytest.raises(QuotaExceeded):
        engine.write_fact(fact_text="More.", actor=actor)
    with pytest.raises(QuotaExceeded):
        engine.write_fact(fact_text="More.", propose=True, actor=actor)


@pytest.mark.django_db(transaction=True)
def test_far_past_the_quota_what_frees_judges_or_guards_goes_on(project: Project, actor: Actor) -> None:
    """Each over REST with an Idempotency-Key, below three times the quota."""
    api = api_for(project)
    facts = [api.fact(f"{word} is kept.", agent_id="bot")["id"] for word in WORDS]
    link = api.post(f"/facts/{facts[0]}/links", {"to_id": facts[1], "link_type": "BRIDGE"}).json()
    edge = {"source_entity": "a", "relation_type": "uses", "target_entity": "b"}
    relation = api.post("/relations", edge).json()
    api.post("/branches", {"name": "side"})
    task = api.post("/tasks", {"name": "More"}).json()
    bundle = api.post("/bundles", {"name": "all"}).json()
    keys = [api.post("/keys", {"label": one, "scopes": ["read"]}).json()["id"] for one in ("one", "two")]
    question = api.post("/questions", {"text": "Where?", "expected": [facts[0]]}).json()
    invitation = api.post("/invitations", {}).json()
    commits = api.get("/branches/main/log").json()["results"]
    newest = next(one["id"] for one in commits if one["kind"] == "fact.write")
    person("boss", project, "maintainer")
    for name in ("vera", "nora"):
        person(name, project, "curator")
    fill(project, share=1.2)
    refused(api.post("/facts", {"fact_text": "More."}), 403, "quota_exceeded")
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("post", f"/facts/{facts[0]}/verify", {"verdict": "verified", "reason": "seen"}),
        ("post", f"/facts/{facts[1]}/archive", {}),
        ("delete", f"/facts/{facts[0]}/links/{link['id']}", {}),
        ("delete", f"/facts/{facts[2]}", {}),
        ("post", "/facts/actions", {"action": "archive", "fact_ids": facts[3:4]}),
        ("post", f"/relations/{relation['id']}/close", {}),
        ("post", f"/commits/{newest}/revert", {}),
        ("delete", "/branches/side", {}),
        ("post", f"/tasks/{task['id']}/cancel", {}),
        ("delete", f"/bundles/{bundle['id']}", {}),
        ("delete", f"/questions/{question['id']}", {}),
        ("post", f"/keys/{keys[0]}/revoke", {}),
        ("post", f"/keys/{keys[1]}/rotate", {}),
        ("post", f"/invitations/{invitation['id']}/revoke", {}),
        ("patch", "/members/vera", {"role": "viewer"}),
        ("post", "/members/nora/remove", {}),
        ("patch", "/policies/main", {"direct_writes": "refuse"}),
        ("post", "/quarantine", {"source": "agent", "target": "bot"}),
        ("post", "/erasures", {"scope": "fact", "target": facts[4], "confirm": "test"}),
    ]
    answers = {path: getattr(api, method)(path, body, Idempotency_Key=path) for method, path, body in calls}
    assert {path: one.json() for path, one in answers.items() if one.status_code >= 300} == {}
    refused(api.post("/facts", {"fact_text": "More."}), 403, "quota_exceeded")


@pytest.mark.django_db(transaction=True)
def test_what_can_be_repeated_ends_at_three_times_the_quota(project: Project, actor: Actor) -> None:
    api = api_for(project)
    facts = [api.fact(f"{word} is kept.")["id"] for word in WORDS]
    newest = api.get("/branches/main/log").json()["results"][0]["id"]
    fill(project, share=3)
    refused(api.post(f"/facts/{facts[0]}/verify", {"verdict": "verified"}), 403, "quota_exceeded")
    refused(api.post(f"/commits/{newest}/revert", {}), 403, "quota_exceeded")
    assert api.delete(f"/facts/{facts[0]}").status_code < 300
    erasure = {"scope": "fact", "target": facts[1], "confirm": "test"}
    assert api.post("/erasures", erasure).status_code < 300


@pytest.mark.django_db(transaction=True)
def test_what_day1_makes_by_itself_uses_up_no_quota(project: Project, actor: Actor) -> None:
    texts = [f"The deploys of the shop run at noon on day {n}." for n in range(4)]
    for text in texts:
        engine.write_fact(fact_text=text, actor=actor)
    before = usage_engine.count_project(project.pk)
    ids = [fact.uid for fact in engine.list_facts(actor=actor).results]
    review = NearDuplicateEngine()
    for other in ids[1:]:
        review.ask_about(fact_id=ids[0], other_id=other, score=0.9, model="m", actor=actor)
    schedule = replace(actor, kind="system", label=SCHEDULE)
    job = build_job(schedule, Branch.objects.get(name="main"), ids, None, None)
    job.save()
    VerificationEngine().run_job(job.pk)
    buffer.flush()
    assert (ReviewItem.objects.count(), Verification.objects.count()) == (3, 4)
    counted = read_usage(project.pk)
    assert (counted.rows, counted.bytes) == (before.rows, before.bytes)
    assert count_stored(project.pk) == (before.rows, before.bytes)
    assert all(is_derived(score) for score in Score.objects.select_related("verification"))
    assert not is_derived(Score(verification=Verification(created_by="ada")))
    with pytest.raises(Invalid, match="Day1's own schedule"):
        KeyEngine().create_key(label=SCHEDULE, scopes=["read"], actor=actor)


@pytest.mark.django_db(transaction=True)
def test_an_erasure_makes_room(project: Project, actor: Actor) -> None:
    fact = engine.write_fact(fact_text="long " * 2000, actor=actor).fact
    used = usage_engine.count_project(project.pk)
    usage_engine.set_quota(slug=project.slug, text=f"bytes={used.bytes}")
    with pytest.raises(QuotaExceeded, match="of 1"):
        engine.write_fact(fact_text="More.", actor=actor)
    ErasureEngine().erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)
    assert read_usage(project.pk).bytes < used.bytes - 9000
    assert read_usage(project.pk).rows == used.rows - 1  # nor does the erasure itself count
    more = engine.write_fact(fact_text="More.", actor=actor).fact
    used = usage_engine.count_project(project.pk)
    usage_engine.set_quota(slug=project.slug, text=f"rows={used.rows},bytes=none")
    with pytest.raises(QuotaExceeded, match="rows"):
        engine.write_fact(fact_text="And more.", actor=actor)
    ErasureEngine().erase(scope="fact", target=str(more.uid), confirm="test", actor=actor)
    buffer.flush()
    assert read_usage(project.pk).rows == used.rows - 1
    engine.write_fact(fact_text="And more.", actor=actor)


@pytest.mark.django_db
def test_another_project_writes_on(full: Project, other_project: Project) -> None:
    api_for(other_project).fact("Theirs.")


@pytest.mark.django_db
def test_no_search_is_logged_at_the_quota(full: Project, actor: Actor) -> None:
    SearchEngine().search(query="deploys", actor=actor)
    buffer.flush()
    assert not RecallLog.objects.exists()


@pytest.mark.django_db
def test_an_operator_gives_a_project_a_quota(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("quota", "test", "rows=1")
    said = capsys.readouterr().out
    used = read_usage(full.pk).rows
    assert said.startswith(f"test  {used} of 1 rows, ")
    assert said.endswith(" of 20 GB: at its quota, so writes stop; reads go on\n")
    assert list(usage_engine.list_full()) == ["test"]  # as the start of the server says
    call_command("quota", "test", "default", "--count")
    assert f"test  {used} of 20000000 rows" in capsys.readouterr().out
    assert not read_usage(full.pk).find_full()
    for words, text in ((["test", "20"], "it must be"), (["nobody", "1GB"], "There is no project nobody.")):
        with pytest.raises(CommandError, match=text):
            call_command("quota", *words)
    assert read_usage(full.pk).quota == SERVER


@pytest.mark.django_db
def test_a_count_is_due_after_a_day_and_at_the_quota_after_an_hour(full: Project) -> None:
    assert usage_engine.count_due() == 0
    usage_engine.set_quota(slug=full.slug, text="")
    ProjectUsage.objects.update(counted_at=None)
    assert (usage_engine.count_due(), usage_engine.count_due()) == (1, 0)


@pytest.mark.django_db(transaction=True)
def test_pages_say_that_a_project_is_full(full: Project, client: Client) -> None:
    root = User.objects.create_superuser("root", password="p")
    client.force_login(root)
    Membership.objects.create(project=full, user=root, role="maintainer")
    fill(full)
    used = read_usage(full.pk).rows
    home, ageing = (client.get(f"/p/test/{name}").content.decode() for name in ("", "ageing"))
    assert "The project is at its quota: nothing more is stored" in home
    assert f"The project stores {used} of {used} rows, " in ageing
    assert "Reads go on." in ageing
    assert f"{used} of {used} rows" in client.get("/admin/memory/project/").content.decode()
    form = {"name": "Test", "slug": "test", "dream_min_size": 3}
    url = f"/admin/memory/project/{full.pk}/change/"
    assert "This is no quota" in client.post(url, form | {"quota": "20"}).content.decode()
    refusal = client.post("/p/test/keys", {"label": "one"})
    assert refusal.status_code != 500
    assert (
        client.post(url, form | {"quota": "rows=2"}, follow=True).content.decode().count("writes stop") == 1
    )
    assert read_usage(full.pk).quota == Quota(2, SERVER.bytes)
    client.post(url, form | {"quota": ""})
    assert read_usage(full.pk).quota == SERVER


def test_a_page_reads_what_is_stored_once_in_every_second(full: Project, client: Client) -> None:
    root = User.objects.create_superuser("root", password="p")
    client.force_login(root)
    Membership.objects.create(project=full, user=root, role="maintainer")

    def count_reads(page: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/p/test/{page}").status_code == 200
        found = [one["sql"].replace("`", '"') for one in queries.captured_queries]
        return sum('FROM "memory_projectusage"' in sql for sql in found)

    for page, reads in (("ageing", 1), ("facts", 0), ("search?q=deploys", 0)):
        client.get(f"/p/test/{page}")
        forget_known()
        # The second time nothing has changed since.
        assert (page, [count_reads(page) for _ in range(2)]) == (page, [reads, 0])


def test_refusals_of_one_key_come_in_turns() -> None:
    pace = RefusalPace()
    waits = [pace.take_turn("a", now=100.0) for _ in range(400)]
    assert waits[:20] == [0.0] * 20
    assert [round(wait, 1) for wait in waits[20:23]] == [0.1, 0.2, 0.3]
    assert waits[-1] == 30.0
    assert (pace.take_turn("b", now=100.0), pace.take_turn("a", now=200.0)) == (0.0, 0.0)
