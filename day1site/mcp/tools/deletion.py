"""The tool that deletes what was captured or handed over, and brings it back."""

from conversations.operations.conversations import CONVERSATIONS
from conversations.operations.messages import MESSAGES
from curation.operations.bundles import BUNDLES
from curation.operations.handoffs import HANDOFFS
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from memory.engines.support import validation as c
from memory.operations.observations import OBSERVATIONS
from memory.operations.sessions import SESSIONS

KINDS = {one.name: one for one in (MESSAGES, CONVERSATIONS, OBSERVATIONS, SESSIONS, BUNDLES, HANDOFFS)}


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
    operation, where = KINDS[name]["restore" if is_back else "destroy"], call.where
    call.end()
    if not operation.serves_end_users:
        where["actor"].require_every_user()
    where = where if "branch_name" in operation.arguments else {"actor": where["actor"]}
    operation.method(**{f"{name}_id": key}, **where)
    after = f'record_delete {{"kind": "{name}", "id": "{key}", "restore": true}}'
    answer = {"kind": name, "id": str(key), "deleted": not is_back}
    return {**answer, "branch": call.branch, "next": "memory_context" if is_back else after}
