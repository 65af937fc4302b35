"""Agents that join a task again, and what a task answers once its branch is archived."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.access.work_handles import WorkEngine
from memory.engines.agent_tasks.context import MAX_CONFLICTS, MAX_PLANS
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import BranchArchived, ScopeMissing
from memory.models import AgentTask, AuditEntry, Project, TaskAgent, WorkHandle
from tests.memory.api.client import Api, api_for, nothing_left
from tests.memory.test_agent_tasks import key_actor

ENGINE = TaskEngine()
pytestmark = pytest.mark.django_db(transaction=True)
TASK = "task/fix"


@pytest.fixture
def task(actor: Actor) -> AgentTask:
    return ENGINE.create_task(name="Fix", actor=actor).task


class TestAnotherKey:
    def test_completes_the_part_that_it_joined_again(self, project: Project, task: AgentTask) -> None:
        before, after = key_actor(project), key_actor(project)
        ENGINE.join_task(task="fix", agent_id="ada", actor=before)
        with nothing_left(), pytest.raises(ScopeMissing):
            ENGINE.complete_agent(task="fix", agent_id="ada", actor=after)
        joined = ENGINE.join_task(task="fix", agent_id="ada", actor=after)
        assert (joined.created, joined.part.branch.name) == (False, f"{TASK}/ada")
        entries = AuditEntry.objects.filter(action="task.join").order_by("id")
        assert [one.actor_id for one in entries] == [before.id, after.id]
        assert WorkEngine().resume_work(work=joined.work, actor=after).branch_name == f"{TASK}/ada"
        assert ENGINE.complete_agent(task="fix", agent_id="ada", actor=after).part.state == "completed"

    def test_takes_up_a_completed_part(self, project: Project, task: AgentTask) -> None:
        before, after = key_actor(project), key_actor(project)
        ENGINE.join_task(task="fix", agent_id="ada", actor=before)
        ENGINE.complete_agent(task="fix", agent_id="ada", actor=before)
        assert ENGINE.join_task(task="fix", agent_id="ada", actor=after).part.state == "working"
        assert ENGINE.complete_agent(task="fix", agent_id="ada", actor=after).part.state == "completed"


def test_a_refused_join_changes_nothing(actor: Actor, project: Project, task: AgentTask) -> None:
    ENGINE.join_task(task="fix", agent_id="ada", actor=actor)
    ENGINE.complete_agent(task="fix", agent_id="ada", actor=actor)
    BranchManager().archive_branch(name=f"{TASK}/ada", actor=actor)
    handles = WorkHandle.objects.count()
    with nothing_left(), pytest.raises(BranchArchived):
        ENGINE.join_task(task="fix", agent_id="ada", actor=key_actor_before(project))
    part = TaskAgent.objects.get()
    assert (part.state, part.owner, WorkHandle.objects.count()) == ("completed", f"local:{actor.id}", handles)


def key_actor_before(project: Project) -> Actor:
    return Actor(project.pk, "user", "ned", "ned", frozenset({"write"}))


class TestContext:
    @pytest.fixture
    def conflicts(self, actor: Actor, task: AgentTask) -> Any:
        """Return a function that makes agents whose parts leave so many conflicts each."""

        def make(agents: int, each: int) -> None:
            texts = [{"fact_text": f"Token {n}."} for n in range(each)]
            rows = FactEngine().write_facts(facts=texts, branch_name=TASK, actor=actor).results
            for number in range(agents):
                ENGINE.join_task(task="fix", agent_id=f"a{number}", actor=actor)
            for branch in (TASK, *(f"{TASK}/a{number}" for number in range(agents))):
                for row in rows:
                    FactEngine().update_fact(
                        fact_id=row.fact.uid,
                        updates={"fact_text": f"{row.fact.fact_text} {branch}"},
                        branch_name=branch,
                        actor=actor,
                    )
            for number in range(agents):
                ENGINE.complete_agent(task="fix", agent_id=f"a{number}", actor=actor)

        return make

    def read(self, actor: Actor) -> tuple[Any, int]:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = ENGINE.get_task_context(task="fix", actor=actor)
        return found, len(queries)

    def test_lists_the_conflicts_of_a_few_agents(self, actor: Actor, conflicts: Any) -> None:
        conflicts(MAX_PLANS + 2, 1)
        found, _ = self.read(actor)
        assert [part.agent_id for part, _ in found.conflicts] == [f"a{n}" for n in range(MAX_PLANS)]
        assert [one.part.open_conflicts for one in found.agents] == [1] * (MAX_PLANS + 2)

    def test_plans_no_further_than_it_lists(self, actor: Actor, conflicts: Any) -> None:
        conflicts(3, MAX_CONFLICTS)
        found, all_parts = self.read(actor)
        assert {part.agent_id for part, _ in found.conflicts} == {"a0"}
        assert len(found.conflicts) == MAX_CONFLICTS
        TaskAgent.objects.exclude(agent_id="a0").update(open_conflicts=0)
        assert self.read(actor)[1] == all_parts

    def test_says_that_the_branch_is_archived(self, actor: Actor, project: Project, conflicts: Any) -> None:
        conflicts(1, 1)
        api = api_for(project)
        assert api.get("/tasks/fix/context").json()["archived"] is False
        BranchManager().archive_branch(name=TASK, actor=actor)
        answer = Api(api.token).get("/tasks/fix/context")
        assert (answer.status_code, answer.json()["archived"], answer.json()["conflicts"]) == (200, True, [])
