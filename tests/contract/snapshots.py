"""Shortcuts to write facts and to read what a branch shows."""

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions.lookup import find_branch
from memory.models import Fact

snapshot_manager, fact_engine, branch_manager = SnapshotManager(), FactEngine(), BranchManager()


def write(actor: Actor, text: str, branch: str = "main") -> Fact:
    return fact_engine.write_fact(actor=actor, fact_text=text, branch_name=branch).fact


def texts(actor: Actor, branch: str = "main") -> list[str]:
    row = find_branch(actor, branch)
    return sorted(Fact.objects.on(row).values_list("fact_text", flat=True))


def found(actor: Actor, query: str, branch: str = "main") -> list[str]:
    return [
        hit.fact.fact_text for hit in SearchEngine().search(query=query, actor=actor, branch_name=branch).hits
    ]
