"""Engine of replays: create, context, run in the background, cancel, complete, compare."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine, get_visible
from conversations.engines.fields.conversations import FORK_POINT, MEMORY_BRANCH
from conversations.engines.fields.replays import MEMORY, REPLAY
from conversations.engines.orders import REPLAYS
from conversations.engines.replays.context import (
    ChatMessage,
    RecordedTools,
    build_context,
    estimate_tokens,
    load_own,
    load_parts,
)
from conversations.engines.replays.costs import fit_answer, measure_cost, require_prices
from conversations.engines.replays.endings import (
    COMPARE_TASK,
    end_replay,
    list_compared_early,
    list_sides,
)
from conversations.engines.replays.memory_state import hide_lines, take_memory
from conversations.engines.replays.rights import describe_runner, filter_readable, require_read
from conversations.engines.replays.run import ReplayRun, claim_replay
from conversations.engines.semantic_diff.comparison import RowDiffPage
from conversations.engines.semantic_diff.engine import SemanticDiff, SemanticDiffEngine
from conversations.models import Message, Replay
from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.engines.support.leases import list_due
from memory.engines.support.pagination import Page, Paging, Sorting, paginate
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Conflict, Invalid, NotFound, ProviderUnavailable
from memory.providers.openai_server import find_configured
from memory.providers.tool_chat import NO_MODEL, get_replayer
from memory.queue.producer import enqueue

State = Replay.State
CHECKS = REPLAY.field_checks(Use.CREATE)
PARAMETERS = frozenset(CHECKS)
LIMITS = ("max_steps", "max_total_tokens", "max_cost")
LIMIT_CHECKS = {name: CHECKS[name] for name in LIMITS}


@retry_methods
class ReplayEngine:
    # ---- writing -------------------------------------------------------------------------------

    def create_replay(
        self,
        *,
        conversation_id: UUID,
        message_id: Annotated[UUID, FORK_POINT],
        actor: Actor,
        branch_name: str = MAIN,
        memory_branch: Annotated[str, MEMORY_BRANCH] = "",
        memory: Annotated[Mapping[str, Any] | None, MEMORY] = None,
        **parameters: Any,
    ) -> Replay:
        """Fork a conversation at a message for a model, or an agent, to go on with.

        ``memory`` names the state of the memory that the context is told from: a branch with a point, or a
        merge request. Raises NotFound, Invalid (parameters, a filter that leaves no tool, a budget that is
        less than the first step), scope and branch errors; ``score`` needs the scope curate.
        """
        fields = {"max_steps": 20, **c.validate(parameters, CHECKS)}
        row = Replay(project_id=actor.project_id, **fields, memory_state=dict(memory or {}))
        row.created_at, row.created_by = timezone.now(), actor.label
        if row.score:
            actor.require_scope("curate", branch_name)
        self._find_source(row, conversation_id, message_id, branch_name, actor)
        before, after, left_out = load_parts(row)
        take_memory(row, before, actor)
        tools = RecordedTools(before, after, row)
        check_budget(row, build_context(row, before, tools, left_out), tools)
        with write_transaction():  # no fork without its replay
            fork = ConversationEngine().fork_conversation(
                conversation_id=conversation_id,
                message_id=message_id,
                actor=replace(actor, session_id=""),
                branch_name=branch_name,
                memory_branch=memory_branch,
                model=row.model,
            )
            row.branch = find_branch(actor, memory_branch or branch_name)
            row.conversation_id = fork.uid
            row.save(force_insert=True)
        row.cost = measure_cost(row)
        return row

    def _find_source(
        self, row: Replay, conversation_id: UUID, message_id: UUID, branch_name: str, actor: Actor
    ) -> None:
        actor.require_scope("write", branch_name)
        branch = find_branch(actor, branch_name)
        get_visible(branch.lineage(), conversation_id)
        row.source_branch, row.source_seq = branch, branch.head
        row.source_id, row.message_id = conversation_id, message_id

    def run_replay(self, *, replay_id: UUID, actor: Actor, **limits: Any) -> Replay:
        """Queue a replay; one that waited, stopped or failed goes on after its last step.

        ``max_steps``, ``max_total_tokens`` and ``max_cost`` take the place of the limits that it had.

        Raises NotFound, ProviderUnavailable without a model (it says what to set), Conflict for one that is
        complete or at work.
        """
        row = self._get_writable(replay_id, actor)
        limits = c.validate(limits, LIMIT_CHECKS)
        require_model()
        if not (row.model or conf().replay_model):
            raise Invalid("{field} is needed.", field="model")
        free = (State.READY, State.STOPPED, State.FAILED, State.WAITING)
        with transaction.atomic():
            queued = Replay.objects.filter(pk=row.pk, state__in=free)
            fresh = {"state": State.QUEUED, "resume_at": None, "tries": 0, "note": ""}
            if not queued.update(**fresh, runner=describe_runner(actor), **limits):
                raise Conflict("This replay is {state}.", state=row.state)
            enqueue("conversations.replay", str(row.pk))
        return self._get(replay_id, actor)

    def cancel_replay(self, *, replay_id: UUID, actor: Actor) -> Replay:
        """Cancel a replay; a step that is under way is the last. Raises NotFound, Conflict."""
        row = self._get_writable(replay_id, actor, grows=False)
        ended = (State.DONE, State.CANCELLED)
        left = Replay.objects.filter(pk=row.pk).exclude(state__in=ended)
        if not left.update(state=State.CANCELLED, finished_at=timezone.now(), resume_at=None):
            raise Conflict("This replay is {state}.", state=row.state)
        return self._get(replay_id, actor)

    def complete_replay(self, *, replay_id: UUID, actor: Actor) -> Replay:
        """Mark a replay that an agent has gone on with by hand as done, and close its conversation.

        Its steps are the answers that the agent wrote.

        Raises NotFound; Conflict for one that is complete, cancelled or at work.
        """
        row = self._get_writable(replay_id, actor)
        open_states = (State.READY, State.STOPPED, State.FAILED)
        steps = sum(one.role == Message.Role.ASSISTANT for one in load_own(row))
        if not end_replay(row, Replay.objects.filter(pk=row.pk, state__in=open_states), steps=steps):
            raise Conflict("This replay is {state}.", state=row.state)
        return self._get(replay_id, actor)

    # ---- for the worker ------------------------------------------------------------------------

    def execute_replay(self, replay_id: UUID) -> None:
        """Go on with a queued replay, or one whose worker was lost, until it ends or waits."""
        if row := claim_replay(replay_id):
            ReplayRun(row).carry_out()

    def resume_replays(self) -> None:
        """Queue what waited long enough, or whose message or worker was lost."""
        for replay_id in list_due(Replay):
            enqueue("conversations.replay", str(replay_id))
        waiting = list_compared_early().filter(resume_at__lte=timezone.now())
        for replay_id in waiting.order_by("pk").values_list("pk", flat=True):
            enqueue(COMPARE_TASK, str(replay_id))

    # ---- reading -------------------------------------------------------------------------------

    def get_replay(self, *, replay_id: UUID, actor: Actor) -> Replay:
        """Return a replay with its cost. Raises NotFound."""
        return self._get(replay_id, actor)

    def list_replays(
        self,
        *,
        actor: Actor,
        conversation_id: UUID | None = None,
        batch_id: UUID | None = None,
        state: Sequence[str] = (),
        **paging: Unpack[Sorting],
    ) -> Page[Replay]:
        """Return a page of replays on branches that the actor may use, newest first."""
        every = Replay.objects.filter(project=actor.project_id)
        rows = self._list_rows(actor, conversation_id).select_related("branch", "source_branch")
        if batch_id is not None:
            rows = rows.filter(batch=batch_id)
        if state:
            rows = rows.filter(state__in=[c.one_of(State.values)("state", one) for one in state])
        page = paginate(rows, REPLAYS, **paging, of=every)
        hide_lines(page.results)
        for row in page.results:
            row.cost = measure_cost(row)
        return page

    def find_replays(self, *, conversation_ids: Sequence[UUID], actor: Actor) -> dict[UUID, Replay]:
        """Return the replays that have made these forks, those that the actor may read."""
        rows = self._list_rows(actor, None).filter(conversation_id__in=conversation_ids)
        return {row.conversation_id: row for row in rows}

    def count_replays(self, *, actor: Actor, conversation_id: UUID | None = None) -> Counter[str]:
        """Return how many replays there are in each state, on branches that the actor may use."""
        counted = self._list_rows(actor, conversation_id).order_by().values_list("state")
        return Counter(dict(counted.annotate(n=Count("pk"))))

    def list_messages(self, *, replay_id: UUID, actor: Actor) -> list[Message]:
        """Return the messages that a replay has added, in their order. Raises NotFound."""
        return load_own(self._get(replay_id, actor))

    def get_replay_context(self, *, replay_id: UUID, actor: Actor) -> dict[str, Any]:
        """Return the messages up to the fork in chat format with the overrides, and the tools.

        It needs no model: an agent of any kind may go on from it. Raises NotFound.
        """
        row = self._get(replay_id, actor)
        before, after, left_out = load_parts(row)
        tools = RecordedTools(before, after, row)
        context = build_context(row, before, tools, left_out)
        options = {name: getattr(row, name) for name in ("temperature", "max_tokens")}
        return {
            "replay_id": row.pk,
            "model": row.model or conf().replay_model,
            "messages": context,
            "tools": tools.describe(),
            "tokens": estimate_tokens(context),
            **options,
        }

    def diff_replay(self, *, replay_id: UUID, actor: Actor, **paging: Unpack[Paging]) -> RowDiffPage:
        """Return the differences of the replay and the source as it was then, message by message."""
        sides = list_sides(self._get(replay_id, actor))
        return SemanticDiffEngine().diff_rows(actor=actor, **sides, **paging)

    def semantic_diff(self, *, replay_id: UUID, actor: Actor) -> SemanticDiff:
        """Return how replay and source, as it was then, differ in actions, reasoning and outcome."""
        sides = list_sides(self._get(replay_id, actor))
        return SemanticDiffEngine().semantic_diff(**sides, actor=actor)

    def _list_rows(self, actor: Actor, conversation_id: UUID | None) -> QuerySet[Replay]:
        actor.require_scope("read")
        rows = Replay.objects.filter(project=actor.project_id)
        rows = filter_readable(rows, actor)
        return rows.filter(source_id=conversation_id) if conversation_id else rows

    def _get(self, replay_id: UUID, actor: Actor) -> Replay:
        actor.require_scope("read")
        rows = Replay.objects.filter(project=actor.project_id).select_related("branch", "source_branch")
        row = rows.filter(pk=replay_id).first()
        if row is None:
            raise NotFound("There is no replay with this id.")
        require_read(row, actor)
        hide_lines([row])
        row.cost = measure_cost(row)
        return row

    def _get_writable(self, replay_id: UUID, actor: Actor, grows: bool = True) -> Replay:
        row = self._get(replay_id, actor)
        actor.require_scope("write", row.branch.name, grows=grows)
        return row


def require_model() -> None:
    """Check that a model is set. Raises ProviderUnavailable, which says what to set."""
    server, problem = find_configured(get_replayer)
    if server is None:
        raise ProviderUnavailable(reason=problem or NO_MODEL)


def check_budget(row: Replay, context: Sequence[ChatMessage], tools: RecordedTools) -> None:
    """Refuse a budget that is less than the first step. Raises Invalid."""
    tokens = estimate_tokens(context) + estimate_tokens(tools.describe())
    if row.max_total_tokens is not None and tokens > row.max_total_tokens:
        raise Invalid(
            "The first step alone has about {tokens} tokens, more than {limit}.",
            tokens=tokens,
            limit=row.max_total_tokens,
            field="max_total_tokens",
        )
    if row.max_cost is None:
        return
    require_prices("max_cost")
    if not fit_answer(row, tokens, row.max_cost):
        raise Invalid(
            "The first step alone costs more than {limit}. Raise it, or let max_tokens bound an answer.",
            limit=row.max_cost,
            field="max_cost",
        )
