"""Tool calls: the result, or a refusal that tells a model what to do."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call, Caller
from day1site.mcp.tools import Tool
from day1site.mcp.tools.more import find_called
from memory.answers.problems import BROKEN, describe_trouble
from memory.db.errors import StorageRefused
from memory.engines.support import validation as c
from memory.engines.support.idempotency import Answer, IdempotencyEngine, Store
from memory.engines.support.validation import secrets_found
from memory.exceptions import Day1Error

logger = logging.getLogger(__name__)

NEXT_STEPS = {
    "not_found": "Check the id and the branch: memory_search finds ids, branch_list the branches.",
    "scope_missing": "This key may not do that; do not try again, ask the person for another key.",
    "branch_forbidden": "branch_list shows the branches that this key may use.",
    "direct_writes_refused": "branch_create makes a branch to write on; memory_write with propose proposes.",
    "branch_archived": "Work on another branch: branch_list shows them.",
    "invalid": "Correct the argument and call again.",
    "unknown_field": "Take the arguments from the tool's schema.",
    "reserved_value": "Leave this value out.",
    "query_too_long": "Ask in fewer words.",
    "too_large": "Shorten it, or store it in several facts.",
    "exists": "Take another name, or use what is there.",
    "conflict": "Read what is stored now, then decide anew.",
    "illegal_transition": "Read it as it is now, then decide anew.",
    "stale_version": "Somebody changed it: memory_get shows it as it is now.",
    "quota_exceeded": "Do not try again: tell the person that the project is full. Searches go on.",
    "rate_limited": "Wait as long as it says, then call again.",
    "store_damaged": "Do not try again: tell the people who run the server. Other memories can be read.",
    "unavailable": "Wait a second, then call again.",
    "outcome_unknown": "Look first whether it is stored, or call again with the same idempotency_key.",
}
HANDLE = "Call branch_switch for a new handle."


class ToolRefusal(Exception):
    """Refusal of a tool call; the text has the code first, then the reason, then the next step."""

    @property
    def code(self) -> str:
        return str(self).partition(":")[0]


def run(tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Run a tool and return its result. Raises ToolRefusal only."""
    try:
        caller.count()
        secrets_found.start(caller.actor.project_id)
        tool, arguments = find_called(tool, arguments)
        if not tool.serves_end_users:
            caller.actor.require_every_user()
        found = _answer(tool, caller, arguments)
        return schemas.fit_answer(count_redacted(found) if tool.writes else found, tool.rest)
    except Day1Error as error:
        handle = error.code == "not_found" and error.data.get("field") == "work"
        raise ToolRefusal(format_refusal(error.code, error.text, HANDLE if handle else "")) from None
    except Exception as error:
        raise refuse_failure(tool, error) from error
    finally:
        secrets_found.take()  # also of a refused call: the thread's next one may be for another project


def count_redacted(found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with the number of secrets that were taken out, and the fields that held them."""
    count, fields = secrets_found.get_count(), secrets_found.list_fields()
    return {**found, "redacted": count, "redacted_fields": fields} if count else found


def format_refusal(code: str, text: str, do: str = "") -> str:
    """Return the text of a refusal."""
    return clean(f"{code}: {text[:1000]} {do or NEXT_STEPS.get(code, '')}".strip())


def clean(text: str) -> str:
    """Replace lone surrogates from the caller's input, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def refuse_failure(tool: Tool, error: Exception) -> ToolRefusal:
    """Return the refusal for what no caller is at fault for, which the log gets too."""
    trouble = describe_trouble(error)
    if trouble is None:
        logger.error("%s failed", tool.name, exc_info=error)
        return ToolRefusal(format_refusal(*BROKEN[1:]))
    logger.warning("%s: %r", tool.name, error)
    is_refused = isinstance(error, StorageRefused)
    return ToolRefusal(
        format_refusal(*trouble[1:], "Tell the people who run the server." if is_refused else "")
    )


def _answer(tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    call = Call(caller, arguments)
    caller = call.caller
    key = call.take("idempotency_key", c.plain_text) if tool.writes else None
    if key is None:
        return tool.run(call)

    def work(store: Store | None = None) -> Answer:
        # A second try begins with all arguments.
        again = Call(caller, arguments)
        again.take("idempotency_key", c.plain_text)
        again.store = store and (lambda found: store(make_answer(found)))
        return make_answer(count_redacted(tool.run(again)))

    engine = IdempotencyEngine()
    run = engine.run_long if tool.long else engine.run_once
    route, request = f"mcp {tool.name}", call.canonical_arguments
    kept = run(actor=caller.actor, key=key, route=route, request=request, work=work)
    found: dict[str, Any] = json.loads(kept.body)
    return found


def make_answer(found: dict[str, Any]) -> Answer:
    return Answer(200, json.dumps(found))
