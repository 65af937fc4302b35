"""Facts and sessions as resources, for clients in which people pick what enters a conversation."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from uuid import UUID

import mcp_types as m

from day1site.mcp.call_context import Call, Caller
from day1site.mcp.schemas import short
from day1site.mcp.tools.facts import read_facts
from day1site.mcp.tools.search import newest_lines
from day1site.mcp.tools.sessions import memory_context
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import NotFound

JSON = "application/json"
FACTS, SESSIONS = 20, 10
MAX_URI = 1000  # characters in an error
UNKNOWN = "There is no resource {uri}: day1://facts/ID and day1://sessions/ID/context are known."
MISSING = "There is no resource {uri}. {reason}"

TEMPLATES = [
    m.ResourceTemplate(
        name="fact",
        title="A fact",
        uri_template="day1://facts/{fact_id}{?branch,at}",
        mime_type=JSON,
        description="The full text of a fact and all that is known of it, as a branch shows it.",
    ),
    m.ResourceTemplate(
        name="session_context",
        title="A session",
        uri_template="day1://sessions/{session_id}/context{?branch}",
        mime_type=JSON,
        description="What a session wrote, said and did, and the newest facts of the branch.",
    ),
]


def listed(caller: Caller) -> m.ListResourcesResult:
    """List the newest facts of the branch, and the last sessions, without those of another repository."""
    call = Call(caller, {})
    sessions = SessionManager().get_recent_sessions(
        actor=caller.actor, branch_name=call.branch, repository=call.take_repository(), limit=SESSIONS
    )
    found = [_fact(line, call.branch) for line in newest_lines(call, FACTS)]
    found += [_session(row.key, row.summary) for row in sessions.results]
    return m.ListResourcesResult(resources=found)


def _fact(line: Mapping[str, str], branch: str) -> m.Resource:
    """Return a fact as a picker shows it: some show the description in place of the name."""
    uri = f"day1://facts/{line['id']}?branch={quote(branch)}"
    about = f"{line['line']} [{line['date']}, {line['status']}, on {branch}]"
    return m.Resource(name=line["line"], uri=uri, description=about, mime_type=JSON)


def _session(key: str, summary: str) -> m.Resource:
    uri = f"day1://sessions/{quote(key, safe='')}/context"
    name = f"session {key}"
    about = f"{short(summary, 200)} [{name}]" if summary else f"{name}, without a summary"
    return m.Resource(name=name, uri=uri, description=about, mime_type=JSON)


def read(caller: Caller, uri: str) -> m.ReadResourceResult:
    """Read a resource. Raises NotFound with its uri, and as the tools of the same name do."""
    data = _data(caller, uri)
    packed = json.dumps(data, ensure_ascii=False, indent=1)
    return m.ReadResourceResult(contents=[m.TextResourceContents(uri=uri, mime_type=JSON, text=packed)])


def _data(caller: Caller, uri: str) -> dict[str, Any]:
    kind, name, requested = _parse(uri)
    try:
        if kind == "fact":
            return read_facts(Call(caller, {**requested, "fact_ids": [name]}))[0]
        return memory_context(Call(caller, {**requested, "session_id": name}))
    except NotFound as error:
        raise NotFound(MISSING, uri=uri[:MAX_URI], reason=error.text) from None


def _parse(uri: str) -> tuple[str, str, dict[str, str]]:
    """Return what an address names: the kind, the id, and the branch and point. Raises NotFound."""
    try:
        parts = urlsplit(uri)
        requested = {name: value for name, value in parse_qsl(parts.query) if name in ("branch", "at")}
        names = [unquote(name) for name in parts.path.strip("/").split("/")]
        if parts.scheme == "day1" and parts.netloc == "facts" and len(names) == 1:
            return "fact", str(UUID(names[0])), requested
        if parts.scheme == "day1" and parts.netloc == "sessions" and names[0] and names[1:] == ["context"]:
            return "session", names[0], requested
    except ValueError:  # an unclosed bracket, or an id that is none
        pass
    raise NotFound(UNKNOWN, uri=uri[:MAX_URI])
