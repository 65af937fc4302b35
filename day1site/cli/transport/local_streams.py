"""What is longer than a request, on the local store: by the engines, which keep all that a file holds."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from conversations.engines.replays.batches import ReplayBatchEngine
from conversations.engines.replays.engine import ReplayEngine
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.verification.engine import VerificationEngine
from day1site.cli.transport.rest import Answer
from day1site.cli.transport.streams import Export, Importer
from memory.actors import Actor
from memory.answers import facts as shapes
from memory.engines.audit.trail import AuditEngine
from memory.engines.facts.import_export import FactImport, count_facts, export_facts
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Fact
from memory.operations.inputs import parse_point

TASKS: dict[str, Callable[[UUID], None]] = {
    "conversations.replay": ReplayEngine().execute_replay,
    "conversations.replay_batch": ReplayBatchEngine().execute_batch,
    "curation.score": ScoringEngine().run_scoring,
    "curation.verify": VerificationEngine().run_job,
}


class LocalStreams:
    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def open_importer(self, branch: str, message: str) -> Importer:
        return FactImport(actor=self.actor, branch_name=branch, message=message)

    def export_facts(self, branch: str, at: str | None, private: bool, **whose: str) -> Export:
        scope: dict[str, Any] = {
            "actor": self.actor.with_origin(**whose),
            "branch_name": branch,
            "at": None if at is None else parse_point("at", at),
        }
        AuditEngine().record_export(actor=self.actor, target=branch, detail={"format": "jsonl"})
        exported = export_facts(**scope, include_private=private)
        rows = (
            (render_fact(fact, branch), [shapes.link(link, branch=branch) for link in links])
            for fact, links in exported
        )
        return count_facts(**scope), rows

    def carry_out(self, task: str, row_id: str) -> None:
        TASKS[task](UUID(row_id))

    def write_observations(self, branch: str, observations: list[Answer]) -> None:
        ObservationEngine().write_observations(
            observations=observations, actor=self.actor, branch_name=branch
        )


def render_fact(fact: Fact, branch: str) -> Answer:
    """Return a fact with what only a file needs: the status that an archived one goes back to."""
    status = {"held_status": fact.held_status} if fact.held_status else {}
    return {**shapes.fact(fact, branch=branch), **status}
