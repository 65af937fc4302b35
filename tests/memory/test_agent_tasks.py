"""Tasks of agents: made with a branch, joined, their objectives moved; who may, and what is refused."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from memory.actors import Actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.work_handles import WorkEngine
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import (
    AgentForbidden,
    BranchForbidden,
    BranchNotFound,
    Conflict,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    UnknownField,
)
from memory.models import AgentTask, AuditEntry, Branch, Project, TaskAgent, TaskObjective

engine = TaskEngine()
pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
STEPS = ["Find the cause.", "Mend it."]


def key_actor(project: Project, **options: Any) -> Actor:
    """Return the actor of a new key."""
    wanted = {"label": "agent", "scopes": ["write"], **options}
    owner = Actor(project.pk, "local", scopes=frozenset({"admin"}))
    key, _ = KeyEngine().create_key(actor=owner, **wanted)
    return get_actor(key, "rest")


@pytest.fixture
def task(actor: Actor) -> AgentTask:
    return engine.create_task(name="Fix the login", objectives=STEPS, actor=actor).task


def state_of(task: AgentTask) -> list[tuple[int, str, str]]:
    return list(TaskObjective.objects.filter(task=task).values_list("n", "state", "agent_id"))


def unchanged(call: Callable[[], Any], error: type[Exception], **data: Any) -> Exception:
    """Check that a call is refused and leaves no trace."""
    before = count_rows()
    with pytest.raises(error) as caught:
        call()
    assert count_rows() == before
    for name, value in data.items():
        assert caught.value.data[name] == value
    return caught.value


def count_rows() -> list[Any]:
    kinds = (AgentTask, TaskAgent, TaskObjective, Branch, AuditEntry)
    states = [sorted(kind.objects.values_list("pk", "state")) for kind in kinds[:3]]
    return [[kind.objects.count() for kind in kinds], states]


# ---- creation --------------------------------------------------------------------------------------


def test_a_task_has_a_branch_and_objectives(actor: Actor) -> None:
    done = engine.create_task(
        name="Fix the login",
        task_type="bug_fix",
        description="Nobody gets in since Monday.",
        objectives=STEPS,
        actor=actor,
    )
    task = done.task
    assert done.suggested_template is None
    assert (task.slug, task.state, task.branch.name) == ("fix-the-login", "active", "task/fix-the-login")
    assert (task.parent.name, task.branch.purpose) == ("main", "Fix the login")
    assert (task.task_type, task.description) == ("bug_fix", "Nobody gets in since Monday.")
    assert [(one.n, one.text, one.state) for one in task.objectives.all()] == [
        (1, STEPS[0], "todo"),
        (2, STEPS[1], "todo"),
    ]
    assert AuditEntry.objects.filter(action="task.create", target="fix-the-login").count() == 1
    assert engine.get_task(task="fix-the-login", actor=actor) == engine.get_task(task=task.pk, actor=actor)


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Fix: the *login*!", "fix-the-login"), ("x" * 90, "x" * 60), ("Merge", "merge-8851aa"), ("修复", None)],
)
def test_a_short_name_is_made_of_the_name(actor: Actor, name: str, slug: str | None) -> None:
    task = engine.create_task(name=name, actor=actor).task
    assert slug is None or task.slug == slug
    assert task.branch.name == f"task/{task.slug}"
    assert len(task.slug) <= 60


def test_a_task_begins_from_another_branch(actor: Actor) -> None:
    BranchManager().create_branch(name="release", actor=actor)
    FactEngine().write_fact(fact_text="Known on release.", branch_name="release", actor=actor)
    task = engine.create_task(name="Fix", parent="release", actor=actor).task
    assert (task.parent.name, task.branch.fork_seq) == ("release", 1)


@pytest.mark.parametrize(
    ("fields", "error", "field"),
    [
        ({"name": " "}, Invalid, "name"),
        ({"name": "x" * 201}, Invalid, "name"),
        ({"slug": "Fix"}, Invalid, "slug"),
        ({"slug": "a//b"}, Invalid, "slug"),
        ({"slug": "merge"}, Invalid, "slug"),
        ({"slug": "x" * 61}, Invalid, "slug"),
        ({"objectives": "one"}, Invalid, "objectives"),
        ({"objectives": ["one", " "]}, Invalid, "objectives[1]"),
        ({"objectives": ["x" * 501]}, Invalid, "objectives[0]"),
        ({"objectives": ["x"] * 51}, Invalid, "objectives"),
        ({"description": "x" * 4001}, Invalid, "description"),
        ({"color": "red"}, UnknownField, "color"),
        ({"parent": "nowhere"}, BranchNotFound, None),
    ],
)
def test_a_bad_task_is_refused(actor: Actor, fields: dict, error: type[Exception], field: str | None) -> None:
    wanted = {"field": field} if field else {}
    unchanged(lambda: engine.create_task(**{"name": "Fix", **fields}, actor=actor), error, **wanted)


def test_a_short_name_is_taken_once(actor: Actor, task: AgentTask, other_project: Project) -> None:
    unchanged(lambda: engine.create_task(name="Fix the login!", actor=actor), Exists, field="slug")
    BranchManager().create_branch(name="task/other", actor=actor)
    unchanged(lambda: engine.create_task(name="Other", actor=actor), Exists)
    engine.cancel_task(task=task.pk, actor=actor)
    unchanged(lambda: engine.create_task(name="Fix the login", actor=actor), Exists, field="slug")
    assert engine.create_task(name="Fix the login", slug="fix-again", actor=actor).task.slug == "fix-again"
    stranger = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    assert engine.create_task(name="Fix the login", actor=stranger).task.slug == "fix-the-login"


def test_secrets_are_not_kept(actor: Actor) -> None:
    secret = "password=hunter2-Long-And-Random-93"
    task = engine.create_task(name="Rotate", objectives=[f"Change {secret}"], actor=actor).task
    engine.join_task(task=task.pk, agent_id="a", actor=actor)
    engine.update_objective(task=task.pk, n=1, note=f"was {secret}", actor=actor)
    objective = task.objectives.get()
    assert "hunter2" not in objective.text + objective.note


# ---- lists -----------------------------------------------------------------------------------------


def test_tasks_are_listed_and_counted(actor: Actor, task: AgentTask, other_project: Project) -> None:
    other = engine.create_task(name="Other", actor=actor).task
    engine.join_task(task=other.pk, agent_id="ada", actor=actor)
    gone = engine.create_task(name="Gone", actor=actor).task
    engine.cancel_task(task=gone.pk, actor=actor)
    assert [one.slug for one in engine.list_tasks(actor=actor)] == ["gone", "other", "fix-the-login"]
    assert [one.slug for one in engine.list_tasks(actor=actor, state="active")] == ["other", "fix-the-login"]
    assert [one.slug for one in engine.list_tasks(actor=actor, agent_id="ada")] == ["other"]
    assert engine.count_tasks(actor=actor) == {"active": 2, "completed": 0, "cancelled": 1}
    with pytest.raises(Invalid):
        engine.list_tasks(actor=actor, state="lost")
    stranger = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    assert engine.list_tasks(actor=stranger).results == []
    for name in (task.pk, task.slug, "nothing", "é", "x" * 300):
        with pytest.raises(NotFound):
            engine.get_task(task=name, actor=stranger)


def test_a_page_of_tasks_takes_a_fixed_number_of_queries(
    actor: Actor, django_assert_max_num_queries: Any
) -> None:
    for n in range(12):
        task = engine.create_task(name=f"Task {n}", objectives=STEPS, actor=actor).task
        engine.join_task(task=task.pk, agent_id="ada", actor=actor)
    with django_assert_max_num_queries(4):  # tasks, their steps, agents and branches
        page = engine.list_tasks(actor=actor, limit=10)
        assert [len(one.steps) + len(one.parts) for one in page] == [3] * 10
        assert {one.parent.name for one in page} == {"main"}
        assert [one.parts[0].branch.name for one in page] == [f"{one.branch.name}/ada" for one in page]
    assert len(engine.list_tasks(actor=actor, limit=10, cursor=page.next)) == 2


# ---- joining ---------------------------------------------------------------------------------------


def test_an_agent_gets_a_branch_and_a_handle(actor: Actor, task: AgentTask) -> None:
    FactEngine().write_fact(fact_text="The clock is wrong.", branch_name=task.branch.name, actor=actor)
    done = engine.join_task(task=task.pk, agent_id="ada", actor=actor)
    assert (done.created, done.part.agent_id, done.part.state) == (True, "ada", "working")
    assert done.part.branch.name == "task/fix-the-login/ada"
    assert (done.part.branch.parent, done.part.branch.fork_seq) == (task.branch, 1)
    assert WorkEngine().resume_work(work=done.work, actor=actor).branch_name == done.part.branch.name
    again = engine.join_task(task=task.slug, agent_id="ada", actor=actor)
    assert (again.created, again.part.pk, again.part.branch) == (False, done.part.pk, done.part.branch)
    assert Branch.objects.filter(name__startswith="task/fix-the-login/").count() == 1


def test_different_agents_never_share_a_branch(actor: Actor, task: AgentTask) -> None:
    names = ["Ada", "ada", "a d a", "ada/1", "艾达", "merge", "x" * 150]
    branches = [engine.join_task(task=task.pk, agent_id=n, actor=actor).part.branch.name for n in names]
    assert len(set(branches)) == len(names)
    assert branches[1] == "task/fix-the-login/ada"


def test_who_joined_twice_at_once_has_one_branch(actor: Actor, task: AgentTask) -> None:
    found = run_together(
        [lambda: engine.join_task(task=task.pk, agent_id="ada", actor=actor)] * 2
        + [lambda: engine.join_task(task=task.pk, agent_id="bob", actor=actor)]
    )
    assert sorted(one.created for one in found) == [False, True, True]
    assert sorted(TaskAgent.objects.values_list("agent_id", flat=True)) == ["ada", "bob"]


def run_together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Return what the calls give when they run at once: results, or the errors that they raise."""
    found: list[Any] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(position: int) -> None:
        try:
            start.wait()
            found[position] = calls[position]()
        except Exception as error:
            found[position] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_bound_agent_joins_as_itself(project: Project, task: AgentTask) -> None:
    ada = key_actor(project, agent_id="ada")
    assert engine.join_task(task=task.pk, actor=ada).part.agent_id == "ada"
    unchanged(lambda: engine.join_task(task=task.pk, agent_id="bob", actor=ada), AgentForbidden)
    unchanged(lambda: engine.complete_agent(task=task.pk, agent_id="bob", actor=ada), AgentForbidden)
    nobody = key_actor(project)
    unchanged(lambda: engine.join_task(task=task.pk, actor=nobody), Invalid, field="agent_id")


def test_joining_is_refused(actor: Actor, project: Project, task: AgentTask) -> None:
    unchanged(lambda: engine.join_task(task="nothing", agent_id="ada", actor=actor), NotFound)
    reader = key_actor(project, scopes=["read"])
    unchanged(lambda: engine.join_task(task=task.pk, agent_id="ada", actor=reader), ScopeMissing)
    elsewhere = key_actor(project, branch_patterns=["experiment/*"])
    unchanged(lambda: engine.join_task(task=task.pk, agent_id="ada", actor=elsewhere), BranchForbidden)
    unchanged(lambda: engine.create_task(name="Fix the login", actor=elsewhere), BranchForbidden)
    engine.cancel_task(task=task.pk, actor=actor)
    unchanged(lambda: engine.join_task(task=task.pk, agent_id="ada", actor=actor), IllegalTransition)


def test_a_key_of_task_branches_makes_and_joins_tasks(project: Project) -> None:
    keyed = key_actor(project, branch_patterns=["task/*"])
    task = engine.create_task(name="Fix", objectives=["One."], actor=keyed).task
    done = engine.join_task(task=task.pk, agent_id="ada", actor=keyed)
    FactEngine().write_fact(fact_text="Found.", branch_name=done.part.branch.name, actor=keyed)
    engine.update_objective(task=task.pk, n=1, state="active", actor=keyed)
    assert [one.slug for one in engine.list_tasks(actor=keyed)] == ["fix"]
    other = key_actor(project, branch_patterns=["experiment/*"])
    assert engine.list_tasks(actor=other).results == []


# ---- objectives ------------------------------------------------------------------------------------


def test_an_objective_moves_and_says_who(actor: Actor, task: AgentTask) -> None:
    ada, bob = (actor.with_origin(agent_id=name) for name in ("ada", "bob"))
    engine.update_objective(task=task.pk, n=1, state="active", actor=ada)
    assert state_of(task) == [(1, "active", "ada"), (2, "todo", "")]
    engine.update_objective(task=task.pk, n=1, note="It is the clock.", actor=ada)
    engine.update_objective(task=task.pk, n=1, state="blocked", note="No access.", actor=ada)
    engine.update_objective(task=task.pk, n=1, state="active", actor=bob)
    engine.update_objective(task=task.pk, n=1, state="done", actor=bob)
    assert state_of(task) == [(1, "done", "bob"), (2, "todo", "")]
    assert task.objectives.get(n=1).note == "No access."
    engine.update_objective(task=task.pk, n=1, state="active", actor=ada)
    engine.update_objective(task=task.pk, n=1, state="todo", actor=ada)
    assert state_of(task)[0][1] == "todo"


@pytest.mark.parametrize(
    ("begin", "state"),
    [((), "done"), ((), "blocked"), (("active", "done"), "blocked"), (("active", "blocked"), "done")],
)
def test_an_illegal_move_is_refused(actor: Actor, task: AgentTask, begin: tuple, state: str) -> None:
    for one in begin:
        engine.update_objective(task=task.pk, n=1, state=one, actor=actor)
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, state=state, actor=actor), IllegalTransition)


def test_a_change_of_an_objective_is_refused(actor: Actor, project: Project, task: AgentTask) -> None:
    for n in (0, 3, 51, 10**9):
        unchanged(
            lambda n=n: engine.update_objective(task=task.pk, n=n, state="active", actor=actor), NotFound
        )
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, actor=actor), Invalid, field="state")
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, state="over", actor=actor), Invalid)
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, text="x", actor=actor), UnknownField)
    engine.update_objective(task=task.pk, n=1, state="active", actor=actor.with_origin(agent_id="ada"))
    bob = actor.with_origin(agent_id="bob")
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, state="active", actor=bob), Conflict)
    stranger = key_actor(project, label="stranger")
    unchanged(lambda: engine.update_objective(task=task.pk, n=1, state="done", actor=stranger), ScopeMissing)
    engine.join_task(task=task.pk, agent_id="eve", actor=stranger)
    engine.update_objective(task=task.pk, n=1, state="done", actor=stranger)
    engine.cancel_task(task=task.pk, actor=actor)
    unchanged(
        lambda: engine.update_objective(task=task.pk, n=2, state="active", actor=actor), IllegalTransition
    )


def test_two_agents_do_not_begin_the_same_objective(actor: Actor, task: AgentTask) -> None:
    def begin(agent: str) -> Callable[[], Any]:
        who = actor.with_origin(agent_id=agent)
        return lambda: engine.update_objective(task=task.pk, n=1, state="active", actor=who)

    found = run_together([begin("ada"), begin("bob")])
    assert sorted(isinstance(one, Conflict) for one in found) == [False, True]


# ---- cancelling ------------------------------------------------------------------------------------


def test_a_cancelled_task_archives_its_branches(actor: Actor, task: AgentTask) -> None:
    engine.join_task(task=task.pk, agent_id="ada", actor=actor)
    row = engine.cancel_task(task=task.pk, result="Not needed.", actor=actor)
    assert (row.state, row.result) == ("cancelled", "Not needed.")
    assert row.completed_at is not None
    assert [one.state for one in row.agents.all()] == ["left"]
    assert not Branch.objects.live().filter(name__startswith="task/").exists()
    unchanged(lambda: engine.cancel_task(task=task.pk, actor=actor), IllegalTransition)
    unchanged(lambda: engine.complete_task(task=task.pk, actor=actor), IllegalTransition)
    unchanged(lambda: engine.complete_agent(task=task.pk, agent_id="ada", actor=actor), IllegalTransition)


def test_anothers_task_is_cancelled_by_who_curates(actor: Actor, project: Project, task: AgentTask) -> None:
    writer, curator = key_actor(project), key_actor(project, scopes=["curate"])
    unchanged(lambda: engine.cancel_task(task=task.pk, actor=writer), ScopeMissing)
    assert engine.cancel_task(task=task.pk, actor=curator).state == "cancelled"


# ---- writes that name a task -----------------------------------------------------------------------


def test_a_write_that_names_a_task_lands_where_it_says(actor: Actor, task: AgentTask) -> None:
    who = actor.with_origin(task_id=str(task.pk), agent_id="ada")
    on_main = FactEngine().write_fact(fact_text="On main.", actor=who)
    on_task = FactEngine().write_fact(fact_text="On the task.", branch_name=task.branch.name, actor=who)
    assert (on_main.fact.branch.name, on_task.fact.branch.name) == ("main", task.branch.name)
    assert on_main.fact.task_id == on_task.fact.task_id == str(task.pk)
