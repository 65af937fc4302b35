"""Tools on a guarded branch: what becomes a proposal says so, what is refused says the way."""

from memory.actors import local_actor
from memory.engines.access.policies import PolicyEngine
from memory.models import Fact
from tests.mcp.conftest import agent_for


def test_a_guarded_branch_proposes_refuses_and_is_answered(agent, project):
    admin, engine = local_actor(project.pk), PolicyEngine()
    old = agent.call("memory_write", fact_text="Tokens live 15 minutes.")["fact"]["id"]
    writer = agent_for(project, scopes=["write"])
    engine.set_policy(pattern="main", actor=admin, direct_writes="propose")
    written = writer.call("memory_supersede", fact_id=old, new_fact_text="Tokens live 30 minutes.")["fact"]
    assert written["status"] == "created"
    writer.refused("memory_update", "direct_writes_refused", fact_id=old, priority="P1")
    engine.set_policy(pattern="main", actor=admin, direct_writes="refuse")
    text = writer.refused("memory_write", "direct_writes_refused", fact_text="New.")
    assert "branch_create makes a branch to write on" in text
    assert writer.call("memory_write", fact_text="New.", propose=True)["fact"]["status"] == "created"
    writer.refused("memory_update", "direct_writes_refused", fact_id=written["id"], status="active")
    accepted = agent.call("memory_update", fact_id=written["id"], status="active")["fact"]
    assert accepted["status"] == "active"
    states = {str(fact.uid): fact.status for fact in Fact.objects.on(project.branches.get()).fetch_all()}
    assert (states[old], states[written["id"]]) == ("superseded", "active")
