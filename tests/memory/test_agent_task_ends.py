"""The end of agents' parts and of tasks: hooks, merges with their conflicts, durable facts, the context."""

from typing import Any
from uuid import UUID

import pytest

from memory.actors import Actor
from memory.checks import settings_are_known
from memory.engines.access.policies import PolicyEngine
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import (
    BranchForbidden,
    Conflict,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
)
from memory.models import AgentTask, AuditEntry, Commit, Fact, MergeRequest, Project, TaskAgent
from tests.memory.test_agent_tasks import key_actor, run_together, unchanged

engine = TaskEngine()
pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
HOOK = "tests.memory.test_agent_task_ends.Recorder"
TASK, ADA = "task/fix", "task/fix/ada"


class Recorder:
    """Hook that writes a fact before the merge, as consolidation does."""

    def complete_agent(self, part: TaskAgent, actor: Actor) -> None:
        text = f"Summary of {part.agent_id}."
        FactEngine().write_fact(fact_text=text, branch_name=part.branch.name, actor=actor)

    def complete_task(self, task: AgentTask, actor: Actor) -> None:
        FactEngine().write_fact(
            fact_text=f"Summary of {task.slug}.",
            category="decision",
            confidence=0.9,
            branch_name=task.branch.name,
            actor=actor,
        )

    def cancel_task(self, task: AgentTask, actor: Actor) -> None:
        """Write nothing: the branches are archived already."""


@pytest.fixture
def task(actor: Actor) -> AgentTask:
    return engine.create_task(name="Fix", objectives=["One.", "Two."], actor=actor).task


def join(actor: Actor, *agents: str) -> None:
    for agent in agents:
        engine.join_task(task="fix", agent_id=agent, actor=actor)


def write(actor: Actor, branch: str, text: str, **fields: Any) -> Fact:
    return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **fields).fact


def texts(actor: Actor, branch: str) -> list[str]:
    found = BranchManager().get_branch(name=branch, actor=actor)
    return sorted(Fact.objects.on(found).values_list("fact_text", flat=True))


# ---- an agent's part -------------------------------------------------------------------------------


def test_a_completed_part_is_merged_into_the_task(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada", "bob")
    fact = write(actor, ADA, "The clock is wrong.")
    assert texts(actor, TASK) == []
    done = engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert (done.part.state, done.part.open_conflicts, done.conflicts) == ("completed", 0, [])
    assert done.part.merge_counts == {"fact": {"applied": 1}}
    assert texts(actor, TASK) == ["The clock is wrong."]
    assert texts(actor, "main") == []
    commit = Commit.objects.get(pk=done.part.merge_commit)
    assert (commit.branch.name, commit.source_branch) == (TASK, done.part.branch)
    assert commit.message == "ada completed its part of fix."
    stored = TaskAgent.objects.get(agent_id="ada")
    assert (stored.state, stored.merge_counts) == ("completed", {"fact": {"applied": 1}})
    assert stored.completed_at is not None
    assert FactEngine().get_fact(fact_id=fact.uid, branch_name=TASK, actor=actor).agent_id == ""


def test_a_part_without_a_change_makes_no_commit(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada")
    done = engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert (done.part.merge_commit, done.part.merge_counts) == (None, {})
    assert Commit.objects.count() == 0


def test_who_joins_again_goes_on_and_completes_again(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada")
    write(actor, ADA, "First.")
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    unchanged(lambda: engine.complete_agent(task="fix", agent_id="ada", actor=actor), IllegalTransition)
    again = engine.join_task(task="fix", agent_id="ada", actor=actor)
    assert (again.created, again.part.state, again.part.branch.name) == (False, "working", ADA)
    write(actor, ADA, "Second.")
    done = engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert done.part.merge_counts == {"fact": {"applied": 1}}
    assert texts(actor, TASK) == ["First.", "Second."]


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (
            {"gates": ["require_verified"]},
            "refused by require_verified: Unverified facts: 1. Have a person verify them",
        ),
        ({"approvals": 1}, "refused by approvals"),
    ],
)
def test_a_policy_of_the_branch_of_a_task_counts(
    actor: Actor, task: AgentTask, rules: Any, reason: str
) -> None:
    join(actor, "ada")
    write(actor, ADA, "Learned by ada.")
    PolicyEngine().set_policy(pattern=TASK, actor=actor, **rules)
    with pytest.raises(Conflict, match=reason):
        engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    (part,) = engine.get_task(task="fix", actor=actor).agents.all()
    assert (part.state, texts(actor, TASK)) == ("working", [])
    PolicyEngine().set_policy(pattern=TASK, actor=actor, gates=["conflicts"], approvals=0)
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert texts(actor, TASK) == ["Learned by ada."]


def test_conflicts_are_held_named_and_settled(actor: Actor, task: AgentTask) -> None:
    fact = write(actor, TASK, "Tokens last an hour.")
    join(actor, "ada", "bob")
    for agent, text in (("ada", "Tokens last two hours."), ("bob", "Tokens last a day.")):
        FactEngine().update_fact(
            fact_id=fact.uid, updates={"fact_text": text}, branch_name=f"{TASK}/{agent}", actor=actor
        )
    write(actor, f"{TASK}/bob", "Cookies are signed.")
    assert engine.complete_agent(task="fix", agent_id="ada", actor=actor).part.open_conflicts == 0
    done = engine.complete_agent(task="fix", agent_id="bob", actor=actor)
    (conflict,) = done.conflicts
    assert (done.part.state, done.part.open_conflicts, conflict.uid, conflict.reason) == (
        "completed",
        1,
        fact.uid,
        "edited",
    )
    assert texts(actor, TASK) == ["Cookies are signed.", "Tokens last two hours."]
    found = engine.get_task_context(task="fix", actor=actor)
    assert [(part.agent_id, item.uid) for part, item in found.conflicts] == [("bob", fact.uid)]
    decision = Decision(fact.uid, "source", conflict.token)
    MergeEngine().merge_branch(source=f"{TASK}/bob", target=TASK, decisions=[decision], actor=actor)
    assert "Tokens last a day." in texts(actor, TASK)
    assert engine.get_task_context(task="fix", actor=actor).conflicts == []


def test_two_parts_that_end_at_once_are_both_merged(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada", "bob")
    for agent in ("ada", "bob"):
        write(actor, f"{TASK}/{agent}", f"Learned by {agent}.")
    calls = [
        lambda agent=agent: engine.complete_agent(task="fix", agent_id=agent, actor=actor)
        for agent in ("ada", "bob", "bob")
    ]
    found = run_together(calls)
    refused = [one for one in found if isinstance(one, Exception)]
    assert [type(one) for one in refused] == [IllegalTransition]
    assert texts(actor, TASK) == ["Learned by ada.", "Learned by bob."]
    assert AuditEntry.objects.filter(action="task.agent_complete").count() == 2


def test_a_part_is_completed_by_who_may(actor: Actor, project: Project, task: AgentTask) -> None:
    worker, other = key_actor(project), key_actor(project, label="other")
    engine.join_task(task="fix", agent_id="ada", actor=worker)
    unchanged(lambda: engine.complete_agent(task="fix", agent_id="ada", actor=other), ScopeMissing)
    unchanged(lambda: engine.complete_agent(task="fix", agent_id="bob", actor=worker), NotFound)
    unchanged(lambda: engine.complete_agent(task="fix", actor=worker), Invalid, field="agent_id")
    unchanged(lambda: engine.complete_agent(task="no", agent_id="ada", actor=worker), NotFound)
    assert engine.complete_agent(task="fix", agent_id="ada", actor=worker).part.state == "completed"


def test_a_part_on_a_branch_that_a_key_may_not_use_stays_there(actor: Actor, project: Project) -> None:
    keyed = key_actor(project, branch_patterns=[TASK, ADA])
    engine.create_task(name="Fix", actor=keyed)
    join(actor, "bob")
    write(actor, f"{TASK}/bob", "Only for bob.")
    unchanged(lambda: engine.complete_agent(task="fix", agent_id="bob", actor=keyed), BranchForbidden)
    assert texts(actor, TASK) == []


# ---- hooks -----------------------------------------------------------------------------------------


def test_hooks_run_before_the_merge(actor: Actor, task: AgentTask, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "task_hooks": (HOOK,)}
    join(actor, "ada")
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert texts(actor, TASK) == ["Summary of ada."]
    done = engine.complete_task(task="fix", actor=actor)
    (uid,) = done.durable
    assert FactEngine().get_fact(fact_id=uid, branch_name=TASK, actor=actor).fact_text == "Summary of fix."


def test_a_hook_that_is_missing_is_told_at_start(settings: Any) -> None:
    assert settings_are_known() == []
    settings.DAY1 = {**settings.DAY1, "task_hooks": ("tests.nowhere.Hook",)}
    (error,) = settings_are_known()
    assert (error.id, error.hint) == ("day1.E014", "DAY1['task_hooks'] holds dotted paths of classes.")


# ---- a task ----------------------------------------------------------------------------------------


def write_kinds(actor: Actor, branch: str) -> dict[str, UUID]:
    """Write facts that outlive a task and facts that do not; return those that do, by text."""
    sure = {"confidence": 0.9, "category": "decision"}
    kept = {
        "A decision.": sure,
        "Just sure enough.": {"confidence": 0.8, "category": "bug_fix"},
    }
    lost = {
        "A guess.": {"confidence": 0.79, "category": "decision"},
        "A preference.": {"confidence": 0.9, "category": "preference"},
    }
    uids = {text: write(actor, branch, text, **fields).uid for text, fields in {**kept, **lost}.items()}
    return {text: uids[text] for text in kept}


def test_durable_facts_are_offered_to_the_parent(actor: Actor, task: AgentTask) -> None:
    write(actor, "main", "Known before.", confidence=1, category="decision")
    join(actor, "ada", "bob")
    kept = write_kinds(actor, ADA)
    archived = write(actor, TASK, "Wrong.", confidence=0.9, category="decision")
    FactEngine().archive_fact(fact_id=archived.uid, branch_name=TASK, actor=actor)
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    done = engine.complete_task(task="fix", result="The clock was wrong.", actor=actor)
    assert (done.task.state, done.task.result) == ("completed", "The clock was wrong.")
    assert set(done.durable) == set(kept.values())
    assert (done.task.durable, done.left) == (2, ["bob"])
    request = MergeRequest.objects.get()
    assert (done.task.merge_request_id, request.state) == (request.pk, "open")
    assert (request.source, request.target.name, request.strategy) == (task.branch, "main", "cherry_pick")
    assert (request.title, request.description) == ("Fix", "The clock was wrong.")
    assert set(request.ids) == {str(uid) for uid in done.durable}
    assert [(one.agent_id, one.state) for one in done.task.agents.all()] == [
        ("ada", "completed"),
        ("bob", "left"),
    ]
    assert texts(actor, "main") == ["Known before."]
    unchanged(lambda: engine.complete_task(task="fix", actor=actor), IllegalTransition)
    unchanged(lambda: engine.join_task(task="fix", agent_id="bob", actor=actor), IllegalTransition)


def test_what_the_parent_has_already_is_offered_all_the_same(
    actor: Actor, project: Project, task: AgentTask
) -> None:
    """What is left out would tell a key of the task what its parent holds."""
    texts = ("Known there.", "Known here alone.")
    uids = [write(actor, TASK, text, confidence=1, category="decision").uid for text in texts]
    write(actor, "main", texts[0], confidence=1, category="decision")
    keyed = key_actor(project, scopes=["curate"], branch_patterns=["task/*"])
    assert set(engine.complete_task(task="fix", actor=keyed).durable) == set(uids)


def test_nothing_durable_needs_no_request(actor: Actor, task: AgentTask) -> None:
    write(actor, TASK, "A guess.", confidence=0.5, category="decision")
    done = engine.complete_task(task="fix", actor=actor)
    assert (done.durable, done.task.merge_request_id, done.task.state) == ([], None, "completed")
    assert MergeRequest.objects.count() == 0


def test_what_is_offered_arrives_with_the_merge(actor: Actor, project: Project, task: AgentTask) -> None:
    kept = write_kinds(actor, TASK)
    keyed = key_actor(project, scopes=["curate"], branch_patterns=["task/*"])
    done = engine.complete_task(task="fix", actor=keyed)
    assert done.task.merge_request_id is not None
    for uid in kept.values():
        FactEngine().set_verification(fact_id=uid, verdict="verified", branch_name=TASK, actor=actor)
    requests = MergeRequestEngine()
    where = {"request_id": done.task.merge_request_id, "actor": actor}
    requests.approve_request(**where)
    requests.merge_request(**where)
    assert texts(actor, "main") == sorted(kept)


def test_a_request_that_is_open_already_is_named(actor: Actor, task: AgentTask) -> None:
    write_kinds(actor, TASK)
    MergeRequestEngine().create_request(source=TASK, actor=actor)
    unchanged(lambda: engine.complete_task(task="fix", actor=actor), Exists, number=1)
    assert AgentTask.objects.get().state == "active"


def test_a_project_says_which_categories_are_durable(
    actor: Actor, project: Project, task: AgentTask, settings: Any
) -> None:
    project.durable_categories = "preference, recipe"
    project.save()
    write_kinds(actor, TASK)
    (uid,) = engine.complete_task(task="fix", actor=actor).durable
    assert FactEngine().get_fact(fact_id=uid, branch_name=TASK, actor=actor).category == "preference"
    Project.objects.update(durable_categories="")
    settings.DAY1 = {**settings.DAY1, "durable_categories": ("pattern",)}
    other = engine.create_task(name="Other", actor=actor).task
    write_kinds(actor, other.branch.name)
    assert engine.complete_task(task="other", actor=actor).durable == []


def test_a_task_is_completed_once(actor: Actor, task: AgentTask) -> None:
    write_kinds(actor, TASK)
    found = run_together([lambda: engine.complete_task(task="fix", actor=actor)] * 2)
    assert sorted(isinstance(one, IllegalTransition) for one in found) == [False, True]
    assert AuditEntry.objects.filter(action="task.complete").count() == 1
    assert MergeRequest.objects.count() == 1


def test_anothers_task_is_completed_by_who_curates(actor: Actor, project: Project, task: AgentTask) -> None:
    writer = key_actor(project)
    unchanged(lambda: engine.complete_task(task="fix", actor=writer), ScopeMissing)
    unchanged(
        lambda: engine.complete_task(task="fix", result="x" * 2001, actor=actor), Invalid, field="result"
    )
    curator = key_actor(project, scopes=["curate"])
    assert engine.complete_task(task="fix", actor=curator).task.state == "completed"


# ---- the context -----------------------------------------------------------------------------------


def test_the_context_of_a_task(actor: Actor, task: AgentTask) -> None:
    write(actor, "main", "Of main.")
    write(actor, TASK, "Of the task.")
    join(actor, "ada", "bob")
    write(actor, ADA, "Of ada.")
    found = engine.get_task_context(task="fix", actor=actor)
    assert [(one.part.agent_id, [fact.fact_text for fact in one.facts]) for one in found.agents] == [
        ("ada", ["Of ada."]),
        ("bob", []),
    ]
    assert [fact.fact_text for fact in found.facts] == ["Of the task."]
    assert (found.conflicts, found.truncated) == ([], False)
    assert 0 < found.tokens < 20
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    found = engine.get_task_context(task="fix", actor=actor)
    assert [len(one.facts) for one in found.agents] + [len(found.facts)] == [1, 0, 1]  # none is told twice


def test_the_context_keeps_within_its_budget(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada")
    for n in range(20):
        for branch in (TASK, ADA):
            write(actor, branch, f"{branch} number {n}: " + "a longer text, " * 8)
    found = engine.get_task_context(task="fix", max_tokens=300, actor=actor)
    assert found.tokens <= 300
    assert found.truncated
    assert found.agents[0].facts
    assert found.facts
    for budget in (99, 16_001):
        with pytest.raises(Invalid):
            engine.get_task_context(task="fix", max_tokens=budget, actor=actor)


def test_the_context_shows_nothing_of_other_branches(actor: Actor, project: Project, task: AgentTask) -> None:
    join(actor, "ada", "bob")
    write(actor, ADA, "Of ada.")
    write(actor, f"{TASK}/bob", "Of bob.")
    keyed = key_actor(project, scopes=["read"], branch_patterns=[TASK, ADA])
    found = engine.get_task_context(task="fix", actor=keyed)
    assert [[fact.fact_text for fact in one.facts] for one in found.agents] == [["Of ada."], []]


def test_how_far_branches_are_apart(actor: Actor, task: AgentTask) -> None:
    join(actor, "ada", "bob")
    write(actor, ADA, "One.")
    write(actor, ADA, "Two.")
    write(actor, TASK, "Of the task.")

    def measure() -> list[tuple[int, int]]:
        parts = list(engine.get_task(task="fix", actor=actor).agents.all())
        engine.measure_parts(parts=parts)
        return [(part.branch.ahead, part.branch.behind) for part in parts]

    assert measure() == [(2, 1), (0, 1)]
    engine.complete_agent(task="fix", agent_id="ada", actor=actor)
    assert measure() == [(0, 2), (0, 2)]


def test_an_erased_text_is_gone_from_tasks(actor: Actor) -> None:
    word = "quokkaberylwort"
    task = engine.create_task(
        name="Fix", description=f"The {word}.", objectives=[f"Open {word}."], actor=actor
    ).task
    write(actor, TASK, f"The vault opens with {word}.")
    engine.update_objective(task="fix", n=1, note=f"It is {word}.", actor=actor)
    ErasureEngine().erase(actor=actor, scope="match", target=word, confirm="test")
    row, objective = AgentTask.objects.get(), task.objectives.get()
    assert word not in " ".join([row.name, row.description, objective.text, objective.note])
    assert (row.slug, row.state, objective.state) == ("fix", "active", "todo")
