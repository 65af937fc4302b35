"""Declaration of tools: name, description for the model, schemas, required scope."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from day1site.mcp.call_context import Call

SHORT = ": whole, or the last 6 digits as a context shows them."
Schema = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """Tool. ``scope`` is the minimum for a key to see it; the engines decide what the key may do."""

    name: str
    title: str
    about: str
    run: Callable[[Call], Answer]
    input: Schema
    output: Schema
    scope: str = "read"
    writes: bool = False
    long: bool = False  # it reads for long before it locks anything: see Call.keep_answer
    destructive: bool = False
    serves_end_users: bool = False  # else it refuses who acts for one
    repeatable: bool = True  # a repeated call changes nothing more
    rest: str = "Ask for less: fewer ids, a lower limit, narrower filters."  # of an answer that was cut


TOOLS: dict[str, Tool] = {}


def tool(
    *,
    title: str,
    about: str,
    takes: Schema,
    needs: tuple[str, ...] = (),
    gives: Schema,
    at_times: Schema | None = None,
    **traits: Any,
) -> Callable[[Callable[[Call], Answer]], Callable[[Call], Answer]]:
    """Register a function as a tool, under the function's name. Every answer has the fields of ``gives``,
    some have those of ``at_times``.
    """

    def declare(run: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
        more = REPEATING if traits.get("writes") else {}
        redacted = REDACTED if traits.get("writes") else {}
        known = {**takes, **WHERE, **more}
        TOOLS[run.__name__] = Tool(
            run.__name__,
            title,
            about,
            run,
            shape(known, needs),
            shape({**gives, **ALWAYS, **CUT, **(at_times or {}), **redacted}, (*gives, *ALWAYS)),
            **traits,
        )
        return run

    return declare


# ---- schemas ---------------------------------------------------------------------------------------


def shape(fields: Schema, needed: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object with these fields and no others."""
    made: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    return made | ({"required": list(needed)} if needed else {})


def row(fields: Schema) -> Schema:
    """Return the schema of an object that always has all of these fields."""
    return shape(fields, tuple(fields))


def text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


def whole(about: str, low: int, high: int, **more: Any) -> Schema:
    return {"type": "integer", "description": about, "minimum": low, "maximum": high, **more}


def number(about: str) -> Schema:
    return {"type": "number", "description": about, "minimum": 0, "maximum": 1}


def flag(about: str, **more: Any) -> Schema:
    return {"type": "boolean", "description": about, **more}


def choice(about: str, among: Any, **more: Any) -> Schema:
    return text(about, enum=[str(one) for one in among], **more)


def many(about: str, of: Schema | None = None, **more: Any) -> Schema:
    return {"type": "array", "description": about, "items": of or {"type": "string"}, **more}


def uid(about: str) -> Schema:
    return text(about, format="uuid")


def fact_id(about: str) -> Schema:
    return text(f"{about}{SHORT}")


def when(about: str) -> Schema:
    return text(f"{about} ISO 8601, such as 2026-05-01T12:00:00Z.")


def plain(about: str) -> Schema:
    """Return the schema of an object with arbitrary fields."""
    return {"type": "object", "description": about}


WHERE: Schema = {
    "branch": text("Branch to work on. Default: that of `work`, else the connection's, else main."),
    "work": text("Handle from branch_switch or task_join: works on its branch without naming it."),
}
REPOSITORY: Schema = {
    "repository": text(
        "Where you work: the git remote, else the folder; * is any. Default: the connection's."
    )
}
REPEATING: Schema = {
    "idempotency_key": text("Any text of your own: the same call with it again gives the first answer.")
}
REDACTED: Schema = {
    "redacted": whole("How many secrets were taken out before it was stored; missing for none.", 1, 10**9),
    "redacted_fields": many(
        "The fields that held them; of several items with their place, as facts[2].tags."
    ),
}
ALWAYS: Schema = {
    "branch": text("The branch that was used."),
    "next": text("The call that is likely to help next."),
}
CUT: Schema = {"cut": plain("Of an answer that was too long: what it has of its lists, the way to the rest.")}
AT = text("Read the past: a commit's seq or id, a snapshot's id, or a time in ISO 8601.")
LIMIT = whole("How many at most.", 1, 100)
CURSOR = text("`next_cursor` of the page before.")
