"""The queue's page in both frames: its rows and their reasons, bulk actions, saved views, rights."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from curation.models import ReviewItem, SavedView
from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Commit, Fact, Project
from tests.curation.test_queue import ask, rate  # noqa: F401  a fixture
from tests.memory.views.conftest import Role, browser, person

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/review"
facts = FactEngine()


def text(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def tick(*found: Fact) -> list[str]:
    return [f"{fact.uid}:{fact.version}" for fact in found]


def state(fact: Fact, actor: Actor) -> str:
    now = facts.get_fact(fact_id=fact.uid, actor=actor)
    return f"{now.status} {now.verification_status}"


def test_each_row_says_why_it_waits_and_the_empty_queue_teaches(
    curator: Client,
    main: Branch,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    assert "facts that nobody has checked" in text(curator.get(PATH))
    one, two = write("<b>one</b> العربية"), write("two")
    ask(two, one)
    rate(write("rated"), main, verdict="invalidated")
    write("proposed", propose=True, agent_id="ledger")
    write("proposed by hand", propose=True, source="Mira Sandoval")
    html = curator.get(PATH).content.decode()
    assert "<b>one</b>" not in html
    shown = text(curator.get(PATH))
    for reason in (
        "ledger proposes it, and no search finds it yet",
        "Mira Sandoval proposes it, and no search finds it yet",
        "it says nearly the same as another",
        "the judge says invalidated, the rule unverified",
        "no verdict on its present text",
    ):
        assert reason in shown
    assert "rated" not in text(curator.get(f"{PATH}?reason=proposed"))
    assert "rated" in text(curator.get(f"{PATH}?reason=disagreement&reason=expiring"))
    assert "There is no filter" in text(curator.get(f"{PATH}?colour=red"))
    assert "filtered, not searched" in text(curator.get(f"{PATH}?q=words"))
    assert curator.get(f"{PATH}?reason=boring").status_code == 200


def test_bulk_actions_say_what_happened_to_each_row_and_are_undone(
    curator: Client, actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    one, two = write("one"), write("two")
    facts.update_fact(fact_id=two.uid, updates={"confidence": 0.1}, actor=actor)
    answer = curator.post(PATH, {"action": "archive", "fact": tick(one, two), "reason": "Old."}, follow=True)
    assert "1 done · 1 refused" in text(answer)
    assert [state(fact, actor) for fact in (one, two)] == ["archived unverified", "active unverified"]
    report = text(answer)
    assert "refused two The fact is at version 2, not 1" in report
    assert "done one Archived." in report
    commit = Commit.objects.latest("at")
    curator.post(f"/p/test/undo/{commit.pk}")
    assert state(one, actor) == "active unverified"


def test_duplicates_are_merged_and_facts_moved_from_the_page(
    project: Project,
    actor: Actor,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    user = person("cora", project, Role.CURATOR)
    user.is_staff = True
    user.save()
    client, path = browser(user), "/admin/p/test/review"
    BranchManager().create_branch(name="task/x", actor=actor)
    one, two, three = write("one"), write("two"), write("three")
    ask(two, one)
    for name in ("Merge duplicates", "Keep both", "Move"):
        assert name in text(client.get(path))
    done = client.post(path, {"action": "merge_duplicates", "fact": tick(two)}, follow=True)
    assert "Merged." in text(done)
    assert state(one, actor) == "superseded unverified"
    moved = client.post(path, {"action": "move", "to_branch": "task/x", "fact": tick(three)}, follow=True)
    assert "Brought to task/x." in text(moved)
    assert "Moved: it is archived here." in text(moved)
    assert moved.content.decode().count("data-undo") == 2
    assert state(three, actor) == "archived unverified"
    assert client.post(path, {"action": "archive", "all": "1"}).status_code == 400
    wrong = client.post(path, {"action": "move", "to_branch": "no/such", "fact": tick(two)})
    assert (wrong.status_code, "There is no branch named no/such." in text(wrong)) == (404, True)
    assert "no/such" in wrong.content.decode()  # what was typed stays


def test_what_goes_to_where_its_branch_comes_from_stays_here(
    curator: Client, actor: Actor, main: Branch
) -> None:
    PolicyEngine().set_policy(pattern="main", gates=[], actor=actor)
    BranchManager().create_branch(name="task/x", actor=actor)
    fact = facts.write_fact(fact_text="one", branch_name="task/x", actor=actor).fact
    sent = {"action": "move", "to_branch": "main", "fact": tick(fact)}
    moved = curator.post("/p/test/review?branch=task%2Fx", sent, follow=True)
    assert "Brought there; it stays here too, since this branch is on its way there." in text(moved)
    assert moved.content.decode().count("data-undo") == 1
    assert state(fact, actor) == "active unverified"


def test_one_answer_by_a_script_leaves_its_way_back(
    curator: Client, actor: Actor, write: Callable[..., Fact]
) -> None:
    fact = write("one")
    script = {"headers": {"HX-Request": "true"}}
    typed = {"action": "verify", "version": 1}
    answered = curator.post(f"/p/test/facts/{fact.uid}/act", typed, **script).content.decode()
    assert "data-answered" in answered
    again = re.search(r'data-again="([^"]+)"', answered)
    assert again is not None
    address = again[1].replace("&amp;", "&")
    assert "data-answered" in curator.get(address, **script).content.decode()
    curator.post(f"/p/test/undo/{Commit.objects.latest('at').pk}")
    back = curator.get(address, **script).content.decode()
    assert "data-answered" not in back
    assert "no verdict on its present text" in back
    stale = curator.post(f"/p/test/facts/{fact.uid}/act", {**typed, "version": 7}, **script)
    assert (stale.status_code, "data-answered" in stale.content.decode()) == (412, False)


def test_views_are_saved_and_another_curator_may_not_change_them(
    curator: Client, project: Project, main: Branch
) -> None:
    saved = {"name": "Ends soon", "reason": "expiring", "category": "security"}
    assert "The view is saved." in text(curator.post(f"{PATH}/views", saved, follow=True))
    view = SavedView.objects.get()
    assert (view.reasons, view.filters) == (["expiring"], {"category": "security"})
    html = curator.get(PATH).content.decode()
    assert f"{PATH}?reason=expiring&amp;category=security" in html
    other, change = browser(person("carl", project, Role.CURATOR)), f"{PATH}/views/{view.pk}"
    assert "Ends soon" not in text(other.get(PATH))
    assert other.post(change, {"action": "delete"}).status_code == 404
    curator.post(change, {"action": "share"})
    assert "Ends soon" in text(other.get(PATH))
    for action in ("rename", "unshare", "delete"):
        refused = other.post(change, {"action": action, "name": "mine"})
        assert (refused.status_code, "Only cora may change this." in text(refused)) == (403, True)
    view.refresh_from_db()
    assert (view.name, view.shared) == ("Ends soon", True)
    curator.post(change, {"action": "rename", "name": "Soon"})
    assert curator.post(change, {"action": "explode"}).status_code == 400
    typed = {"name": "Soon", "reason": ["expiring", "unverified"], "category": "<b>"}
    answer = curator.post(f"{PATH}/views", typed)
    html = answer.content.decode()
    assert answer.status_code == 409
    for kept in ('name="name" value="Soon"', 'value="unverified"', 'name="category" value="&lt;b&gt;"'):
        assert kept in html
    (reloaded,) = curator.get(f"{PATH}/views", follow=True).redirect_chain
    assert reloaded == (PATH, 302)
    curator.post(f"{PATH}/views", {**typed, "name": "Later", "category": "security"})
    later = SavedView.objects.get(name="Later")
    assert (later.reasons, later.filters) == (["expiring", "unverified"], {"category": "security"})
    answer = curator.post(change, {"action": "rename", "name": "Later"})
    assert (answer.status_code, 'name="action" value="rename"' in answer.content.decode()) == (409, True)
    curator.post(f"{PATH}/views/{later.pk}", {"action": "delete"})
    curator.post(change, {"action": "delete"})
    assert not SavedView.objects.exists()


def test_filters_count_what_they_list_and_the_menu_has_their_sum(
    curator: Client, actor: Actor, main: Branch
) -> None:
    rows = [FactEngine().write_fact(fact_text=f"Fact {n}.", actor=actor).fact for n in range(4)]
    for n in range(3):
        FactEngine().write_fact(fact_text=f"Perhaps {n}.", actor=actor, propose=True)
    for number, kind in enumerate(("contested", "near_duplicate", "near_duplicate")):
        ids = {"fact_id": rows[number + 1].uid, "other_id": rows[number].uid}
        ReviewItem.objects.create(
            project=main.project, branch=main, kind=kind, score=0.9, pair=str(number), **ids
        )
    page = curator.get(PATH).content.decode()
    counts = dict(
        re.findall(r'reason=(\w+)"[^>]*>[^<]*<span class="count" id="[^"]*" data-branch="[^"]*">(\d+)<', page)
    )
    assert counts == {"proposed": "3", "contested": "1", "near_duplicate": "2"}
    assert re.findall(r'id="open-questions" data-branch="[^"]*">(\d*)<', page) == ["6"]
    for reason, count in counts.items():
        listed = curator.get(PATH, {"reason": reason}).content.decode()
        assert len(re.findall(r'<li class="question', listed)) == int(count), reason


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("/p/test/queue", "/p/test/review"),
        ("/p/test/queue?reason=expiring&branch=main", "/p/test/review?reason=expiring&branch=main"),
        ("/admin/p/test/queue?category=x", "/admin/p/test/review?category=x"),
        ("/p/test/review?status=resolved", "/p/test/review/questions?status=resolved"),
        ("/p/test/review?status=proposed", "/p/test/review/questions?status=proposed"),
    ],
)
def test_old_addresses_lead_on(curator: Client, main: Branch, before: str, now: str) -> None:
    user = curator.session["_auth_user_id"]
    if before.startswith("/admin"):
        get_user_model().objects.filter(pk=user).update(is_staff=True)
    answer = curator.get(before)
    assert (answer.status_code, answer.headers["Location"]) == (302, now)
