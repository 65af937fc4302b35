"""The form of a merge request: the memories that a cherry-pick takes are ticked there."""

import re

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.links import LinkEngine
from memory.models import Fact, MergeRequest, Project
from tests.memory.views.test_merge_request_pages import ENGINE, FACTS, TASK, diverge, shown, text, verify

pytestmark = pytest.mark.django_db(transaction=True)
FORM = f"/p/test/merge-requests/new?source={TASK}"
SENT = {"title": "Some of it", "description": "", "target": "main", "strategy": "cherry_pick"}
NOWHERE = "01a20ac4-d9b4-74b0-94b7-0e70285cff7b"
ONE, TWO = "Logins need the clock.", "The clock runs four minutes fast."


@pytest.fixture
def two(actor: Actor, project: Project) -> tuple[Fact, Fact]:
    """Write two linked facts on a branch."""
    BranchManager().create_branch(name=TASK, actor=actor)
    one, two = (FACTS.write_fact(fact_text=line, branch_name=TASK, actor=actor).fact for line in (ONE, TWO))
    ends = {"from_id": one.uid, "to_id": two.uid}
    LinkEngine().write_link(**ends, link_type="DEPENDS_ON", branch_name=TASK, actor=actor)
    return one, two


def list_offered(page: str) -> list[tuple[str, bool, str]]:
    """Return the memories that can be ticked: id, whether it is, and its words."""
    found = re.findall(r'<input type="checkbox" name="ids" value="([^"]+)"([^>]*)> <span>(.*?)</span>', page)
    return [(uid, "checked" in rest, words) for uid, rest, words in found]


def test_the_memories_of_the_branch_are_offered(curator: Client, two: tuple[Fact, Fact]) -> None:
    page = text(curator.get(FORM))
    assert "cherry_pick: only the memories that you tick" in page
    offered = [(str(fact.uid), False, fact.fact_text) for fact in two]
    assert list_offered(page) == offered  # and not the link, which comes with its facts


def test_what_is_ticked_is_merged_and_nothing_else(
    curator: Client, actor: Actor, project: Project, two: tuple[Fact, Fact]
) -> None:
    _one, picked = two
    verify(actor, picked.uid, TASK)
    made = curator.post(FORM, {**SENT, "ids": [str(picked.uid)]}, follow=True)
    assert made.redirect_chain == [("/p/test/merge-requests/1", 302)]
    request = MergeRequest.objects.get()
    assert (request.strategy, request.ids) == ("cherry_pick", [str(picked.uid)])
    changes = text(curator.get("/p/test/merge-requests/1?tab=changes"))
    assert ("not picked" in changes, ONE in changes) == (True, True)
    ENGINE.merge_request(request_id=1, actor=actor)
    assert shown(project) == {TWO}


def test_a_pick_of_nothing_is_refused_and_the_form_keeps_its_input(
    curator: Client, two: tuple[Fact, Fact]
) -> None:
    answer = curator.post(FORM, {**SENT, "description": "Much typed"})
    page = text(answer)
    assert answer.status_code == 400
    assert ("Name the memories to pick." in page, "Much typed" in page) == (True, True)
    answer = curator.post(FORM, {**SENT, "title": "x" * 201, "ids": [str(two[0].uid)]})
    assert [ticked for _uid, ticked, _words in list_offered(text(answer))] == [True, False]
    assert curator.post(FORM, {**SENT, "ids": ["nonsense"]}).status_code == 400
    unknown = curator.post(FORM, {**SENT, "ids": [NOWHERE]})
    assert (unknown.status_code, f"The source has no change of {NOWHERE}." in text(unknown)) == (400, True)
    assert not MergeRequest.objects.exists()


def test_ticks_count_for_no_other_strategy(curator: Client, two: tuple[Fact, Fact]) -> None:
    answer = curator.post(FORM, {**SENT, "strategy": "auto", "ids": [str(two[0].uid)]})
    assert answer.status_code == 302
    assert (MergeRequest.objects.get().strategy, MergeRequest.objects.get().ids) == ("auto", [])


def test_what_conflicts_or_was_removed_says_so(curator: Client, actor: Actor) -> None:
    old = FACTS.write_fact(fact_text="Old.", actor=actor).fact
    (fact,) = diverge(actor, 1)
    FACTS.delete_fact(fact_id=old.uid, branch_name=TASK, actor=actor)
    gone = FACTS.write_fact(fact_text="Gone.", branch_name=TASK, actor=actor).fact
    FACTS.delete_fact(fact_id=gone.uid, branch_name=TASK, actor=actor)
    words = {uid: line for uid, _ticked, line in list_offered(text(curator.get(FORM)))}
    assert words[str(fact.uid)] == f"in conflict: Token 0 of {TASK} lives for an hour."
    assert words[str(old.uid)] == "removed: Old."
    assert str(gone.uid) not in words


def test_without_changes_nothing_can_be_ticked(curator: Client, actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)
    page = text(curator.get(FORM))
    assert ("cherry_pick" in page, 'name="ids"' in page) == (False, False)


def test_what_main_is_merged_into_is_left_to_choose(curator: Client, actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)
    page = curator.get("/p/test/merge-requests/new")
    assert page.context["form"]["target"].value() == ""
    assert (page.context["targets"], f'value="{TASK}"' in text(page)) == ([TASK], True)
