"""OpenAPI descriptions of the routes of conversations and messages."""

from conversations.answers import comparisons as comparison_shapes
from conversations.answers import conversations as shapes
from conversations.answers import replays as replay_shapes
from conversations.api import requests as r
from conversations.engines.orders import REPLAYS
from conversations.filters import ConversationFilterSet, MessageFilterSet, RoleFilterSet
from conversations.models import Replay
from memory.api.capture_schema import LOOKING
from memory.api.schema import (
    AT,
    BRANCH,
    IF_NONE_MATCH,
    LISTING,
    PAGING,
    SAME,
    TEXT,
    document_routes,
    list_filter_parameters,
    page,
    paging_by,
    query,
    route,
)
from memory.engines.support.ordering import BY_AGE

OTHER_BRANCH = query("other_branch", TEXT, "The branch of the second conversation; the first's by default.")

COMPACT_LIMIT = query(
    "limit", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50}, "Messages behind it at most."
)
FORMAT = query(
    "format", {"type": "string", "enum": ["json", "markdown"]}, "Of the document; json by default."
)

documented = document_routes(
    {
        "ConversationViewSet": {
            "create": route("Begin a conversation", {201: shapes.ConversationShape}, r.ConversationInput),
            "list": route(
                "List conversations, newest first",
                {200: page(shapes.ConversationShape)},
                None,
                [BRANCH, AT, *paging_by(BY_AGE), *list_filter_parameters(ConversationFilterSet)],
            ),
            "retrieve": route(
                "Read a conversation",
                {200: shapes.ConversationShape, 304: SAME},
                None,
                [BRANCH, AT, IF_NONE_MATCH],
            ),
            "fork": route(
                "Fork a conversation at a message: both share what came before",
                {201: shapes.ConversationShape},
                r.ForkInput,
            ),
            "cherry_pick": route(
                "Copy messages to another conversation; again, it adds nothing",
                {200: shapes.PickShape, 201: shapes.PickShape},
                r.CherryPickInput,
            ),
            "diff": route(
                "The differences of two conversations, message by message",
                {200: comparison_shapes.RowDiffShape},
                None,
                [BRANCH, OTHER_BRANCH, *PAGING],
            ),
            "semantic_diff": route(
                "How two conversations differ in actions, reasoning and outcome",
                {200: comparison_shapes.SemanticDiffShape},
                None,
                [BRANCH, OTHER_BRANCH],
            ),
            "replay": route(
                "Make a replay: a fork with other parameters, to go on with",
                {201: replay_shapes.ReplayShape},
                r.ReplayInput,
            ),
            "compact": route(
                "The summary of a conversation's earlier messages, and those behind it",
                {200: shapes.CompactShape},
                None,
                [BRANCH, COMPACT_LIMIT],
            ),
            "make_compact": route(
                "Summarize the earlier messages of a conversation, which stay as they are",
                {201: shapes.CompactionShape},
                r.CompactInput,
            ),
            "export": route(
                "A conversation as a document, without secrets",
                {200: shapes.ConversationDocumentShape},
                None,
                [BRANCH, AT, FORMAT],
            ),
            "import_document": route(
                "Import the document of a conversation; again, it adds nothing",
                {200: shapes.ImportedConversationShape, 201: shapes.ImportedConversationShape},
                r.ConversationDocumentInput,
                [BRANCH],
            ),
            "stats": route(
                "Statistics of a conversation, with what it shares as a fork",
                {200: shapes.ThreadStatsShape},
                None,
                [BRANCH, AT],
            ),
            "complete": route("End a conversation", {200: shapes.ConversationShape}, r.CompleteInput),
            "messages": route(
                "The messages of a conversation, in order",
                {200: page(shapes.MessageShape)},
                None,
                [*LISTING, *list_filter_parameters(RoleFilterSet)],
            ),
            "add_message": route("Append a message", {201: shapes.MessageShape}, r.MessageInput),
            "batch": route(
                "Append up to 1,000 messages, all or none", {201: shapes.MessagesShape}, r.MessagesInput
            ),
        },
        "ReplayViewSet": {
            "list": route(
                "List replays, newest first",
                {200: page(replay_shapes.ReplayShape)},
                None,
                [
                    query("conversation_id", TEXT, "Of this conversation."),
                    query(
                        "state",
                        {"type": "array", "items": {"type": "string", "enum": Replay.State.values}},
                        "In one of these states.",
                    ),
                    *paging_by(REPLAYS),
                ],
            ),
            "retrieve": route("Read a replay", {200: replay_shapes.ReplayShape}),
            "context": route(
                "What an agent goes on from, in chat format", {200: replay_shapes.ReplayContextShape}
            ),
            "run": route(
                "Have the model go on, in the background; again, after its last step",
                {202: replay_shapes.ReplayShape},
                r.ReplayLimitsInput,
            ),
            "cancel": route("Cancel a replay", {200: replay_shapes.ReplayShape}),
            "complete": route("Mark a replay that went on by hand as done", {200: replay_shapes.ReplayShape}),
            "diff": route(
                "The differences of source and replay, message by message",
                {200: comparison_shapes.RowDiffShape},
                None,
                PAGING,
            ),
            "semantic_diff": route(
                "How source and replay differ in actions, reasoning and outcome",
                {200: comparison_shapes.SemanticDiffShape},
            ),
        },
        "MessageViewSet": {
            "retrieve": route("Read a message", {200: shapes.MessageShape}, None, [BRANCH, AT]),
            "search": route(
                "Search messages",
                {200: shapes.MessagesFoundShape},
                None,
                [*LOOKING, *list_filter_parameters(MessageFilterSet)],
            ),
        },
    },
    shapes,
    r,
)
