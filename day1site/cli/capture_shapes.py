"""Observations, relations, sessions, conversations and messages in the shapes of the REST API.

As shapes.py, without what a server needs to start; a test holds them together.
"""

from typing import Any

from day1site.cli.shapes import Shape, picked

WHO = ("session_id", "task_id", "agent_id", "created_at")
OBSERVATION = (
    "observation_type", "tool_name", "summary", "raw_input", "raw_output", "outcome", "parent_id",
    "message_id", "metadata", *WHO,
)  # fmt: skip
RELATION = (
    "version", "source_entity", "relation_type", "target_entity", "properties", "confidence", "strength",
    "valid_from", "valid_until", *WHO, "updated_at",
)  # fmt: skip
SESSION = (
    "status", "project_path", "parent_session", "task_id", "agent_id", "summary", "started_at", "active_at",
    "ended_at",
)  # fmt: skip
CONVERSATION = ("version", "title", "status", "model", "message_count", "total_tokens", *WHO, "updated_at")
MESSAGE = (
    "conversation_id", "sequence_num", "role", "content", "tool_calls", "token_count", "model", "metadata",
    *WHO, "said_at",
)  # fmt: skip
BRIEF = ("fact_text", "category", "confidence")


def observation(row: Any, branch: str) -> Shape:
    return {"id": str(row.uid), "branch": branch, **picked(row, OBSERVATION)}


def relation(row: Any, branch: str, **more: Any) -> Shape:
    return {"id": str(row.uid), "branch": branch, **picked(row, RELATION), **more}


def graph(found: Any, branch: str) -> Shape:
    return {
        "entity": found.entity,
        "nodes": [picked(node, ("entity", "distance")) for node in found.nodes],
        "edges": [relation(edge, branch) for edge in found.edges],
        "truncated": found.truncated,
    }


def session(row: Any, **more: Any) -> Shape:
    return {"id": row.key, "branch": row.branch.name, **picked(row, SESSION), **more}


def session_context(found: Any) -> Shape:
    return {
        "session": session(found.session),
        "conversations": [],
        **found.parts,
        "facts": [{"id": str(fact.uid), **picked(fact, BRIEF)} for fact in found.facts],
        "observations_summary": found.observations,
        "parent_summary": found.parent_summary,
    }


def conversation(row: Any, branch: str) -> Shape:
    return {"id": str(row.uid), "branch": branch, **picked(row, CONVERSATION)}


def message(row: Any, branch: str, thinking: bool) -> Shape:
    hidden = {"thinking": row.thinking if thinking else None, "has_thinking": bool(row.thinking)}
    return {"id": str(row.uid), "branch": branch, **picked(row, MESSAGE), **hidden}
