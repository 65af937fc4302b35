"""Actions on the queue's facts: those of every list, and answers and moves besides."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from curation.engines.queue.moves import MoveEngine, MoveReport
from curation.engines.review.bulk_answers import MERGE, BulkAnswerEngine
from curation.engines.review.pair_answers import KEEP_BOTH
from memory.actors import Actor
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.versions.lookup import MAIN

MERGE_DUPLICATES, MOVE = MERGE, "move"


class QueueActionEngine:
    def apply_action(
        self,
        *,
        action: str,
        fact_ids: Iterable[UUID],
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Mapping[UUID, int] | None = None,
        reason: str = "",
        to_branch: str = "",
        **parameters: Any,
    ) -> MoveReport:
        """Apply one action to up to 1,000 facts, each by the engine that has its rules.

        merge_duplicates and keep_both answer the open questions on them, move brings them to ``to_branch``;
        the others are those of ActionEngine, with its ``parameters``. Raises as those engines do.
        """
        where: dict[str, Any] = {"fact_ids": fact_ids, "actor": actor, "branch_name": branch_name}
        read: dict[str, Any] = {"expected_versions": expected_versions, "reason": reason}
        if action == MOVE:
            moved: MoveReport = MoveEngine().move_facts(to_branch=to_branch, **where, **read)
            return moved
        if action in (MERGE_DUPLICATES, KEEP_BOTH):
            report = BulkAnswerEngine().answer_questions(action=action, **where, **read)
        else:
            report = ActionEngine().apply_action(action=action, **where, **read, **parameters)
        return MoveReport(report.results, report.commit, report.new_fact, report.created)
