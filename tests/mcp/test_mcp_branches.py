"""The branch of a call; branches and snapshots as tools; work handles."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from memory.engines.access.keys import KeyEngine
from memory.engines.access.work_handles import WorkEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.store.retention import RetentionEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import Invalid, NotFound
from memory.models import Project, WorkHandle
from tests.mcp.conftest import URL, Agent, agent_for

T = "task/login"


@pytest.fixture
def task(actor: Any) -> str:
    return BranchManager().create_branch(name=T, actor=actor).name


def used(agent: Agent, **arguments: Any) -> str:
    return agent.call("branch_list", **arguments)["branch"]


# ---- branches ----------------------------------------------------------------------------------------


def test_the_branch_of_a_call(agent: Agent, task: str, project: Project, actor: Any) -> None:
    """Try argument, handle, URL, header, key and main: the first one present counts."""
    for name in ("b/address", "b/header", "b/key", "b/argument"):
        BranchManager().create_branch(name=name, actor=actor)
    assert used(agent) == "main"
    keyed = agent_for(project, default_branch="b/key")
    assert used(keyed) == "b/key"
    header = keyed.at(Day1_Branch="b/header")
    assert used(header) == "b/header"
    both = keyed.at(f"{URL}?branch=b/address", Day1_Branch="b/header")
    assert used(both) == "b/address"
    handle = both.call("branch_switch", name=T)["handle"]
    assert used(both, work=handle) == T
    assert used(both, work=handle, branch="b/argument") == "b/argument"


def test_work_on_a_branch_is_seen_nowhere_else(agent: Agent) -> None:
    made = agent.call("branch_create", name=T, purpose="Mend the login.")
    assert (made["created"]["parent"], made["branch"]) == ("main", T)
    assert made["next"] == f'branch_switch {{"name": "{T}"}} to work on it'
    work = agent.call("branch_switch", name=T)["handle"]
    written = agent.call("memory_write", fact_text="The clock was wrong.", work=work)
    assert written["branch"] == T
    assert agent.call("memory_search", query="clock")["count"] == 0
    assert agent.call("memory_search", query="clock", work=work)["count"] == 1
    across = agent.call("memory_search", query="clock", branches=["main", "task/*"])
    assert (across["count"], across["branch"]) == (1, f"main, {T}")
    agent.refused("memory_search", "invalid", query="clock", branches=["task/*"], work=work)
    diff = agent.call("branch_diff", name=T)
    assert diff["counts"]["fact"] == {"added": 1, "changed": 0, "removed": 0}
    assert [(row["change"], row["line"]) for row in diff["results"]] == [("added", "The clock was wrong.")]
    assert [one["name"] for one in agent.call("branch_list")["branches"]] == ["main", T]


def test_a_point_is_named_and_gone_back_to(agent: Agent) -> None:
    point = agent.call("snapshot_create", name="before")
    uid = agent.call("memory_write", fact_text="A mistake.")["fact"]["id"]
    agent.refused("snapshot_restore", "invalid", snapshot_id=point["snapshot_id"])
    plan = agent.call("snapshot_restore", snapshot_id=point["snapshot_id"], dry_run=True)
    assert (plan["dry_run"], len(plan["branches"])) == (True, 1)
    assert len(agent.call("memory_get", fact_ids=[uid])["facts"]) == 1
    agent.call("snapshot_restore", snapshot_id=point["snapshot_id"], dry_run=False)
    agent.refused("memory_get", "not_found", fact_ids=[uid])


# ---- refusals ----------------------------------------------------------------------------------------


def test_branches_that_are_not_to_be_used(agent: Agent, task: str, project: Project, actor: Any) -> None:
    assert "branch_list" in agent.refused("memory_search", "not_found", query="x", branch="task/none")
    agent.refused("branch_switch", "not_found", name="task/none")
    agent.refused("branch_create", "exists", name=T)
    agent.refused("branch_create", "invalid", name="No Name")
    bound = agent_for(project, branch_patterns=["task/*"])
    bound.refused("memory_search", "branch_forbidden", query="x")
    bound.refused("branch_switch", "branch_forbidden", name="main")
    assert bound.call("memory_search", query="x", branch=T)["count"] == 0
    BranchManager().archive_branch(name=T, actor=actor)
    agent.refused("memory_write", "branch_archived", fact_text="x", branch=T)
    agent.refused("branch_switch", "branch_archived", name=T)


def test_a_handle_is_its_owners_alone(agent: Agent, stranger: Agent, task: str, project: Project) -> None:
    work = agent.call("branch_switch", name=T)["handle"]
    said = agent.refused("memory_search", "not_found", query="x", work="work_nonsense")
    assert said.endswith("Call branch_switch for a new handle.")
    for other in (agent_for(project, label="another"), stranger):
        assert other.refused("memory_write", "not_found", fact_text="x", work=work) == said


def test_a_handle_ends_after_a_day_of_rest(actor: Any, task: str) -> None:
    engine, now = WorkEngine(), timezone.now()
    _, work = engine.open_work(branch_name=T, actor=actor)
    assert WorkHandle.objects.get().hash not in work
    for hours in (23, 46):  # use within the time renews it
        with time_machine.travel(now + timedelta(hours=hours), tick=False):
            assert engine.resume_work(work=work, actor=actor).branch_name == T
            buffer.flush()
            assert RetentionEngine().forget_handles() == 0
    with time_machine.travel(now + timedelta(hours=70, seconds=1), tick=False):
        with pytest.raises(NotFound):
            engine.resume_work(work=work, actor=actor)
        assert RetentionEngine().forget_handles() == 1
    assert not WorkHandle.objects.exists()


def test_the_default_branch_of_a_key(actor: Any) -> None:
    make = KeyEngine().create_key
    with pytest.raises(Invalid, match="do not allow its default branch main"):
        make(label="a", scopes=["read"], branch_patterns=["task/*"], default_branch="main", actor=actor)
    with pytest.raises(Invalid) as caught:
        make(label="a", scopes=["read"], default_branch="No Name", actor=actor)
    assert caught.value.data["field"] == "default_branch"
    key, _ = make(label="a", scopes=["read"], default_branch=T, actor=actor)
    assert KeyEngine().rotate_key(key_id=key.pk, actor=actor)[0].default_branch == T
