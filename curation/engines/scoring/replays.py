"""Scores of replays: both sides rated at the end, and what both were given."""

import logging
from collections.abc import Mapping, Sequence
from uuid import UUID

from conversations.models import Replay
from curation.engines.quarantine.documents import select_shown_scores
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.scoring.summary import average_targets
from curation.models import Score, Scoring
from memory.actors import Actor
from memory.exceptions import Day1Error

logger = logging.getLogger(__name__)


class ReplayScores:
    """The ReplayScoring of conversations."""

    def score_replay(self, row: Replay, actor: Actor) -> None:
        """Have the judge rate a replay, and its source unless that was rated before."""
        sides = [(row.conversation_id, row.branch.name)]
        known = Scoring.objects.filter(project=row.project_id, conversation_id=row.source_id)
        if not known.exclude(state=Scoring.State.FAILED).exists():
            sides.append((row.source_id, row.source_branch.name))
        for uid, branch in sides:
            try:
                ScoringEngine().start_scoring(conversation_id=uid, actor=actor, branch_name=branch)
            except Day1Error as error:  # the branch was archived: the replay is done all the same
                logger.warning("Replay %s: conversation %s is not rated: %s", row.pk, uid, error.text)

    def load_scores(
        self, project_id: UUID, conversation_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, float]]:
        """Return judged scores by conversation and dimension, without a heuristic's and hidden ones."""
        shown = select_shown_scores(project_id)
        kind = Score.Target.CONVERSATION
        return average_targets(shown.filter(target_type=kind, target_id__in=conversation_ids))
