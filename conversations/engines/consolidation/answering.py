"""Answers of curators to single changes of a run: one is accepted as true, or taken away again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from django.utils.translation import gettext_noop as _

from conversations.engines.consolidation.answers import ACCEPTED, REJECTED, store_answers
from conversations.engines.consolidation.report import RunChange, iterate_changes
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import MAX_FACTS, ActionEngine
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Identifier, ListOf, Number
from memory.exceptions import Conflict, IllegalTransition, Invalid, NotFound
from memory.models import Commit, Fact

ACCEPT_REASON = "Accepted in the report of a consolidation."
CHANGED = _("Changed since the run: {count} of these facts. Look at them again.")
NONE_SURE = _("Nothing of the run that is left to answer has a confidence of {least} or more.")
REJECT = "consolidate.reject"
State = ConsolidationRun.State
FACT_IDS = Field(
    "fact_ids",
    ListOf(Identifier(), max_items=MAX_FACTS),
    option=Option("this fact of the run", "--fact", "ID"),
)
CONFIDENT = Field(
    "min_confidence",
    Number(),
    "And all of at least this confidence that nobody answered yet.",
    option=Option("all of at least this confidence", metavar="SHARE"),
)


def accept(run: ConsolidationRun, changes: Collection[RunChange], actor: Actor) -> None:
    """Verify the facts as the run left them. Raises Conflict with the ids that changed since."""
    require_present(run, changes)
    uids = [one.fact.uid for one in changes]
    with write_transaction():
        report = ActionEngine().apply_action(
            action="verify", fact_ids=uids, actor=actor, branch_name=run.branch.name, reason=ACCEPT_REASON
        )
        if refused := [str(one.fact_id) for one in report.results if one.error]:
            raise Conflict(CHANGED, count=len(refused), changed=refused)
        keep_answers(run, uids, ACCEPTED, [report.commit] if report.commit else [], actor)


def reject(
    run: ConsolidationRun, changes: Collection[RunChange], commits: Iterable[Commit], actor: Actor
) -> None:
    """Undo what the commits of a run, and of answers to it, did to the facts, the last one first.

    Raises Conflict for facts that were rejected before, and with what was built on them.
    """
    if done := [str(one.fact.uid) for one in changes if one.answer == REJECTED]:
        raise Conflict("Rejected already: {count} of these facts.", count=len(done), changed=done)
    uids = {uid for one in changes for uid in (one.fact.uid, *one.superseded)}
    with write_transaction():
        made = [
            RevertEngine().revert_facts(found=one, fact_ids=uids, kind=REJECT, actor=raise_scopes(actor))
            for one in commits
        ]
        stored = [commit for commit in made if commit is not None]
        keep_answers(run, [one.fact.uid for one in changes], REJECTED, stored, actor)


def keep_answers(
    run: ConsolidationRun, uids: Collection[UUID], answer: str, commits: Sequence[Commit], actor: Actor
) -> None:
    """Store the answers in the row of the run, which is locked, and tell the audit trail."""
    row = ConsolidationRun.objects.select_for_update().get(pk=run.pk)
    store_answers(row, uids, answer, commits, actor)
    run.answers = row.answers
    record_entry(actor, f"consolidation.{answer}", str(run.pk), {"facts": len(uids)})


def choose_changes(
    run: ConsolidationRun, uids: Collection[UUID], min_confidence: float | None
) -> list[RunChange]:
    """Return the changes to these facts and those of at least a confidence that nobody answered yet.

    Raises NotFound for facts that the run did not change, Invalid for none or too many.
    """
    last = {one.fact.uid: one for one in iterate_changes(run)}
    if missing := [str(uid) for uid in uids if uid not in last]:
        raise NotFound("The run did not change {ids}.", ids=", ".join(missing[:5]))
    chosen = {uid: last[uid] for uid in uids}
    if min_confidence is not None:
        sure = [one for one in last.values() if not one.answer and one.fact.confidence >= min_confidence]
        known = find_present(run, sure)
        chosen |= {one.fact.uid: one for one in sure if is_present(one, known)}
    if not chosen and min_confidence is not None:
        raise Invalid(NONE_SURE, least=min_confidence, field="min_confidence")
    if not chosen:
        raise Invalid("Name at least one fact of the run.", field="fact_ids")
    if len(chosen) > MAX_FACTS:
        raise Invalid("{field} may have {most} ids.", field="fact_ids", most=MAX_FACTS)
    return list(chosen.values())


def find_present(run: ConsolidationRun, changes: Collection[RunChange]) -> Mapping[UUID, str]:
    """Return what the facts in use say now, as hashes."""
    run.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Fact.objects.on(run.branch).filter(
        uid__in=[one.fact.uid for one in changes], status=Fact.Status.ACTIVE
    )
    return {row.uid: row.content_hash for row in rows.fetch_all()} if changes else {}


def is_present(one: RunChange, known: Mapping[UUID, str]) -> bool:
    return known.get(one.fact.uid) == one.fact.content_hash


def require_present(run: ConsolidationRun, changes: Collection[RunChange]) -> None:
    """Refuse facts that say something else by now, or are gone. Raises Conflict."""
    known = find_present(run, changes)
    if gone := [str(one.fact.uid) for one in changes if not is_present(one, known)]:
        raise Conflict(CHANGED, count=len(gone), changed=gone)


def require_ended(run: ConsolidationRun) -> None:
    """Refuse a run that still runs or was undone. Raises IllegalTransition."""
    if run.state in (State.QUEUED, State.RUNNING):
        raise IllegalTransition("This run has not ended yet.")
    if run.state == State.UNDONE:
        raise IllegalTransition("This run was undone already.")


def raise_scopes(actor: Actor) -> Actor:
    """Return an actor who may revert a run's commits, which are the server's own: that the person curates
    was checked.
    """
    return replace(actor, scopes=frozenset({"admin"}))
