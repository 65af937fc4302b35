"""Short ways to write facts and to see what a branch shows."""

from memory.actors import Actor
from memory.engines.branches import BranchManager, find_branch
from memory.engines.facts import FactEngine
from memory.engines.search import SearchEngine
from memory.engines.snapshots import SnapshotManager
from memory.models import Fact

ENGINE, FACTS, BRANCHES = SnapshotManager(), FactEngine(), BranchManager()


def write(actor: Actor, text: str, branch: str = "main") -> Fact:
    return FACTS.write_fact(actor=actor, fact_text=text, branch_name=branch).fact


def texts(actor: Actor, branch: str = "main") -> list[str]:
    row = find_branch(actor, branch)
    return sorted(Fact.objects.on(row).values_list("fact_text", flat=True))


def found(actor: Actor, query: str, branch: str = "main") -> list[str]:
    return [
        hit.fact.fact_text for hit in SearchEngine().search(query=query, actor=actor, branch_name=branch).hits
    ]
