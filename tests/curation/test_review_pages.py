"""The review queue's pages: questions, undoable answers, and refusals."""

from typing import Any

import pytest
from django.test import Client

from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Commit, Fact

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = FactEngine()


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def pairs(actor: Actor, count: int, score: float = 0.93) -> list[ReviewItem]:
    """Create so many review items, each of two facts."""
    branch = Branch.objects.get(project=actor.project_id, name="main")
    items = []
    asked = ReviewItem.objects.count()
    for number in range(asked, asked + count):
        one, two = (
            FACTS.write_fact(fact_text=f"Tokens {number} live {span}.", actor=actor, agent_id=span).fact
            for span in ("an hour", "a day")
        )
        items.append(
            ReviewItem(
                project_id=actor.project_id,
                branch=branch,
                kind="near_duplicate",
                fact_id=two.uid,
                other_id=one.uid,
                pair=f"{one.uid.hex}:{two.uid.hex}",
                score=score,
                details={"versions": {str(one.uid): 1, str(two.uid): 1}},
            )
        )
    return ReviewItem.objects.bulk_create(items)


def answer(client: Client, item: ReviewItem, decision: str, **typed: Any) -> Any:
    return client.post(f"/p/test/review/{item.pk}", {"decision": decision, **typed})


def fact(uid: Any, actor: Actor) -> Fact:
    return FACTS.get_fact(fact_id=uid, actor=actor)


def test_the_queue_teaches_when_it_is_empty(curator: Client) -> None:
    assert "Nothing needs review." in text(curator.get("/p/test/review"))
    answered = text(curator.get("/p/test/review/questions?status=resolved"))
    assert "Nothing was answered yet." in answered
    assert "Every answer can be undone." in answered.split("Nothing was answered yet.")[1]


def test_an_empty_queue_says_that_proposals_wait(curator: Client, actor: Actor) -> None:
    for words in ("1 proposal does", "2 proposals do"):
        FACTS.write_fact(fact_text=f"Perhaps: {words}.", propose=True, actor=actor)
        page = text(curator.get("/p/test/review/questions"))
        assert f"No question waits, but {words}." in page
        assert "Nothing needs review." not in page


def test_a_question_shows_both_facts_and_what_differs(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    for path in ("review", f"review/{item.pk}"):
        page = text(curator.get(f"/p/test/{path}"))
        assert "Tokens 0 live <del>an hour</del><ins>a day</ins>." in page
        assert f'name="keep" value="{item.fact_id}" data-nth="2" checked' in page
        assert f'name="version-{item.other_id}" value="1"' in page


def test_the_newer_of_a_contested_pair_is_proposed_to_take_the_place(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1, score=0.6)
    ReviewItem.objects.filter(pk=item.pk).update(kind="contested")
    FACTS.set_verification(fact_id=item.other_id, verdict="verified", actor=actor)
    page = text(curator.get("/p/test/review/questions"))
    assert "Does the newer one take the place of the older?" in page
    assert f'name="keep" value="{item.fact_id}" data-nth="2" checked' in page
    assert page.count('value="supersede"') == 1
    answer(curator, item, "supersede", keep=str(item.fact_id))
    assert fact(item.other_id, actor).status == "superseded"


def test_a_verified_fact_is_proposed_to_stay(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    FACTS.set_verification(fact_id=item.other_id, verdict="verified", actor=actor)
    page = text(curator.get("/p/test/review"))
    assert f'name="keep" value="{item.other_id}" data-nth="1" checked' in page


@pytest.mark.parametrize(
    ("decision", "newer", "older"),
    [
        ("same", "active", "superseded"),
        ("supersede", "active", "superseded"),
        ("archive", "active", "archived"),
        ("keep_both", "active", "active"),
        ("dismiss", "active", "active"),
        ("combine", "superseded", "superseded"),
    ],
)
def test_each_answer_and_its_way_back(
    curator: Client, actor: Actor, decision: str, newer: str, older: str
) -> None:
    (item,) = pairs(actor, 1)
    done = answer(curator, item, decision, keep=item.fact_id, new_fact_text="Tokens 0 live long.\r\n")
    assert done.headers["Location"] == "/p/test/review"
    assert (fact(item.fact_id, actor).status, fact(item.other_id, actor).status) == (newer, older)
    item.refresh_from_db()
    assert (item.status, item.resolution, item.resolved_by) == ("resolved", decision, "cora")
    commit = Commit.objects.get(kind="review.resolve")
    assert f'action="/p/test/undo/{commit.pk}"' in text(curator.get("/p/test/review"))
    curator.post(f"/p/test/undo/{commit.pk}")
    assert (fact(item.fact_id, actor).status, fact(item.other_id, actor).status) == ("active", "active")
    item.refresh_from_db()
    assert item.status == "open"


def test_a_script_gets_the_place_of_the_question_and_the_way_back(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    done = curator.post(
        f"/p/test/review/{item.pk}", {"decision": "keep_both"}, headers={"HX-Request": "true"}
    )
    page = text(done)
    assert (
        f'<li class="question answered" id="q-{item.pk}" data-answered data-again="/p/test/review/{item.pk}">'
        in page
    )
    assert 'id="toasts" aria-live="polite" hx-swap-oob="true"' in page
    assert f'action="/p/test/undo/{Commit.objects.get(kind="review.resolve").pk}"' in page


def test_a_fact_that_changed_meanwhile_is_read_again(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    FACTS.update_fact(fact_id=item.fact_id, updates={"fact_text": "Tokens live for ever."}, actor=actor)
    read = {f"version-{item.fact_id}": 1, f"version-{item.other_id}": 1}
    late = answer(curator, item, "combine", new_fact_text="mine <b>", **read)
    page = text(late)
    assert (late.status_code, "Below is how it is now." in page, "for ever" in page) == (412, True, True)
    assert "mine &lt;b&gt;</textarea>" in page
    assert ReviewItem.objects.get().status == "open"


def test_a_branch_that_is_archived_under_an_open_question(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    item.branch = BranchManager().create_branch(name="task/open", actor=actor)
    item.save()
    BranchManager().archive_branch(name="task/open", actor=actor)
    late = answer(curator, item, "combine", new_fact_text="What I typed.")
    assert (late.status_code, "is archived and takes no writes" in text(late)) == (409, True)
    assert "What I typed.</textarea>" in text(late)
    page = text(curator.get("/p/test/review?branch=task/open"))
    assert ("task/open is archived: it can be read" in page, 'name="decision"' in page) == (True, False)
    assert "Do these two say the same?" not in text(curator.get("/p/test/review"))


def test_who_comes_second_is_told(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    ReviewEngine().resolve_item(item_id=item.pk, decision="dismiss", actor=actor)
    late = curator.post(f"/p/test/review/{item.pk}", {"decision": "same", "keep": item.fact_id}, follow=True)
    assert "Already answered: dismissed, by local." in text(late)


def test_a_question_about_a_fact_that_is_gone_can_be_dismissed(curator: Client, actor: Actor) -> None:
    (item,) = pairs(actor, 1)
    FACTS.delete_fact(fact_id=item.fact_id, actor=actor)
    page = text(curator.get("/p/test/review"))
    assert "main does not show this fact any more." in page
    assert 'value="dismiss" data-key="i"' in page
    answer(curator, item, "dismiss")
    assert ReviewItem.objects.get().resolution == "dismiss"
