"""ScoringEngine: conversations rated by judges in dimensions; scores of people and outside judges."""

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from conversations.engines.compaction import compute_digest, list_keys
from conversations.engines.conversations import get_visible
from conversations.engines.threads import load_thread
from conversations.models import Message
from curation.engines.fields.scores import (
    AGAIN,
    GIVEN_METHODS,
    MAX_JUDGES,
    MAX_VOTES,
    SCORE,
    SCORE_FILTERS,
    SCORING_FILTERS,
)
from curation.engines.orders import SCORINGS
from curation.engines.quarantine.documents import select_shown_scores
from curation.engines.scoring.dimensions import check_dimension, check_dimensions
from curation.engines.scoring.run import ScoringRun, claim_scoring, list_judges
from curation.engines.scoring.summary import ScoreSummary, summarize_rows
from curation.engines.verification.engine import WAIT, wait_for
from curation.engines.verification.selection import check_number
from curation.models import Score, Scoring
from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import never_rerun, retry_methods, retry_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.facts.engine import FactEngine
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.support import validation as c
from memory.engines.support.leases import list_due
from memory.engines.support.pagination import Page, Paging, Sorting, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import MAIN, find_branch, require_live
from memory.exceptions import Invalid, NotFound
from memory.queue.producer import enqueue

TASK = "curation.score"
JUDGE = c.text_check(200, min_length=1)
CHECKS = SCORE.field_checks(Use.CREATE) | {"dimension": check_dimension}
FILTERS = make_filter_checks((*SCORE_FILTERS, *SCORING_FILTERS))
Target, Method = Score.Target, Score.Method


@retry_methods
class ScoringEngine:
    # ---- judges --------------------------------------------------------------------------------

    @never_rerun  # begun again after its wait, it would pay again
    def start_scoring(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        wait: Annotated[int, WAIT] = 0,
        again: Annotated[bool, AGAIN] = False,
        **options: Any,
    ) -> Scoring:
        """Queue the rating of a conversation by judges; return it, with the state that it is in.

        Options: ``dimensions``, by default the eight of Day1; ``judges``, models of the judge's server;
        ``votes`` of each of them, of which the median counts. Without a judge it is done at once, with .5 in
        each dimension and a warning. The same request returns the one that is under way, and as long as
        nothing else was said the one that ended (``is_earlier``): nothing is paid for or counted twice.
        ``again`` has an ended one made anew; ``wait`` is how many seconds it is waited for. Needs the scope
        curate. Raises Invalid, NotFound, branch errors.
        """
        WAIT.check("wait", wait)
        row = self._find_or_create(conversation_id, actor, again, branch_name=branch_name, **options)
        if row.is_earlier:
            return row
        if not row.judges:
            self.run_scoring(row.pk)
            return self.get_scoring(scoring_id=row.pk, actor=actor)
        enqueue(TASK, str(row.pk))
        if not wait or connection.in_atomic_block:  # no worker sees into a transaction
            return row
        return self.wait_for_scoring(scoring_id=row.pk, actor=actor, seconds=wait)

    @retry_transaction
    def _find_or_create(
        self, conversation_id: UUID, actor: Actor, again: bool = False, **options: Any
    ) -> Scoring:
        """Return the equal scoring, else a new one; of those that ended, none if it is made ``again``."""
        row = self._build_scoring(conversation_id, actor, **options)
        known = find_open(row) or (None if c.check_boolean("again", again) else find_ended(row))
        if known is not None:
            return known
        try:
            with transaction.atomic():
                row.save(force_insert=True)
                detail = {"scoring": str(row.pk), "judges": row.judges}
                record_entry(actor, "conversation.evaluate", str(conversation_id), detail)
        except IntegrityError:  # another request was first
            if connection.in_atomic_block or (known := find_open(row)) is None:
                raise
            return known
        return row

    def _build_scoring(
        self,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        dimensions: Sequence[str] = (),
        judges: Sequence[str] = (),
        votes: int | None = None,
    ) -> Scoring:
        actor.require_scope("curate", branch_name)
        branch = require_live(find_branch(actor, branch_name))
        lineage = branch.lineage()
        thread = load_thread(lineage, get_visible(lineage, conversation_id))
        if not (keys := list_keys(thread, Message.objects.in_lineage(lineage))):
            raise Invalid("This conversation has no message to rate.", field="conversation_id")
        row = Scoring(
            project_id=actor.project_id,
            branch=branch,
            conversation_id=conversation_id,
            seq=branch.head,
            dimensions=check_dimensions("dimensions", dimensions),
            judges=check_judges(judges),
            votes=conf().judge_votes if votes is None else check_number("votes", votes, MAX_VOTES),
            created_at=timezone.now(),
            created_by=actor.label,
        )
        row.request = row.open_request = digest_request(row, keys)
        return row

    def run_scoring(self, scoring_id: UUID) -> None:
        """Carry out a queued scoring, or go on with one that was interrupted; one worker has it."""
        if (row := claim_scoring(scoring_id)) is not None:
            ScoringRun(row).carry_out()

    def resume_scorings(self) -> None:
        """Queue scorings that waited long enough, or whose message or worker was lost."""
        for scoring_id in list_due(Scoring):
            enqueue(TASK, str(scoring_id))

    def get_scoring(self, *, scoring_id: UUID, actor: Actor) -> Scoring:
        """Return a scoring. Raises NotFound, also where its conversation or branch is not shown."""
        actor.require_scope("read")
        if (row := list_allowed(actor).filter(pk=scoring_id).first()) is None:
            raise NotFound("There is no scoring with this id.")
        get_visible(row.branch.lineage(), row.conversation_id)
        return row

    def list_scorings(
        self, *, actor: Actor, conversation_id: UUID | str = "", state: str = "", **paging: Unpack[Sorting]
    ) -> Page[Scoring]:
        """List scorings on the branches that the actor may use, newest first."""
        actor.require_scope("read")
        filters = c.validate({"conversation_id": conversation_id, "state": state}, FILTERS)
        rows = list_allowed(actor).filter(**c.drop_empty(filters))
        every = Scoring.objects.filter(project=actor.project_id)
        return paginate(rows, SCORINGS, **paging, of=every)

    def wait_for_scoring(self, *, scoring_id: UUID, actor: Actor, seconds: float) -> Scoring:
        """Return a scoring when it has ended, or as it is after so many seconds, at most 30."""
        return wait_for(lambda: self.get_scoring(scoring_id=scoring_id, actor=actor), Scoring.ENDED, seconds)

    # ---- people and outside judges -------------------------------------------------------------

    def create_score(
        self, *, target_type: str, target_id: UUID, actor: Actor, branch_name: str = MAIN, **fields: Any
    ) -> Score:
        """Store a score that a person or an outside judge gives a fact or a conversation.

        The newest of a scorer counts in each dimension. Needs the scope curate. Raises Invalid, NotFound,
        branch errors.
        """
        actor.require_scope("curate", branch_name)
        branch = require_live(find_branch(actor, branch_name))
        values = c.validate({"target_type": target_type, "target_id": target_id, **fields}, CHECKS)
        for name in ("dimension", "value"):
            if name not in values:
                raise Invalid("{field} is needed.", field=name)
        check_target(values["target_type"], values["target_id"], branch.name, actor)
        row = Score(project_id=actor.project_id, branch=branch, created_at=timezone.now(), **values)
        row.method = check_method(values.get("method"), actor)
        row.scorer = row.scorer or actor.label
        if actor.id:  # however many names a key or a person gives, it counts once
            row.giver = f"{actor.kind}:{actor.id}"
        row.set_checksum()
        with transaction.atomic():
            row.save(force_insert=True)
            detail = {"score": str(row.pk), "dimension": row.dimension, "value": row.value}
            record_entry(actor, "score.create", str(row.target_id), detail)
        return row

    def list_scores(
        self,
        *,
        target_type: str,
        target_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        dimension: str = "",
        method: str = "",
        **paging: Unpack[Paging],
    ) -> Page[Score]:
        """List the scores of a fact or a conversation along the branch, newest first. Raises NotFound."""
        filters = c.validate({"dimension": dimension, "method": method}, FILTERS)
        rows = every = self._find_scores(target_type, target_id, branch_name, actor)
        rows = rows.filter(**c.drop_empty(filters))
        return paginate(rows.select_related("branch"), "-id", **paging, of=every)

    def summarize_scores(
        self, *, target_type: str, target_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> ScoreSummary:
        """Return count, average, least and greatest score of a target in each dimension.

        The newest of each scorer counts; those of a heuristic are no judgements, and only counted.
        Raises NotFound.
        """
        return summarize_rows(self._find_scores(target_type, target_id, branch_name, actor))

    def _find_scores(self, target_type: str, target_id: UUID, branch_name: str, actor: Actor) -> Any:
        actor.require_scope("read", branch_name)
        target_type = CHECKS["target_type"]("target_type", target_type)
        branch = find_branch(actor, branch_name)
        check_target(target_type, target_id, branch.name, actor)
        branches = [pk for pk, _seq in branch.lineage()]
        shown = select_shown_scores(actor.project_id)
        return shown.filter(target_type=target_type, target_id=target_id, branch__in=branches)


# ---- equal requests --------------------------------------------------------------------------------


def digest_request(row: Scoring, keys: Sequence[tuple[UUID, str]]) -> str:
    """Return a digest of what is rated, as it is now, and how: equal for equal requests."""
    parts = [row.project_id, row.branch_id, row.conversation_id, compute_digest(keys)]
    parts += [*sorted(row.dimensions), *sorted(row.judges), row.votes]
    return hashlib.sha256(json.dumps([str(one) for one in parts]).encode()).hexdigest()


def find_open(row: Scoring) -> Scoring | None:
    """Return the scoring of an equal request that has not ended."""
    return list_whole().filter(open_request=row.open_request).first()


def find_ended(row: Scoring) -> Scoring | None:
    """Return the newest result of an equal request; one in which no judge gave a vote is none."""
    rated = list_whole().filter(conversation_id=row.conversation_id, request=row.request)
    rated = rated.filter(project=row.project_id, state=Scoring.State.DONE)
    found = (rated.filter(method=Method.JUDGE) if row.judges else rated).first()
    if found is not None:
        found.is_earlier = True
    return found


def list_whole() -> Any:
    return Scoring.objects.select_related("branch").prefetch_related("scores")


# ---- checks ----------------------------------------------------------------------------------------


def check_judges(judges: Any) -> list[str]:
    """Return the judges of a scoring, each once. Raises Invalid."""
    if not isinstance(judges, list | tuple) or len(judges) > MAX_JUDGES:
        raise Invalid("{field} must be a list of at most {most} texts.", field="judges", most=MAX_JUDGES)
    found = list_judges([JUDGE(f"judges[{place}]", one) for place, one in enumerate(judges)])
    return found if conf().judge_model else []


def check_target(target_type: str, target_id: UUID, branch_name: str, actor: Actor) -> None:
    """Check that a branch shows what is rated. Raises NotFound."""
    if target_type == Target.FACT:
        FactEngine().get_fact(fact_id=target_id, actor=actor, branch_name=branch_name)
    else:
        actor.require_scope("read", branch_name)
        get_visible(find_branch(actor, branch_name).lineage(), target_id)


def check_method(method: str | None, actor: Actor) -> str:
    """Return by whom a score is given: by default a person on the pages, a program with a key.

    Raises Invalid for what Day1 alone gives.
    """
    if method is None:
        return (Method.EXTERNAL if actor.kind == "key" else Method.HUMAN).value
    if method == Method.HUMAN and actor.kind == "key":
        raise Invalid("A program with a key gives no score of a person: leave {field} out.", field="method")
    if method not in GIVEN_METHODS:
        raise Invalid("{field} must be one of {values}.", field="method", values=", ".join(GIVEN_METHODS))
    return method


def list_allowed(actor: Actor) -> Any:
    rows = Scoring.objects.filter(project=actor.project_id).select_related("branch")
    return filter_allowed_branches(rows.prefetch_related("scores"), actor)
