"""Engine of batches: many conversations replayed with the same parameters, and one report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conversations.engines.conversations import ConversationEngine, ConversationFilter, get_visible
from conversations.engines.fields.replays import MEMORY, REPLAY
from conversations.engines.orders import REPLAY_BATCHES
from conversations.engines.replays.costs import require_prices, sum_costs
from conversations.engines.replays.engine import CHECKS, LIMIT_CHECKS, ReplayEngine, require_model
from conversations.engines.replays.memory_state import find_place
from conversations.engines.replays.scores import SideScore, average, average_sides
from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message, Replay, ReplayBatch
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.db.transactions import never_rerun, retry_methods, retry_transaction
from memory.engines.fields.base import Field
from memory.engines.fields.types import Choice, Identifier, JSONObject, ListOf, Text
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Day1Error, Invalid, NotFound
from memory.providers.openai_server import find_configured
from memory.providers.tool_chat import NO_MODEL, get_replayer

FIRST, LAST = STARTS = "first", "last"
MAX_CONVERSATIONS, MAX_NOTES = 100, 5
STOPPED = "The batch was stopped."
State = Replay.State
NAME = Field("name", Text(200), label=_("Name"), form_help=_("What you try, such as: a smaller model."))
CONVERSATION_IDS = Field("conversation_ids", ListOf(Identifier(), 1, MAX_CONVERSATIONS))
MATCHING = Field("filters", JSONObject(), "Those of the list of conversations.")
START = Field(
    "start",
    Choice([(one, one) for one in STARTS]),
    "The prompt at which each is forked; the first by default.",
    label=_("Each begins"),
    form_help=_("Of the newest, at most 100."),
    form_choices=((FIRST, _("from the first prompt")), (LAST, _("from the last prompt"))),
)
MONEY = REPLAY["max_cost"].with_traits(
    name="max_total_cost",
    help="Money that all replays may cost together, by the prices.",
    label=_("Maximum cost of all"),
    form_help=_("By the prices of the settings. A step that might exceed it is not taken."),
)
LAYERS = ("actions", "reasoning", "result")
SUMMED = ("steps", "calls", "input_tokens", "output_tokens", "unknown_calls")


@dataclass(frozen=True)
class BatchReport:
    """What a batch has come to: its replays by state, cost, verdicts, and scores of both sides."""

    batch: ReplayBatch
    states: Mapping[str, int]
    totals: Mapping[str, int]
    cost: float | None
    verdicts: Mapping[str, int]
    similarity: Mapping[str, float]
    scores: Sequence[SideScore]  # averages of the pairs in which both are rated
    notes: Sequence[str]  # why replays wait, stopped or failed, each once


@retry_methods
class ReplayBatchEngine:
    # ---- writing -------------------------------------------------------------------------------

    @never_rerun  # each replay is a transaction: a second batch would pay for all of them again
    def create_batch(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        conversation_ids: Annotated[Sequence[UUID] | None, CONVERSATION_IDS] = None,
        matching: Annotated[Mapping[str, Any] | None, MATCHING] = None,
        start: Annotated[str, START] = FIRST,
        name: Annotated[str, NAME] = "",
        memory: Annotated[Mapping[str, Any] | None, MEMORY] = None,
        max_total_cost: Annotated[float | None, MONEY] = None,
        **parameters: Any,
    ) -> ReplayBatch:
        """Replay up to 100 conversations: those named, or the newest that ``matching`` lets pass.

        Each is forked at its ``first`` or ``last`` prompt and queued; without a model it stays ready, for
        agents to go on with. One that cannot be replayed is named in ``skipped`` with the reason. All of them
        together cost at most ``max_total_cost``: a step that might exceed it is not taken. Raises Invalid,
        for an empty list of ids too; NotFound where none is visible or the memory has no such state; scope
        and branch errors.
        """
        actor.require_scope("write", branch_name)
        start = START.check("start", start)
        c.validate(parameters, CHECKS)
        max_total_cost = check_money(max_total_cost)
        if memory:
            find_place(dict(memory), actor)  # one mistake would skip every conversation
        uids = self._choose(actor, branch_name, conversation_ids, matching)
        batch = ReplayBatch(
            project_id=actor.project_id,
            branch=find_branch(actor, branch_name),
            name=NAME.check("name", name),
            start=start,
            parameters={**parameters, **({"memory": dict(memory)} if memory else {})},
            max_total_cost=max_total_cost,
            created_at=timezone.now(),
            created_by=actor.label,
        )
        retry_transaction(batch.save)(force_insert=True)
        for uid in uids:
            self._add_replay(batch, uid, actor, memory, parameters)
        retry_transaction(batch.save)(update_fields=["skipped"])
        return batch

    def _choose(
        self,
        actor: Actor,
        branch_name: str,
        named: Sequence[UUID] | None,
        matching: Mapping[str, Any] | None,
    ) -> list[UUID]:
        if named is not None and matching is not None:
            raise Invalid("Conversations are named by ids or by filters, not by both.", field="filters")
        if named is None:
            filters = ConversationFilter.from_values(matching or {})
            named = self._list_newest(actor, branch_name, filters)
        uids = list(dict.fromkeys(named))
        if not uids:
            raise Invalid("There is no conversation to replay.", field="conversation_ids")
        if len(uids) > MAX_CONVERSATIONS:
            raise Invalid(
                "{field} must be at most {most} ids.", field="conversation_ids", most=MAX_CONVERSATIONS
            )
        lineage = find_branch(actor, branch_name).lineage()
        if not Conversation.objects.in_lineage(lineage).select_by_key(("uid",), "uid", uids):
            raise NotFound("No conversation with one of these ids is visible here.")
        return uids

    def _list_newest(self, actor: Actor, branch_name: str, filters: ConversationFilter) -> list[UUID]:
        """Return the newest conversations that filters let pass, without the forks of replays."""
        page = ConversationEngine().list_conversations(
            actor=actor, branch_name=branch_name, filters=filters, limit=MAX_CONVERSATIONS
        )
        forks = Replay.objects.filter(project=actor.project_id).values_list("conversation_id", flat=True)
        known = set(forks)
        return [row.uid for row in page.results if row.uid not in known]

    @retry_transaction
    def _add_replay(
        self,
        batch: ReplayBatch,
        uid: UUID,
        actor: Actor,
        memory: Mapping[str, Any] | None,
        parameters: Mapping[str, Any],
    ) -> None:
        engine = ReplayEngine()
        try:
            point = find_prompt(batch.branch.lineage(), uid, batch.start)
            with transaction.atomic():
                row = engine.create_replay(
                    conversation_id=uid,
                    message_id=point,
                    actor=actor,
                    branch_name=batch.branch.name,
                    memory=memory,
                    **parameters,
                )
                Replay.objects.filter(pk=row.pk).update(batch=batch)
                if find_configured(get_replayer)[0]:
                    engine.run_replay(replay_id=row.pk, actor=actor)
                else:
                    Replay.objects.filter(pk=row.pk).update(note=NO_MODEL)
        except Day1Error as error:
            batch.skipped[str(uid)] = error.text[:300]

    def stop_batch(self, *, batch_id: UUID, actor: Actor) -> ReplayBatch:
        """Stop the replays of a batch that are not done; ``run_batch`` goes on. Raises NotFound."""
        batch = self._get_writable(batch_id, actor, grows=False)
        active = batch.replays.filter(state__in=Replay.ACTIVE)
        active.update(state=State.STOPPED, note=STOPPED, resume_at=None)
        return batch

    def run_batch(
        self,
        *,
        batch_id: UUID,
        actor: Actor,
        max_total_cost: Annotated[float | None, MONEY] = None,
        **limits: Any,
    ) -> ReplayBatch:
        """Go on with the replays of a batch that stopped or failed, with other limits if given.

        ``max_total_cost`` takes the place of the one that the batch had. Raises NotFound, Invalid,
        ProviderUnavailable without a model.
        """
        batch = self._get_writable(batch_id, actor)
        require_model()
        c.validate(limits, LIMIT_CHECKS)  # before any of them is queued
        if max_total_cost is not None:
            batch.max_total_cost = check_money(max_total_cost)
            retry_transaction(batch.save)(update_fields=["max_total_cost"])
        for pk in batch.replays.filter(state__in=(State.READY, State.STOPPED, State.FAILED)).values_list(
            "pk", flat=True
        ):
            ReplayEngine().run_replay(replay_id=pk, actor=actor, **limits)
        return batch

    def execute_batch(self, batch_id: UUID) -> None:
        """Carry out the queued replays of a batch here, where no worker does."""
        queued = Replay.objects.filter(batch=batch_id, state=State.QUEUED).order_by("pk")
        for pk in queued.values_list("pk", flat=True):
            ReplayEngine().execute_replay(pk)

    # ---- reading -------------------------------------------------------------------------------

    def get_batch(self, *, batch_id: UUID, actor: Actor) -> ReplayBatch:
        """Return a batch. Raises NotFound."""
        actor.require_scope("read")
        if (row := list_allowed(actor).filter(pk=batch_id).first()) is None:
            raise NotFound("There is no batch with this id.")
        return row

    def list_batches(self, *, actor: Actor, **paging: Unpack[Sorting]) -> Page[ReplayBatch]:
        """List batches on branches that the actor may use, newest first."""
        actor.require_scope("read")
        every = ReplayBatch.objects.filter(project=actor.project_id)
        return paginate(list_allowed(actor), REPLAY_BATCHES, **paging, of=every)

    def get_report(self, *, batch_id: UUID, actor: Actor) -> BatchReport:
        """Return what a batch has come to so far. Raises NotFound."""
        batch = self.get_batch(batch_id=batch_id, actor=actor)
        rows = list(batch.replays.all())
        done = [row.comparison for row in rows if row.comparison]
        return BatchReport(
            batch,
            Counter(row.state for row in rows),
            {name: sum(getattr(row, name) for row in rows) for name in SUMMED},
            sum_costs(rows),
            Counter(one["verdict"] for one in done),
            {name: average([one[name] for one in done]) for name in LAYERS} if done else {},
            average_sides(rows),
            list(dict.fromkeys(row.note for row in rows if row.note))[:MAX_NOTES],
        )

    def _get_writable(self, batch_id: UUID, actor: Actor, grows: bool = True) -> ReplayBatch:
        row = self.get_batch(batch_id=batch_id, actor=actor)
        actor.require_scope("write", row.branch.name, grows=grows)
        return row


def check_money(value: Any) -> float | None:
    """Return the money that a batch may cost; None for no limit. Raises Invalid."""
    if value is None:
        return None
    require_prices("max_total_cost")
    checked: float = CHECKS["max_cost"]("max_total_cost", value)
    return checked


def list_allowed(actor: Actor) -> Any:
    rows = ReplayBatch.objects.filter(project=actor.project_id).select_related("branch")
    return filter_allowed_branches(rows, actor)


def find_prompt(lineage: Lineage, conversation_id: UUID, start: str) -> UUID:
    """Return the first or the last message of a person in a conversation. Raises NotFound, Invalid."""
    thread = load_thread(lineage, get_visible(lineage, conversation_id))
    rows = Message.objects.in_lineage(lineage).filter(role=Message.Role.USER)
    for row in thread.stream(rows, 1, down=start == LAST):
        return row.uid
    raise Invalid("This conversation has no message of a person.")
