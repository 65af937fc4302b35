"""Tools for replays: make one, read it, go on with it, cancel or complete it."""

from typing import Any
from uuid import UUID

from conversations.answers import replays as replay_shapes
from conversations.engines.fields.replays import REPLAY
from conversations.engines.replays.engine import LIMITS, PARAMETERS, ReplayEngine, require_model
from conversations.models import Replay
from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.conversations import CONVERSATION_ID, find_last_message
from day1site.mcp.tools.declared_schemas import WHO, input_properties
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.operations.inputs import parse_object

engine = ReplayEngine()
RUN, CANCEL, COMPLETE = "run", "cancel", "complete"
ENDED = (Replay.State.DONE, Replay.State.STOPPED, Replay.State.FAILED, Replay.State.CANCELLED)
ReplayPart = schemas.only(
    replay_shapes.ReplayShape,
    *("id", "conversation_id", "source_id", "state", "model", "steps", "calls"),
    *("input_tokens", "output_tokens", "cost", "unknown_calls", "comparison", "note"),
)
REPLAY_ROW = schemas.schema(ReplayPart)
_replay = build_renderer(ReplayPart)
FIELDS = REPLAY.select_fields(Use.CREATE)
LIMIT_FIELDS = [field for field in FIELDS if field.name in LIMITS]
NUMBERS = {
    "temperature": {"type": "number", "description": "Of the model.", "minimum": 0, "maximum": 2},
    "max_cost": {"type": "number", "description": "Money at most, by the server's prices.", "minimum": 0},
}
MEMORY = {
    "type": "object",
    "description": (
        "The state of the memory that the context is told from: {branch, at} or {merge_request}. Without it"
        " nothing is told beside the conversation."
    ),
}
CONTEXT = b.many(
    "What the model is sent, in chat format; only when asked for.", b.plain("A message with its role.")
)


@b.tool(
    title="Replay a conversation",
    about=(
        "Ask whether another model, prompt or memory would have done better: a fork goes on from a message, "
        "and tools are answered with the results that the conversation recorded, never run. With run=true "
        "the server's model takes the steps, within max_steps, max_total_tokens and max_cost; it costs "
        "money, and replay_get says how far it is. Without it go on yourself: replay_get with context=true "
        "has the messages to begin with, log_message writes yours, replay_update ends it."
    ),
    takes={
        "conversation_id": CONVERSATION_ID,
        "message_id": b.uid("The last message to share; default: its last one."),
        "run": b.flag("true: the server's model goes on with it; default false."),
        "memory": MEMORY,
        **(input_properties(FIELDS) | NUMBERS),
        **WHO,
    },
    needs=("conversation_id",),
    gives={"replay": REPLAY_ROW},
    scope="write",
    writes=True,
    repeatable=False,
)
def replay_create(call: Call) -> b.Answer:
    uid, where = call.need("conversation_id", c.parse_uuid), call.where
    message_id = call.take("message_id", c.parse_uuid)
    run = call.take("run", c.check_boolean, False)
    memory = call.take("memory", parse_object)
    parameters = call.inputs.take_unchecked(PARAMETERS)
    call.end()
    if run:  # else a replay would be made that the answer does not name
        require_model()
    row = engine.create_replay(
        conversation_id=uid,
        message_id=message_id or find_last_message(uid, call.reading),
        memory=memory,
        **where,
        **parameters,
    )
    if run:
        row = engine.run_replay(replay_id=row.pk, actor=call.actor)
    return {"replay": _replay(row), "branch": call.branch, "next": advise(row)}


@b.tool(
    title="Read a replay",
    about=(
        "See how far a replay is, what it cost, and once it is done how it differs from its source. With "
        "context=true also what its model is told: read it to go on from it yourself. conversation_compare "
        "says more of the difference."
    ),
    takes={"replay_id": b.uid("The replay."), "context": b.flag("true: the messages too; default false.")},
    needs=("replay_id",),
    rest="conversation_get reads the messages page by page.",
    gives={"replay": REPLAY_ROW, "context": CONTEXT, "tools": b.many("Tools it may call.", b.plain("One."))},
)
def replay_get(call: Call) -> b.Answer:
    uid, with_context = call.need("replay_id", c.parse_uuid), call.take("context", c.check_boolean, False)
    actor, branch = call.caller.actor, call.branch
    call.end()
    row = engine.get_replay(replay_id=uid, actor=actor)
    found = engine.get_replay_context(replay_id=uid, actor=actor) if with_context else {}
    answer = {"replay": _replay(row), "context": found.get("messages", []), "tools": found.get("tools", [])}
    return {**answer, "branch": row.branch.name or branch, "next": advise(row)}


@b.tool(
    title="Run or end a replay",
    about=(
        "Have the server's model go on with a replay (do=run), after the last step that was paid for where "
        "it stopped at a limit, which you may raise; cancel it; or complete one that you went on with by "
        "yourself, which closes its conversation and compares it with its source."
    ),
    takes={
        "replay_id": b.uid("The replay."),
        "do": b.choice("What becomes of it.", (RUN, CANCEL, COMPLETE)),
        **(input_properties(LIMIT_FIELDS) | {"max_cost": NUMBERS["max_cost"]}),
    },
    needs=("replay_id", "do"),
    gives={"replay": REPLAY_ROW},
    scope="write",
    writes=True,
    repeatable=False,
)
def replay_update(call: Call) -> b.Answer:
    uid = call.need("replay_id", c.parse_uuid)
    action = call.need("do", c.one_of((RUN, CANCEL, COMPLETE)))
    limits = call.inputs.take_unchecked(LIMITS) if action == RUN else {}
    _ = call.branch
    call.end()
    row = change_replay(action, uid, call.caller.actor, limits)
    return {"replay": _replay(row), "branch": row.branch.name, "next": advise(row)}


def change_replay(action: str, uid: UUID, actor: Any, limits: dict[str, Any]) -> Replay:
    """Run, cancel or complete a replay. Raises as the engine."""
    if action == RUN:
        return engine.run_replay(replay_id=uid, actor=actor, **limits)
    act = engine.cancel_replay if action == CANCEL else engine.complete_replay
    return act(replay_id=uid, actor=actor)


def advise(row: Replay) -> str:
    """Return the call that is likely to help next."""
    if row.state in ENDED:
        return f'conversation_compare {{"first": "{row.source_id}", "second": "{row.conversation_id}"}}'
    if row.state == Replay.State.READY:
        return f'replay_get {{"replay_id": "{row.pk}", "context": true}}'
    return f'replay_get {{"replay_id": "{row.pk}"}}, in a while'
