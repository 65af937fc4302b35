"""The fields of replays, and the state of the memory that they are told from."""

from django.utils.translation import gettext_lazy as _

from conversations.engines.fields.conversations import CONTENT, CREATE, MAX_NUMBER
from conversations.models import Replay
from memory.engines.fields.base import READ, Field, Noun, Option
from memory.engines.fields.common import (
    answered_time,
)
from memory.engines.fields.filters import any_of, one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    ListOf,
    Number,
    Record,
    Reference,
    Text,
    Whole,
)

MEMORY_STATE = Record(
    "MemoryStateInput",
    "A branch, at a point of it, or a merge request as if it were merged.",
    (
        Field(
            "branch",
            Reference(200),
            label=_("Memory of the branch"),
            form_help=_(
                "What a search of this branch tells on the last words of a person. Empty: nothing is told."
            ),
        ),
        Field(
            "at",
            Reference(200),
            "A seq, the id of a commit or snapshot, or a time.",
            label=_("as it was at"),
            form_help=_("A time such as 2026-05-01T12:00, or the number of a commit. Empty: now."),
        ),
        Field(
            "merge_request",
            Reference(200),
            "Its id or number.",
            label=_("or as merge request number"),
            form_help=_("The memory as it would be once this request is merged."),
        ),
    ),
)
MEMORY = Field("memory", MEMORY_STATE)

REPLAY = Noun(
    "replay",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name", answer_help="Of the fork."),
    Field("conversation_id", Identifier(), use=READ, answer_help="The fork, which takes the messages."),
    Field("source_branch", Reference(200), use=READ, attribute="source_branch.name"),
    Field("source_id", Identifier(), use=READ, answer_help="The conversation that is replayed."),
    Field("message_id", Identifier(), use=READ, answer_help="The last message that both share."),
    Field("state", Choice(Replay.State.choices), use=READ),
    Field(
        "model",
        Text(200),
        "The one of the settings by default.",
        CREATE,
        label=_("Model"),
        form_help=_("Empty: the one of the server’s settings."),
    ),
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
        form_help=_("Names with commas between them. Empty: all that were used."),
    ),
    Field(
        "tools_deny",
        ListOf(Reference(200)),
        "Names of tools that are not offered.",
        CREATE,
        label=_("Not these tools"),
        form_help=_("Names with commas between them."),
    ),
    Field(
        "system_prompt",
        CONTENT,
        "In place of those of the conversation.",
        CREATE,
        label=_("System prompt"),
        form_help=_("In place of that of the conversation."),
        form_rows=3,
    ),
    Field(
        "extra_context",
        CONTENT,
        "Behind the system prompt.",
        CREATE,
        label=_("Further context"),
        form_help=_("Added after the system prompt."),
        form_rows=3,
    ),
    Field("memory_context", CONTENT, use=READ, answer_help="What memory gave."),
    Field(
        "max_steps", Whole(1, 500), "Answers of the model, 20 by default.", CREATE, label=_("Maximum steps")
    ),
    Field(
        "max_total_tokens",
        Whole(1),
        "Of all requests and answers.",
        CREATE,
        null=True,
        label=_("Maximum tokens"),
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
