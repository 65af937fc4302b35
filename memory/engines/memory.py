"""MemoryEngine: a façade over the engines for programs."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.engines.facts.batch import WriteResult
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import Graph, RelationEngine
from memory.engines.search.engine import Explanation, SearchEngine, SearchResult
from memory.engines.sessions.briefing import find_last_session, find_replaced, newest_facts
from memory.engines.sessions.manager import SessionContext, SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.pagination import Page
from memory.engines.versions.repositories import find_repositories, list_repositories
from memory.models import Fact, Observation, Session


class MemoryEngine:
    """Façade: each method delegates to another engine, with the same arguments, results and errors."""

    def __init__(self) -> None:
        self.facts, self.searching = FactEngine(), SearchEngine()
        self.relations, self.observations, self.sessions = (
            RelationEngine(),
            ObservationEngine(),
            SessionManager(),
        )

    def write(self, *, actor: Actor, **options: Any) -> WriteResult:
        return self.facts.write_fact(actor=actor, **options)

    def search(self, *, actor: Actor, **options: Any) -> SearchResult:
        if "branch_names" in options:
            return self.searching.search_cross_branch(actor=actor, **options)
        return self.searching.search(actor=actor, **options)

    def get(self, *, actor: Actor, **options: Any) -> Fact:
        return self.facts.get_fact(actor=actor, **options)

    def list_versions(self, *, actor: Actor, **options: Any) -> Page[Fact]:
        return self.facts.list_versions(actor=actor, **options)

    def list_newest(self, *, actor: Actor, **options: Any) -> Sequence[Fact]:
        return newest_facts(actor, **options)

    def find_replaced(self, *, actor: Actor, branch_name: str, facts: Sequence[Fact]) -> dict[UUID, UUID]:
        return find_replaced(actor, branch_name, facts)

    def list_repositories(self, *, actor: Actor, session_ids: Iterable[str]) -> dict[str, str]:
        return list_repositories(actor.project_id, session_ids)

    def find_repositories(self, *, actor: Actor, facts: Sequence[Fact]) -> list[str]:
        return find_repositories(actor.project_id, facts)

    def update(self, *, actor: Actor, **options: Any) -> Fact:
        return self.facts.update_fact(actor=actor, **options)

    def supersede(self, *, actor: Actor, **options: Any) -> Fact:
        return self.facts.supersede_fact(actor=actor, **options)

    def replace(self, *, actor: Actor, **options: Any) -> WriteResult:
        return self.facts.replace_fact(actor=actor, **options)

    def record_verdict(self, *, actor: Actor, **options: Any) -> Fact:
        return self.facts.set_verification(actor=actor, **options)

    def explain(self, *, actor: Actor, **options: Any) -> Explanation:
        return self.searching.explain(actor=actor, **options)

    def graph_query(self, *, actor: Actor, **options: Any) -> Graph:
        return self.relations.graph_query(actor=actor, **options)

    def list_timeline(self, *, actor: Actor, **options: Any) -> Page[Observation]:
        return self.observations.list_timeline(actor=actor, **options)

    def load_context(self, *, actor: Actor, **options: Any) -> SessionContext:
        return self.sessions.get_session_context(actor=actor, **options)

    def recent_sessions(self, *, actor: Actor, **options: Any) -> Page[Session]:
        return self.sessions.get_recent_sessions(actor=actor, **options)

    def find_last_session(self, *, actor: Actor, branch_name: str, repository: str) -> Session | None:
        return find_last_session(actor, branch_name, repository)
