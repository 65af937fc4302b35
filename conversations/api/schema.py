"""OpenAPI descriptions of the routes of conversations and messages."""

from conversations.answers import comparisons as comparison_shapes
from conversations.answers import conversations as shapes
from conversations.answers import replays as replay_shapes
from conversations.api import requests as r
from conversations.engines.orders import REPLAYS
from conversations.models import Replay
from memory.api.schema import (
    PAGING,
    TEXT,
    document_routes,
    page,
    paging_by,
    query,
    route,
)

documented = document_routes(
    {
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
    },
    shapes,
    r,
)
