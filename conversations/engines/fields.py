"""The fields of conversations, messages and runs of consolidation."""

from django.utils.translation import gettext_lazy as _

from conversations.models import ConsolidationRun, Conversation, Message, Replay
from memory.engines.fields.base import NO_USE, READ, Field, Noun, Option, Use
from memory.engines.fields.common import (
    ANY_BRANCH,
    METADATA_OPTION,
    STATED,
    answered_branch,
    answered_id,
    answered_time,
    origin_fields,
)
from memory.engines.fields.filters import any_of, learned_in, one_of, recorded
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    ListOf,
    LongText,
    Moment,
    Number,
    ObjectList,
    Record,
    Reference,
    Text,
    Whole,
)

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
TOOL = Use.TOOL_CREATE
CONTENT_BYTES = 1024 * 1024
MAX_MESSAGES = 1000  # of a request
MAX_NUMBER = 2**31 - 1
CONTENT = LongText(CONTENT_BYTES, blank=True, published=False)


def select_one(name: str) -> Option:
    return Option(f"of one of these {name}s", f"--{name}", "ID")


CONVERSATION = Noun(
    "conversation",
    answered_id(),
    answered_branch(),
    Field("version", Whole(), use=READ),
    Field("title", Text(300), use=OFFERED, option=Option("what it is about")),
    Field("status", Choice(Conversation.Status.choices), use=READ),
    Field(
        "model",
        Text(200),
        use=OFFERED,
        option=Option("the model that answers in it", metavar="NAME"),
    ),
    Field("message_count", Whole(), use=READ, answer_help="With those that a fork shares."),
    Field("shared_messages", Whole(), use=READ, answer_help="Of a fork: how many of them it shares."),
    Field("total_tokens", Whole(), use=READ, answer_help="Of these messages."),
    Field(
        "parent_conversation_id",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a fork: the conversation that it goes on from.",
    ),
    Field(
        "fork_point_message_id",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a fork: the last message that it shares with its parent.",
    ),
    *origin_fields(),
    answered_time("created_at"),
    answered_time("updated_at"),
)
CONVERSATION_FILTERS = CONVERSATION.filtered_by(
    any_of(
        CONVERSATION["session_id"], "Conversations of one of these sessions.", option=select_one("session")
    ),
    any_of(CONVERSATION["agent_id"], "Conversations of one of these agents.", option=select_one("agent")),
    any_of(CONVERSATION["task_id"], "Conversations held for one of these tasks.", option=select_one("task")),
    any_of(
        CONVERSATION["status"],
        "Conversations in one of these states.",
        option=Option(metavar="STATUS", checked=True),
    ),
    any_of(
        CONVERSATION["parent_conversation_id"],
        "Forks of one of these conversations.",
        Identifier(),
        option=Option("forks of this conversation", "--parent", "ID"),
    ),
    one_of("fork", Flag(), "true lists forks alone, false none.", option=Option("forks alone", "--forks")),
    learned_in("Conversations"),
)

MESSAGE = Noun(
    "message",
    answered_id(),
    answered_branch(),
    Field("conversation_id", Identifier(), use=READ),
    Field("sequence_num", Whole(1, MAX_NUMBER), "The next one.", CREATE),
    Field("role", Choice(Message.Role.choices), use=CREATE | TOOL, required=True, tool_help="Who speaks."),
    Field(
        "content",
        CONTENT,
        "At most 1 MiB in UTF-8.",
        CREATE | TOOL,
        tool_help="What was said, up to 1 MiB.",
    ),
    Field(
        "thinking",
        CONTENT,
        "Shown to curators only.",
        CREATE,
        answer_null=True,
        answer_help="null without the scope curate.",
    ),
    Field("has_thinking", Flag(), use=READ),
    Field("tool_calls", ObjectList(CONTENT_BYTES), use=CREATE),
    Field("token_count", Whole(0, MAX_NUMBER), use=CREATE),
    Field("model", Text(200), use=OFFERED, option=Option("that said it", metavar="NAME")),
    Field("metadata", JSONObject(), use=OFFERED, option=METADATA_OPTION),
    Field(
        "picked_from",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a copy: the message that was picked.",
    ),
    Field("embed", Flag(), "Users and assistants by default.", Use.CREATE),
    *origin_fields(),
    Field(
        "said_at",
        Moment(),
        use=OFFERED,
        null=True,
        answer_help="When it was said, if that was earlier.",
        option=Option("when it was said, if that was before"),
    ),
    answered_time("created_at"),
)
ROLE_FILTER = any_of(
    MESSAGE["role"],
    "Messages of one of these roles.",
    option=Option(", ".join(Message.Role.values), metavar="ROLE", checked=True),
)
MESSAGE_FILTERS = MESSAGE.filtered_by(
    ROLE_FILTER,
    any_of(MESSAGE["session_id"], "Messages of one of these sessions.", use=NO_USE),
    any_of(MESSAGE["agent_id"], "Messages of one of these agents.", use=NO_USE),
    one_of("conversation_id", Identifier(), "Messages of this conversation.", use=NO_USE),
    learned_in("Messages", use=NO_USE),
    *recorded("Messages", use=NO_USE),
)

# What operations take beside the fields of a conversation and a message.
FORK_POINT = Field("message_id", Identifier(), "The last message that both share.", NO_USE)
MEMORY_BRANCH = Field(
    "memory_branch",
    Reference(200),
    "A branch to create as of that message, for the fork.",
    option=Option("a branch to create as of that message, for the fork", metavar="NAME"),
)
OTHER_BRANCH = Field(
    "other_branch",
    Reference(200),
    "The branch of the second conversation; the first's by default.",
    option=Option("the branch of the second; default the first's", metavar="NAME"),
)
MESSAGE_ITEM = Record(
    "MessageItemInput", "One message of many.", (*STATED, *MESSAGE.select_fields(Use.CREATE))
)
MESSAGES = Field("messages", ListOf(MESSAGE_ITEM, 1, MAX_MESSAGES))
PICKED = Field(
    "message_ids", ListOf(Identifier(), 1, MAX_MESSAGES), use=NO_USE, option=Option(metavar="MESSAGE_ID...")
)
TARGET_BRANCH = Field(
    "target_branch",
    Reference(200),
    "The same branch by default.",
    option=Option("the branch of that conversation", "--to-branch", "NAME"),
)
TARGET = Field(
    "target_conversation_id",
    Identifier(),
    "A new one by default.",
    option=Option("the conversation that takes them", "--to", "ID"),
)
PICK_TITLE = Field(
    "title", Text(300), "Of a new one; else the source's.", option=Option("of a new conversation")
)
WITH_FACTS = Field(
    "with_facts",
    Flag(),
    "Take the facts that came of them along; needs the scope merge.",
    option=Option("take the facts that came of them along"),
)
MEMORY_STATE = Record(
    "MemoryStateInput",
    "A branch, at a point of it, or a merge request as if it were merged.",
    (
        Field("branch", Reference(200)),
        Field("at", Reference(200), "A seq, the id of a commit or snapshot, or a time."),
        Field("merge_request", Reference(200), "Its id or number."),
    ),
)
MEMORY = Field("memory", MEMORY_STATE)

CURRENT_CYCLE = Field("current_cycle", Whole(), "Of dreaming: not before the branch's own.")
RUN_BRANCH = ANY_BRANCH.with_traits(help="Runs on this branch; on every branch when it is not given.")

LEVEL, STATE = Choice(ConsolidationRun.Level.choices), Choice(ConsolidationRun.State.choices)

CONSOLIDATION = Noun(
    "consolidation",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name"),
    Field("level", LEVEL, "What is consolidated.", CREATE, required=True, label=_("Level")),
    Field(
        "target",
        Reference(200, 1),
        "The session's id, the agent's, or the task's short name; of dreaming the branch, and not needed.",
        CREATE,
        label=_("Target"),
    ),
    Field("state", STATE, use=READ),
    Field("mode", Choice(ConsolidationRun.Mode.choices), use=READ),
    Field("dry_run", Flag(), use=READ, answer_help="Whether nothing was written."),
    Field("messages", Whole(), use=READ, answer_help="Messages that no run had read before."),
    Field("observations", Whole(), use=READ, answer_help="Observations; of an agent or task, its facts."),
    Field("created", Whole(), use=READ, answer_help="New facts."),
    Field("updated", Whole(), use=READ, answer_help="Facts that another source confirmed."),
    Field("deduplicated", Whole(), use=READ, answer_help="Statements of what a fact says already."),
    Field("durable", Whole(), use=READ, answer_help="Of a task: facts that outlive it."),
    Field(
        "yield_rate",
        Number(),
        use=READ,
        answer_null=True,
        answer_help="New facts by messages and observations read.",
    ),
    Field("cycle", Whole(), use=READ, answer_null=True, answer_help="Of dreaming: the branch's turns."),
    Field("merge_request", Whole(), use=READ, answer_null=True, answer_help="Of dreaming: its number."),
    Field("recall", Text(500), use=READ, answer_help="Of dreaming: what the recall gate said."),
    Field("model", Text(200), use=READ, answer_help="The language model that was asked."),
    Field("calls", Whole(), use=READ, answer_help="How often it was asked."),
    Field("input_tokens", Whole(), use=READ),
    Field("output_tokens", Whole(), use=READ),
    Field("commits", ListOf(Identifier()), use=READ),
    Field("note", Text(500), use=READ, answer_help="What fell short."),
    answered_time("started_at"),
    answered_time("finished_at", null=True),
    Field("created_by", Reference(200), use=READ),
    answered_time("undone_at", null=True),
    Field("undone_by", Reference(200), use=READ),
    commands=("consolidate", "make facts of sessions, merge duplicates, undo that"),
)
CONSOLIDATION_FILTERS = CONSOLIDATION.filtered_by(
    one_of("level", LEVEL, "Of this level.", option=Option(checked=True)),
    one_of("state", STATE, "In this state.", option=Option(checked=True)),
    one_of("target", Reference(200), "Of this session, agent or task."),
)

REPLAY = Noun(
    "replay",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name", answer_help="Of the fork."),
    Field("conversation_id", Identifier(), use=READ, answer_help="The fork, which takes the messages."),
    Field("source_branch", Reference(200), use=READ, attribute="source_branch.name"),
    Field("source_id", Identifier(), use=READ, answer_help="The conversation that is replayed."),
    Field("message_id", Identifier(), use=READ, answer_help="The last message that both share."),
    Field("state", Choice(Replay.State.choices), use=READ),
    Field("model", Text(200), "The one of the settings by default.", CREATE, label=_("Model")),
    Field("temperature", Number(0, 2), use=CREATE, null=True, label=_("Temperature")),
    Field(
        "max_tokens",
        Whole(1, MAX_NUMBER),
        "Of one answer.",
        CREATE,
        null=True,
        label=_("Tokens of an answer"),
    ),
    Field(
        "tools_allow",
        ListOf(Reference(200)),
        "Names of tools; all by default.",
        CREATE,
        label=_("Only these tools"),
    ),
    Field(
        "tools_deny",
        ListOf(Reference(200)),
        "Names of tools that are not offered.",
        CREATE,
        label=_("Not these tools"),
    ),
    Field(
        "system_prompt", CONTENT, "In place of those of the conversation.", CREATE, label=_("System prompt")
    ),
    Field("extra_context", CONTENT, "Behind the system prompt.", CREATE, label=_("Further context")),
    Field("memory_context", CONTENT, use=READ, answer_help="What memory gave."),
    Field(
        "max_steps", Whole(1, 500), "Answers of the model, 20 by default.", CREATE, label=_("Steps at most")
    ),
    Field(
        "max_total_tokens",
        Whole(1),
        "Of all requests and answers.",
        CREATE,
        null=True,
        label=_("Tokens at most"),
    ),
    Field(
        "max_cost",
        Number(0, 1_000_000),
        "By the prices of the settings.",
        CREATE,
        null=True,
        label=_("Cost at most"),
    ),
    Field(
        "score",
        Flag(),
        "Have judges rate both sides at the end; needs curate.",
        CREATE,
        label=_("Judges rate both sides"),
    ),
    Field(
        "comparison",
        JSONObject(),
        use=READ,
        answer_help="Verdict, similarities and method (vectors or words), once it is done.",
    ),
    Field("batch_id", Identifier(), use=READ, answer_null=True, answer_help="That it belongs to."),
    Field("steps", Whole(), use=READ),
    Field("calls", Whole(), use=READ, answer_help="Requests to the model, failed ones too."),
    Field("input_tokens", Whole(), use=READ),
    Field("output_tokens", Whole(), use=READ),
    Field("cost", Number(), use=READ, answer_null=True, answer_help="null without prices."),
    Field("unknown_calls", Whole(), use=READ, answer_help="Calls of tools without a recorded result."),
    Field("note", Text(500), use=READ, answer_help="Why it waits, stopped or failed."),
    answered_time("resume_at", null=True),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    answered_time("finished_at", null=True),
    commands=("replays", "replay conversations with another model, prompt or memory"),
)
REPLAY_FILTERS = REPLAY.filtered_by(
    one_of(
        "conversation_id",
        Identifier(),
        "Of this conversation.",
        option=Option("of this conversation", "--conversation", "ID"),
    ),
    any_of(REPLAY["state"], "In one of these states.", option=Option("in one of these states", checked=True)),
)
