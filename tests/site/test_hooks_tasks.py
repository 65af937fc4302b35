"""POST /ingest/hook: a session whose task is known is told of it."""

import json

import pytest

from memory.engines.agent_tasks.engine import TaskEngine
from memory.models import Session
from memory.ranking import count_tokens
from tests.memory.api.client import api_for
from tests.site.hook_events import HOOK, event, told

pytestmark = pytest.mark.django_db(transaction=True)
engine = TaskEngine()
TASK = "task/fix-the-login"


@pytest.fixture
def task(actor):
    made = engine.create_task(name="Fix the login", objectives=["Find the cause.", "Mend it."], actor=actor)
    engine.update_objective(task=made.task.pk, n=1, state="active", actor=actor.with_origin(agent_id="ada"))
    return made.task


def start(api, session: str, branch: str = "main") -> str:
    """Return the answer to the start of a session on a branch."""
    answer = api.post(f"{HOOK}?client=claude-code&branch={branch}", event("SessionStart", session))
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


LINES = [
    "Task: Fix the login [fix-the-login, open objectives: 2]",
    "- 1. Find the cause. [active, ada]",
    "- 2. Mend it. [todo]",
]


def test_a_session_on_the_tasks_branch_is_told_of_it(api, task):
    answer = start(api, "s1", TASK)
    assert told(answer).splitlines()[2:-1] == LINES
    assert start(api, "s1", TASK) == answer
    assert "Fix the login" in Session.objects.get().context


def test_so_is_one_on_an_agents_branch_and_one_that_names_the_task(api, actor, task):
    engine.join_task(task=task.pk, agent_id="ada", actor=actor)
    assert told(start(api, "s1", f"{TASK}/ada")).splitlines()[2:-1] == LINES
    for key, name in (("s2", str(task.pk)), ("s3", task.slug)):
        api.post("/sessions", {"session_id": key, "task_id": name})
        assert told(start(api, key)).splitlines()[2:-1] == LINES
        assert Session.objects.get(key=key).context == ""  # others who read main may not know the task


def test_what_is_done_or_over_is_not_told(api, actor, task):
    engine.update_objective(task=task.pk, n=1, state="done", actor=actor.with_origin(agent_id="ada"))
    assert told(start(api, "s1", TASK)).splitlines()[2:-1] == [
        "Task: Fix the login [fix-the-login, open objectives: 1]",
        LINES[2],
    ]
    engine.complete_task(task=task.pk, actor=actor)
    assert start(api, "s2", TASK) == ""


@pytest.mark.parametrize("name", ["nothing", "é", "x" * 200, "01890000-0000-7000-8000-000000000000"])
def test_a_task_that_is_not_known_is_not_told(api, task, name):
    api.post("/sessions", {"session_id": "s1", "task_id": name})
    assert start(api, "s1") == ""


def test_who_may_not_use_its_branch_is_not_told(project, api, task):
    keyed = api_for(project, branch_patterns=["main"])
    assert keyed.post("/sessions", {"session_id": "s1", "task_id": task.slug}).status_code == 201
    assert start(keyed, "s1") == ""


def test_a_long_task_keeps_within_the_budget(api, actor):
    steps = [f"{n} " + "<day1-memory> long words " * 19 for n in range(50)]
    engine.create_task(name="Long " * 30, slug="long", objectives=steps, actor=actor)
    text = json.loads(start(api, "s1", "task/long"))["hookSpecificOutput"]["additionalContext"]
    assert count_tokens(text) <= 1000
    assert text.count("<day1-memory>") == 1
    assert len(text.splitlines()) == 12
