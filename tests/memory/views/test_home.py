"""The home page: health, pending work, the day's contributors; the count at Review."""

import html as markup
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from curation.engines.review.review_queue import count_backlog
from curation.models import ReviewItem
from memory.actors import Actor, local_actor
from memory.engines.activity.contributors import TodayEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.exceptions import ScopeMissing
from memory.models import Branch, Membership, Project, QueueMessage, Vector, VectorClock
from memory.models.questions import EvalRun
from tests.memory.views.test_page_frame import text


@pytest.fixture(autouse=True)
def no_answer_kept() -> None:
    """Clear the health cached for some seconds."""
    cache.clear()


def words(client: Client, query: str = "") -> str:
    return " ".join(text(client.get(f"/p/test/{query}")).split())


def test_with_nothing_it_teaches(viewer: Client) -> None:
    page = words(viewer)
    assert "Nothing is remembered here yet." in page
    assert 'write-fact "Deploys run from the main branch only." --project test</pre>' in page
    assert "curl http://testserver/api/v1/facts" in page
    assert "Nobody, on any branch of this project." in page
    assert "Nothing was remembered here at this time." in words(viewer, "?at=2020-01-01")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", 'write-fact "Deploys run from the main branch only." --project test'),
        ("sessions", "--session s1 --agent builder --project test"),
        ("branches", 'branch create task/login --purpose "try refresh tokens" --project test'),
        ("conversations", "connect claude-code --url http://testserver --project test"),
    ],
)
def test_a_first_command_is_one_that_runs_here(
    viewer: Client, maintainer: Client, settings: Any, path: str, words: str
) -> None:
    settings.COMMAND_LINE, settings.COMMAND_OPTIONS = "day1", " --data-dir /srv/x"
    for client, line in ((viewer, f"{words}</pre>"), (maintainer, f"{words} --data-dir /srv/x</pre>")):
        page = markup.unescape(text(client.get(f"/p/test/{path}")))
        assert re.search(rf"<pre id=\"copy-[a-z]+\">day1 [^<]*{re.escape(line)}", page)


def test_a_task_that_was_set_aside_is_told_with_what_runs_it_again(viewer: Client) -> None:
    now = timezone.now()
    QueueMessage.objects.create(queue="celery", visible_at=now, payload="", tries=2, set_aside_at=now)
    page = words(viewer)
    assert "1 background task stopped the server twice, and is not restarted automatically." in page
    assert "<code>python3 manage.py retry_tasks</code>" in page


def test_who_worked_today_on_any_branch(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/tags", actor=actor)
    agent = actor.with_origin(agent_id="builder")
    written = FactEngine().write_fact(fact_text="One.", actor=agent)
    FactEngine().write_fact(fact_text="Two.", actor=agent, branch_name="task/tags")
    FactEngine().update_fact(fact_id=written.fact.uid, updates={"priority": "P1"}, actor=actor)
    page = words(viewer)
    assert "<strong>1</strong> Fact added today" in page
    assert "builder" in page


def test_the_drawing_of_a_figure_ends_with_it(viewer: Client, actor: Actor) -> None:
    noon = timezone.now().replace(hour=12) + timedelta(days=1)
    Branch.objects.update(head_at=noon - timedelta(days=90))
    with time_machine.travel(noon + timedelta(minutes=1), tick=False):
        for days_ago, texts in ((20, "hijkl"), (13, "abcd"), (1, "e"), (0, "fg")):
            who = actor.acting_at(noon - timedelta(days=days_ago))
            FactEngine().write_facts(facts=[{"fact_text": text} for text in texts], actor=who)
        (last,) = FactEngine().list_facts(actor=actor, limit=1).results
        FactEngine().delete_fact(fact_id=last.uid, actor=actor)
        page, past = words(viewer), words(viewer, f"?at={noon - timedelta(days=1):%Y-%m-%d}")
    assert "<strong>1</strong> Fact added today" in page
    assert page.count("At most 4 on one of 14 days.") == 1
    assert "<strong>1</strong> Fact added that day" in past


def test_connecting_a_program_adds_no_fact(viewer: Client, actor: Actor) -> None:
    ObservationEngine().write_observation(observation_type="insight", summary="Connected.", actor=actor)
    assert "<strong>0</strong> Facts added today" in words(viewer)


@pytest.mark.parametrize(("scheme", "host"), [("https", "memory.example:8443"), ("http", "localhost:7201")])
@pytest.mark.parametrize("path", ["/p/test/", "/p/test/facts", "/admin/p/test/facts"])
def test_the_first_command_names_the_project_and_the_server_as_it_is_reached(
    curator: Client, settings: Any, path: str, scheme: str, host: str
) -> None:
    settings.ALLOWED_HOSTS = [host.partition(":")[0]]
    page = " ".join(text(curator.get(path, headers={"host": host}, secure=scheme == "https")).split())
    assert f"curl {scheme}://{host}/api/v1/facts" in page
    assert "--project test</pre>" in page


def test_the_first_command_of_a_branch_names_it(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    page = words(viewer, "facts?branch=task/a")
    assert "--project test --branch task/a</pre>" in page
    assert '"branch": "task/a"}' in page


def test_sweeps_are_nobody_and_a_name_stands_once(viewer: Client, actor: Actor) -> None:
    """Count an agent over two keys and a person over two surfaces once; leave out background work."""
    day = (timezone.now() - timedelta(days=3)).replace(hour=12)
    Branch.objects.update(head_at=day - timedelta(days=1))  # no commit is earlier than the one before it
    builder = replace(actor, kind="key", id="k1", label="ci", agent_id="builder")
    makers = [
        builder,
        replace(builder, id="k2", label="builder", agent_id=""),
        replace(actor, kind="user", id="7", label="vera", surface="web"),
        replace(actor, kind="local", label="vera", surface="cli"),
        replace(actor, kind="system", label="day1", surface="task"),
    ]
    for number, maker in enumerate(makers):
        FactEngine().write_fact(fact_text=f"Fact {number}.", actor=replace(maker, told_at=day))
    until = day + timedelta(hours=1)
    work = TodayEngine().list_contributors(actor=actor, since=day - timedelta(hours=1), until=until)
    assert {(one.kind, one.label, one.commits) for one in work} == {
        ("key", "builder", 2),
        ("user", "vera", 1),
        ("local", "vera", 1),
    }
    page = words(viewer, f"?at={until:%Y-%m-%dT%H:%M:%S}")
    today = page[page.index("Active that day") :].partition("<h2")[0]
    assert (today.count("builder"), today.count("vera"), today.count("day1</")) == (1, 2, 0)


def test_what_waits_is_for_those_who_may_answer(
    viewer: Client, curator: Client, actor: Actor, main: Branch
) -> None:
    one, other = (FactEngine().write_fact(fact_text=said, actor=actor).fact for said in ("Red.", "Crimson."))
    item = ReviewItem.objects.create(
        project=main.project,
        branch=main,
        kind="near_duplicate",
        fact_id=other.uid,
        other_id=one.uid,
        pair="1",
        score=0.9,
    )
    page = words(curator)
    assert "<strong>1</strong> Needs review" in page
    assert "Do these two say the same?" in page
    assert page.count(f'href="/p/test/review/{item.pk}"') == 1
    assert (
        page.count("Crimson.") == 3
    )  # among the newest, in the field of its replacement, and in the question
    assert "What waits for you" not in words(viewer)
    assert "Needs review" not in words(curator, "?at=2020-01-01")


@pytest.mark.parametrize(("how_many", "said"), [(5, "5"), (6, "6"), (99, "99"), (100, "99+"), (101, "99+")])
def test_what_waits_is_counted_as_far_as_two_digits_go(
    curator: Client, main: Branch, how_many: int, said: str
) -> None:
    ReviewItem.objects.bulk_create(
        ReviewItem(
            project=main.project,
            branch=main,
            kind="contradiction",
            fact_id=uuid4(),
            other_id=uuid4(),
            pair=str(number),
            score=0.9,
        )
        for number in range(how_many)
    )
    assert f"<strong>{said}</strong> Needs review" in words(curator)


def test_the_course_of_what_waits_ends_with_the_figure(
    curator: Client, viewer: Client, project: Project, main: Branch
) -> None:
    noon = timezone.now().replace(hour=12)
    history = [(20, None), (20, 15), (10, 3), (10, 1), (2, None), (0, None)]  # made and answered, days ago
    for number, (made, answered) in enumerate(history):
        item = ReviewItem.objects.create(
            project=project,
            branch=main,
            kind="contested",
            fact_id=uuid4(),
            other_id=uuid4(),
            pair=str(number),
            score=1,
        )
        item.created_at = noon - timedelta(days=made)
        if answered is not None:
            item.status, item.resolved_at = "resolved", noon - timedelta(days=answered)
        item.save()
    actor = local_actor(project.pk)
    with time_machine.travel(noon + timedelta(minutes=1), tick=False):
        past = count_backlog(actor=actor, until=timezone.now(), days=13)
        page = words(curator)
        assert "waited 13 days ago" not in words(viewer)
    assert past == [1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 2, 3, 2]
    assert "1 questions waited 13 days ago, 3 wait now." in page
    with pytest.raises(ScopeMissing):
        count_backlog(actor=replace(actor, scopes=frozenset({"read"})), until=noon, days=13)


def test_the_course_of_recall(viewer: Client, project: Project, main: Branch) -> None:
    for seq, (recall, k) in enumerate([(0.2, 5), (0.5, 10), (None, 10), (0.75, 10)]):
        figures = {} if recall is None else {"recall": recall, "mrr": recall}
        EvalRun.objects.create(
            project=project,
            branch="main",
            seq=seq,
            k=k,
            figures=figures,
            questions=1,
            created_at=timezone.now(),
        )
    page = words(viewer)
    assert "<strong>75%</strong> of what saved questions expect is among the first 10 hits" in page
    assert "Recall@10 of 1 question ·" in page
    assert "Recall of the last 2 runs: 50 percent at first, 75 percent now." in page


def test_the_feed_says_what_was_done_last_by_whom(viewer: Client, actor: Actor) -> None:
    assert 'id="activity"' not in words(viewer)
    builder = actor.with_origin(agent_id="builder", session_id="s-1")
    day = (timezone.now() - timedelta(days=3)).replace(hour=12)
    Branch.objects.update(head_at=day - timedelta(days=1))
    FactEngine().write_fact(fact_text="Early.", actor=replace(actor, told_at=day))
    BranchManager().create_branch(name="task/tags", actor=actor)
    for said in ("One.", "Two."):
        FactEngine().write_fact(fact_text=said, actor=builder, branch_name="task/tags")
    page = words(viewer)
    feed = page[page.index('id="activity"') :]
    assert ("2 commits" in feed, "task/tags" in feed, "Two." in feed) == (True, True, False)
    assert session_links(viewer) == [("s-1", "One.")]
    assert feed.index("Added 2 facts") < feed.index("Added 1 fact<")
    assert 'href="/p/test/activity?agent_id=builder"' in feed
    past = words(viewer, f"?at={day + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}")
    feed = past[past.index('id="activity"') :]
    assert ("Added 1 fact<" in feed, "Added 2 facts" in feed) == (True, False)


def test_a_list_shows_its_first_rows_and_a_session_is_named_by_its_title(
    viewer: Client, actor: Actor
) -> None:
    builder = actor.with_origin(session_id="s-1")
    for number in range(5):
        FactEngine().write_fact(fact_text=f"Number {number}.", actor=builder)
    ObservationEngine().write_observation(observation_type="insight", summary="Seen.", actor=builder)
    learned = words(viewer).partition('data-steady="learned"')[2].partition("</section>")[0]
    first, _fold, rest = learned.partition("<summary>Show 2 more</summary>")
    texts = [re.findall(r'class="line"[^>]*>Number (\d)', part) for part in (first, rest)]
    assert texts == [["4", "3", "2"], ["1", "0"]]
    row = text(viewer.get("/p/test/observations"))
    assert re.search(r'session\?key=s-1"[^>]*>Number 0\.</a>', row)


def session_links(viewer: Client) -> list[tuple[str, str]]:
    """Return the key and the text of each link to a session in Home's feed."""
    page = viewer.get("/p/test/").content.decode()
    return re.findall(r'session\?[^"]*key=([^"&]+)[^>]*>([^<]*)</a>', page[page.index('id="activity"') :])


def test_what_is_wrong_is_said_with_what_to_do(viewer: Client, project: Project, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "/no/such/model.onnx"}
    Vector.objects.bulk_create(
        Vector(slot=f"{n:032}", project=project, model="m", state=state, next_try=timezone.now())
        for n, state in enumerate(["pending"] * 3 + ["failed"] * 2)
    )
    page = words(viewer)
    assert "The embedding model does not answer:" in page
    assert "/no/such/model.onnx" in page
    assert "2 texts could not be embedded" in page
    assert ("#vectors" in page, "Indexing: 3 pending" in page) == (True, True)


def test_a_change_of_the_model_says_how_far_it_is(viewer: Client, project: Project, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    VectorClock.objects.create(project=project, read_by="model-before")
    Vector.objects.bulk_create(
        Vector(
            slot=f"{n:032}",
            project=project,
            model="minilm-l6-int8",
            n=n,
            state=state,
            next_try=timezone.now(),
        )
        for n, state in enumerate(["pending", "ready", "none"])
    )
    page = words(viewer)
    assert "Indexing: 1 pending · new model minilm-l6-int8: 2 of 3 texts" in page


def test_text_with_markup_and_from_right_to_left(viewer: Client, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="<img src=x onerror=alert(1)> ذاكرة", actor=actor)
    page = words(viewer)
    assert ("<img src=x" in page, "&lt;img src=x" in page, 'dir="auto"' in page) == (False, True, True)


def ask(branch: Branch, how_many: int) -> None:
    """Put open questions on a branch."""
    ReviewItem.objects.bulk_create(
        ReviewItem(
            project=branch.project,
            branch=branch,
            kind="contradiction",
            fact_id=uuid4(),
            other_id=uuid4(),
            pair=str(uuid4()),
            score=0.9,
        )
        for _ in range(how_many)
    )


def counted(client: Client, path: str) -> list[str]:
    """Return the number beside Review, if the page shows one; that of merge requests comes after it."""
    marked = r'<span class="count"(?: id="open-questions" data-branch="[^"]*")?>([^<]*)</span>'
    return re.findall(marked, text(client.get(path)))[:1]


def test_the_navigation_counts_what_waits_here(
    viewer: Client, curator: Client, actor: Actor, main: Branch
) -> None:
    task = BranchManager().create_branch(name="task/a", actor=actor)
    assert counted(curator, "/p/test/facts") == [""]
    ask(main, 2)
    ask(task, 1)
    assert counted(curator, "/p/test/facts") == counted(curator, "/p/test/review") == ["2"]
    assert counted(curator, "/p/test/facts?branch=task/a") == ["1"]
    assert "<strong>1</strong> Needs review" in words(curator, "?branch=task/a")
    assert counted(curator, f"/p/test/facts?at={timezone.now():%Y-%m-%dT%H:%M:%S}") == [""]
    assert counted(viewer, "/p/test/facts") == []
    ask(main, 98)
    assert counted(curator, "/p/test/facts") == ["99+"]
    BranchManager().archive_branch(name="task/a", actor=actor)
    assert counted(curator, "/p/test/facts?branch=task/a") == [""]


def test_the_navigation_of_the_server_counts_it_too(admin_client: Client, main: Branch) -> None:
    ask(main, 4)
    user = get_user_model().objects.get(username="admin")
    Membership.objects.create(project=main.project, user=user, role=Membership.Role.CURATOR)
    assert counted(admin_client, "/admin/p/test/facts") == ["4"]
    assert counted(admin_client, "/admin/auth/user/") == ["4"]


def test_one_fact_is_one(viewer: Client, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="One.", actor=actor)
    assert "<strong>1</strong> Fact added today" in words(viewer)
