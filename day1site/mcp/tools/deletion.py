"""The tool that deletes what was captured or handed over, and brings it back."""

from collections.abc import Callable
from typing import Any, NamedTuple

from conversations.engines.deletion import ConversationDeletion, MessageDeletion
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.handoffs.engine import HandoffEngine
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from memory.engines.deletion.observations import ObservationDeletion
from memory.engines.deletion.sessions import SessionDeletion
from memory.engines.support import validation as c


class Kind(NamedTuple):
    """How a kind is deleted and restored; what is versioned is named with its branch."""

    delete: Callable[..., Any]
    restore: Callable[..., Any]
    on_branch: bool = False


messages, talks, seen = MessageDeletion(), ConversationDeletion(), ObservationDeletion()
sessions, bundles, handoffs = SessionDeletion(), KnowledgeBundleEngine(), HandoffEngine()
KINDS = {
    "message": Kind(messages.delete_message, messages.restore_message, True),
    "conversation": Kind(talks.delete_conversation, talks.restore_conversation, True),
    "observation": Kind(seen.delete_observation, seen.restore_observation, True),
    "session": Kind(sessions.delete_session, sessions.restore_session),
    "bundle": Kind(bundles.delete_bundle, bundles.restore_bundle),
    "handoff": Kind(handoffs.delete_handoff, handoffs.restore_handoff),
}


@b.tool(
    title="Delete a record",
    about=(
        "Delete a message, conversation (with its messages), observation, session (with what it captured), "
        "bundle or handoff, when a person asks for it: nothing shows it any more, and restore brings it "
        "back. Facts that were learned of it stay: for those use memory_update with status archived."
    ),
    takes={
        "kind": b.choice("What it is.", list(KINDS)),
        "id": b.text("Its id."),
        "restore": b.flag("true brings back what was deleted."),
    },
    needs=("kind", "id"),
    gives={
        "kind": b.text("What it is."),
        "id": b.text("Its id."),
        "deleted": b.flag("Whether it is hidden."),
    },
    scope="write",
    writes=True,
    destructive=True,
    serves_end_users=True,
)
def record_delete(call: Call) -> b.Answer:
    name = call.need("kind", c.one_of(list(KINDS)))
    is_back = call.take("restore", c.check_boolean, False)
    key = call.need("id", c.text_check(200) if name == "session" else c.parse_uuid)
    kind, where = KINDS[name], call.where
    call.end()
    if not kind.on_branch and name != "session":
        where["actor"].require_every_user()
    where = where if kind.on_branch else {"actor": where["actor"]}
    (kind.restore if is_back else kind.delete)(**{f"{name}_id": key}, **where)
    after = f'record_delete {{"kind": "{name}", "id": "{key}", "restore": true}}'
    answer = {"kind": name, "id": str(key), "deleted": not is_back}
    return {**answer, "branch": call.branch, "next": "memory_context" if is_back else after}
