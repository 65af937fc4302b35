"""Deletion of observations."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.deletion.memories import Deletion, MemoryDeletion
from memory.engines.fields.deletion import DROP_COPIES, DRY_DELETION, ERASE, MANY, SESSION
from memory.engines.sessions.observations import ObservationFilter
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import MAIN
from memory.models import Erasure, Observation

rows = MemoryDeletion(Observation)


@retry_methods
class ObservationDeletion:
    def delete_observation(
        self,
        *,
        observation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        erase: Annotated[bool, ERASE] = False,
        drop_copies: Annotated[bool, DROP_COPIES] = False,
    ) -> Deletion | Erasure:
        """Delete an observation from this branch, or erase it. Raises NotFound, StaleVersion."""
        if erase:
            return rows.erase(observation_id, actor, branch_name, drop_copies)
        return rows.delete(observation_id, actor, branch_name, expected_version)

    def delete_observations(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        ids: Annotated[Sequence[UUID], MANY] = (),
        filters: ObservationFilter | None = None,
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete what fits all filters, at most 5,000 rows in one commit. Raises Invalid, TooLarge."""
        return rows.delete_matching(filters, ids, actor, branch_name, dry_run)

    def restore_observation(
        self, *, observation_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> Observation:
        """Restore a deleted observation. Raises NotFound, IllegalTransition, Conflict."""
        found: Observation = rows.restore(observation_id, actor, branch_name)
        return found

    def list_deleted(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        session_id: Annotated[str, SESSION] = "",
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Any]:
        """List the deleted observations that a restore brings back, the newest first."""
        return rows.list_deleted(actor, branch_name, session_id, limit, cursor)
