"""The board of tasks and the page of one, in both frames: what each role sees and may do."""

from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.facts.engine import FactEngine
from memory.models import AgentTask, TaskObjective
from tests.memory.views.test_page_frame import get_page, text

pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
engine = TaskEngine()
BOARD, PAGE = "/p/test/tasks", "/p/test/tasks/fix-the-login"


@pytest.fixture
def task(actor: Actor) -> AgentTask:
    steps = ["Find the cause.", "Mend it."]
    made = engine.create_task(name="Fix the login", objectives=steps, task_type="bug_fix", actor=actor)
    engine.join_task(task=made.task.pk, agent_id="ada", actor=actor)
    return made.task


def test_the_board_has_tasks_by_state(viewer: Client, actor: Actor, task: AgentTask) -> None:
    engine.create_task(name="Other work", actor=actor)
    engine.cancel_task(task="other-work", actor=actor)
    page = get_page(viewer, BOARD)
    assert ("Fix the login" in page, "0 of 2 done" in page, "ada" in page) == (True, True, True)
    assert "Other work" not in page
    for state, shown in (("cancelled", (False, True)), ("all", (True, True)), ("completed", (False, False))):
        page = get_page(viewer, f"{BOARD}?state={state}")
        assert ("Fix the login" in page, "Other work" in page) == shown
    assert "No task is in this state." in page
    assert f'href="{PAGE}"' in viewer.get(BOARD).content.decode()
    assert viewer.get(f"{BOARD}?colour=red").status_code == 400


def test_a_person_makes_a_task(maintainer: Client, viewer: Client) -> None:
    form = {
        "name": "Fix the login",
        "objectives": "Find the cause.\r\n\r\n Mend it. ",
        "slug": "",
        "parent": "",
    }
    page = maintainer.post(BOARD, form, follow=True)
    assert page.redirect_chain == [(PAGE, 302)]
    assert ("The task was made." in text(page), "Mend it." in text(page)) == (True, True)
    assert list(TaskObjective.objects.values_list("text", flat=True)) == ["Find the cause.", "Mend it."]
    again = maintainer.post(BOARD, form)
    assert (again.status_code, "exists already" in text(again), "Mend it." in text(again)) == (
        409,
        True,
        True,
    )
    assert maintainer.post(BOARD, {"name": ""}).status_code == 400
    assert viewer.post(BOARD, {**form, "name": "Another"}).status_code == 403
    assert AgentTask.objects.count() == 1


def test_the_page_of_a_task(viewer: Client, actor: Actor, task: AgentTask) -> None:
    fact = (
        FactEngine()
        .write_fact(fact_text="Clocks differ.", branch_name=f"{task.branch}/ada", actor=actor)
        .fact
    )
    page = get_page(viewer, PAGE)
    for words in ("Fix the login", "Find the cause.", "ada", "+1 −0", "Clocks differ.", "bug_fix"):
        assert words in page
    html = viewer.get(PAGE).content.decode()
    assert f"/p/test/facts/{fact.uid}?branch=task" in html
    assert "/p/test/branches/task/fix-the-login/ada?against=task" in html
    for words in ("Complete the task", "Complete and merge", "Begin"):
        assert words not in page
    assert viewer.get("/p/test/tasks/nothing").status_code == 404


@pytest.mark.parametrize("root", ["", "/admin"])
def test_who_may_acts_on_it(curator: Client, maintainer: Client, task: AgentTask, root: str) -> None:
    client = maintainer if root else curator
    if root:
        grant_admin("max")
    page = get_page(client, root + PAGE)
    assert ("Begin" in page, "Complete and merge" in page, "Complete the task" in page) == (True, True, True)

    def act(**fields: str) -> Any:
        return client.post(root + PAGE, fields, follow=True)

    assert "Objective 1 was changed." in text(act(do="objective:1:active"))
    assert "Objective 1 was changed." in text(act(do="objective:1:done"))
    assert "1 of 2 done" in get_page(client, root + PAGE)
    assert "ada completed its part." in text(act(do="complete_agent:ada"))
    done = text(act(do="complete", result="Mended."))
    assert ("There was nothing durable to offer." in done, "Mended." in done) == (True, True)
    assert "Complete the task" not in done


def test_what_is_offered_stands_on_the_page(viewer: Client, actor: Actor, task: AgentTask) -> None:
    FactEngine().write_fact(
        fact_text="Clocks differ.",
        category="bug_fix",
        confidence=0.9,
        branch_name=task.branch.name,
        actor=actor,
    )
    engine.complete_task(task=task.pk, result="Mended.", actor=actor)
    page = get_page(viewer, PAGE)
    link = '<a href="/p/test/merge-requests/1">merge request #1</a>'
    assert f"1 fact is offered to main in {link}." in page
    assert ("</svg>open</span>" in page, "Mended." in page) == (True, True)
    assert viewer.get("/p/test/merge-requests/1").status_code == 200


def grant_admin(name: str) -> None:
    from django.contrib.auth import get_user_model

    get_user_model().objects.filter(username=name).update(is_staff=True)


def test_conflicts_stand_on_the_page(curator: Client, actor: Actor, task: AgentTask) -> None:
    fact = FactEngine().write_fact(fact_text="An hour.", branch_name=task.branch.name, actor=actor).fact
    engine.join_task(task=task.pk, agent_id="bob", actor=actor)
    FactEngine().update_fact(
        fact_id=fact.uid, updates={"fact_text": "A day."}, branch_name=task.branch.name, actor=actor
    )
    bob = f"{task.branch}/bob"
    FactEngine().update_fact(fact_id=fact.uid, updates={"fact_text": "A week."}, branch_name=bob, actor=actor)
    page = text(curator.post(PAGE, {"do": "complete_agent:bob"}, follow=True))
    assert "bob completed its part; 1 conflict waits for a decision." in page
    assert ("1 conflict<" in page, "changed on both sides" in page, "A week." in page) == (True, True, True)
