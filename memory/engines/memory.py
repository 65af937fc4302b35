"""MemoryEngine: a façade over the engines for programs."""

from typing import Any

from memory.actors import Actor
from memory.engines.facts.batch import WriteResult
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import Graph, RelationEngine
from memory.engines.search.engine import SearchEngine, SearchResult
from memory.engines.search.explain import ExplainEngine, Explanation
from memory.engines.sessions.manager import SessionContext, SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.pagination import Page
from memory.models import Fact, Observation, Session


class MemoryEngine:
    """Façade: each method delegates to another engine, with the same arguments, results and errors."""

    def __init__(self) -> None:
        self.facts, self.searching, self.explaining = FactEngine(), SearchEngine(), ExplainEngine()
        self.relations, self.observations, self.sessions = (
            RelationEngine(),
            ObservationEngine(),
            SessionManager(),
        )

    def write(self, *, actor: Actor, **how: Any) -> WriteResult:
        return self.facts.write_fact(actor=actor, **how)

    def search(self, *, actor: Actor, **how: Any) -> SearchResult:
        if "branch_names" in how:
            return self.searching.search_cross_branch(actor=actor, **how)
        return self.searching.search(actor=actor, **how)

    def get(self, *, actor: Actor, **how: Any) -> Fact:
        return self.facts.get_fact(actor=actor, **how)

    def list_versions(self, *, actor: Actor, **how: Any) -> Page[Fact]:
        return self.facts.list_versions(actor=actor, **how)

    def list_newest(self, *, actor: Actor, **how: Any) -> Page[Fact]:
        return self.facts.list_facts(actor=actor, **how)

    def update(self, *, actor: Actor, **how: Any) -> Fact:
        return self.facts.update_fact(actor=actor, **how)

    def supersede(self, *, actor: Actor, **how: Any) -> Fact:
        return self.facts.supersede_fact(actor=actor, **how)

    def record_verdict(self, *, actor: Actor, **how: Any) -> Fact:
        return self.facts.set_verification(actor=actor, **how)

    def explain(self, *, actor: Actor, **how: Any) -> Explanation:
        return self.explaining.explain(actor=actor, **how)

    def graph_query(self, *, actor: Actor, **how: Any) -> Graph:
        return self.relations.graph_query(actor=actor, **how)

    def list_timeline(self, *, actor: Actor, **how: Any) -> Page[Observation]:
        return self.observations.list_timeline(actor=actor, **how)

    def load_context(self, *, actor: Actor, **how: Any) -> SessionContext:
        return self.sessions.get_session_context(actor=actor, **how)

    def recent_sessions(self, *, actor: Actor, **how: Any) -> Page[Session]:
        return self.sessions.get_recent_sessions(actor=actor, **how)
