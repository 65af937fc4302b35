"""The pages of analytics: figures, agents, junk that is archived and comes back, Home and sessions."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Commit, Project
from tests.analytics.test_figures import Write, backdate, without_vectors, write
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, person, viewer

__all__ = ["browser", "curator", "person", "viewer", "without_vectors", "write"]
pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/insights"
facts = FactEngine()


def test_an_empty_project_says_how_it_begins(curator: Client, main: Branch) -> None:
    answer = curator.get(PATH)
    assert answer.status_code == 200
    assert "A fact is one thing worth remembering" in text(answer) or "write-fact" in text(answer)


def test_junk_is_shown_before_it_is_archived(curator: Client, write: Write, actor: Actor) -> None:
    ended = {"valid_until": timezone.now() - timedelta(days=1)}
    over, _ = write("Over <b>fact</b>.", **ended), write("Kept.", pinned=True, **ended)
    page = curator.get(PATH)
    html = page.content.decode()
    assert "Expired or outdated 2" in text(page)
    assert "<b>fact</b>" not in html
    boxes = re.findall(r'<input[^>]*value="[0-9a-f-]{36}:\d+"[^>]*>', html)
    assert [len(boxes), sum("checked" in box for box in boxes)] == [2, 0]
    chosen = {"action": "archive", "fact": f"{over.uid}:1"}
    asked = curator.post(PATH, chosen)
    assert "Archive this fact" in text(asked)
    assert re.findall(r'value="([0-9a-f-]{36}):1"', asked.content.decode()) == [str(over.uid)]
    assert facts.get_fact(fact_id=over.uid, actor=actor).status == "active"
    done = curator.post(PATH, {**chosen, "sure": "1"}, follow=True)
    assert "Undo" in text(done)
    assert facts.get_fact(fact_id=over.uid, actor=actor).status == "archived"
    commit = Commit.objects.order_by("-seq")[0]
    assert curator.post(f"/p/test/undo/{commit.pk}").status_code == 302
    assert facts.get_fact(fact_id=over.uid, actor=actor).status == "active"
    assert "Tick at least one" in text(curator.post(PATH, {"action": "archive"}))
    all_of_them = curator.post(PATH, {"action": "archive", "all": "1"})
    assert (all_of_them.status_code, "only be chosen by filters" in text(all_of_them)) == (400, True)


def test_agents_by_their_rejected_facts(curator: Client, write: Write, actor: Actor) -> None:
    wrong = write("One.", agent="eve <i>")
    write("Two.")
    facts.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
    html = curator.get(PATH).content.decode()
    assert html.index("eve &lt;i&gt;") < html.index(">ada<")
    page = curator.get("/p/test/agent", {"key": "eve <i>"})
    assert page.status_code == 200
    assert "1 Rejected" in text(page)
    assert curator.get("/p/test/agent?key=nobody").status_code == 404
    assert curator.get("/p/test/agent").status_code in (400, 404)


def test_ranges_and_csv(curator: Client, write: Write) -> None:
    write("One.")
    assert curator.get(f"{PATH}?days=3650").status_code == 200
    assert curator.get(f"{PATH}?days=0").status_code == 400
    assert curator.get(f"{PATH}?junk=moon").status_code == 400
    answer = curator.get(f"{PATH}?days=7&format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    assert len(b"".join(answer.streaming_content).splitlines()) == 8


def test_a_past_point_shows_what_was_there(curator: Client, write: Write, main: Branch) -> None:
    write("One.")
    main.refresh_from_db()
    point = main.head
    write("Two.")
    page = curator.get(f"{PATH}?at={point}")
    assert re.search(r"\b1 Facts written", text(page))
    assert "Archive …" not in text(page)


def test_home_says_what_agents_did_the_day_before(curator: Client, project: Project, did: Any) -> None:
    who = backdate(project, 1).with_origin(agent_id="ada", session_id="s9")
    facts.write_facts(facts=[{"fact_text": "One.", "category": "decision"}, {"fact_text": "Two."}], actor=who)
    home = curator.get("/p/test/")
    home = home if home.status_code == 200 else curator.get("/p/test", follow=True)
    assert re.search(r"ada 1 session, 2 new facts", text(home))
    assert "agent?key=ada" in home.content.decode()


def test_an_agents_page_goes_to_the_branch_where_it_worked(
    curator: Client, actor: Actor, write: Write
) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    facts.write_fact(fact_text="There.", actor=actor.with_origin(agent_id="zoe"), branch_name="task/x")
    answer = curator.get("/p/test/agent?key=zoe")
    assert (answer.status_code, answer["Location"]) == (302, "/p/test/agent?branch=task%2Fx&key=zoe")
    assert "On task/x." in text(curator.get(answer["Location"]))
    assert curator.get("/p/test/agent?key=nobody").status_code == 404


def test_a_session_shows_what_it_did(curator: Client, write: Write, did: Any) -> None:
    write("One.", session_id="s1")
    did("Bash", "make")
    page = curator.get("/p/test/session?key=s1")
    assert "Bash 1 0" in text(page)
    assert "agent?key=ada" in page.content.decode()


@pytest.mark.parametrize(("kept", "days", "is_said"), [(90, 365, True), (90, 90, False), (0, 365, False)])
def test_a_range_beyond_the_kept_recalls_says_so(
    curator: Client, write: Write, settings: Any, kept: int, days: int, is_said: bool
) -> None:
    write("One.")
    settings.DAY1 = {**settings.DAY1, "recall_days": kept}
    shown = text(curator.get(PATH, {"days": days}))
    assert ("Recalls are kept for 90 days: before, they are not counted." in shown) is is_said
