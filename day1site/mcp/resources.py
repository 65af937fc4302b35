"""Facts and sessions as resources, for clients in which people pick what enters a conversation."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import mcp_types as m

from day1site.mcp.call_context import Call, Caller
from day1site.mcp.tools.facts import memory_get
from day1site.mcp.tools.search import newest_lines
from day1site.mcp.tools.sessions import memory_context
from memory.engines.memory import MemoryEngine
from memory.exceptions import NotFound

JSON = "application/json"
FACTS, SESSIONS = 20, 10
UNKNOWN = "There is no such resource: day1://facts/ID and day1://sessions/ID/context are known."

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
    """List the newest facts of the branch, and the last sessions."""
    call = Call(caller, {})
    sessions = MemoryEngine().recent_sessions(actor=caller.actor, branch_name=call.branch, limit=SESSIONS)
    found = [_fact(line, call.branch) for line in newest_lines(call, FACTS)]
    found += [_session(row.key, row.summary) for row in sessions.results]
    return m.ListResourcesResult(resources=found)


def _fact(line: Mapping[str, str], branch: str) -> m.Resource:
    uri = f"day1://facts/{line['id']}?branch={quote(branch)}"
    about = f"{line['date']}, {line['status']}, on {branch}"
    return m.Resource(name=line["line"], uri=uri, description=about, mime_type=JSON)


def _session(key: str, summary: str) -> m.Resource:
    uri = f"day1://sessions/{quote(key, safe='')}/context"
    return m.Resource(name=f"session {key}", uri=uri, description=summary[:200] or None, mime_type=JSON)


def read(caller: Caller, uri: str) -> m.ReadResourceResult:
    """Read a resource. Raises NotFound, and as the tools of the same name do."""
    data = _data(caller, uri)
    packed = json.dumps(data, ensure_ascii=False, indent=1)
    return m.ReadResourceResult(contents=[m.TextResourceContents(uri=uri, mime_type=JSON, text=packed)])


def _data(caller: Caller, uri: str) -> dict[str, Any]:
    try:
        parts = urlsplit(uri)
    except ValueError:  # an unclosed bracket
        raise NotFound(UNKNOWN) from None
    requested = {name: value for name, value in parse_qsl(parts.query) if name in ("branch", "at")}
    names = [unquote(name) for name in parts.path.strip("/").split("/")]
    if parts.scheme == "day1" and parts.netloc == "facts" and len(names) == 1 and names[0]:
        return memory_get(Call(caller, {**requested, "fact_ids": names}))["facts"][0]
    if parts.scheme == "day1" and parts.netloc == "sessions" and names[1:] == ["context"]:
        return memory_context(Call(caller, {**requested, "session_id": names[0]}))
    raise NotFound(UNKNOWN)
