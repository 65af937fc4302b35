"""Rows in the shapes of the REST API (memory.api.shapes), without what a server needs to start.

A test holds the two together; importing the REST framework would cost more than most commands.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

FACT = (
    "version", "fact_text", "essence", "category", "kind", "priority", "status", "confidence",
    "confirmation_count", "access_count", "last_accessed_at", "verification_status", "verified_at",
    "verified_by", "parent_id", "source_type", "source_id", "source", "origin", "visibility", "session_id",
    "task_id", "agent_id", "created_cycle", "updated_cycle", "valid_from", "valid_until", "expires_at",
    "pinned", "tags", "metadata", "embedding_state", "embedding_model", "content_hash", "created_at",
    "updated_at",
)  # fmt: skip
BESIDE = (
    "confirmation_count", "access_count", "last_accessed_at", "verification_status", "verified_at",
    "verified_by", "embedding_state", "embedding_model",
)  # fmt: skip
VERSION = tuple(name for name in FACT if name not in BESIDE)
LINK = (
    "version", "from_id", "to_id", "to_type", "link_type", "weight", "valid_from", "valid_until",
    "session_id", "task_id", "agent_id", "created_at",
)  # fmt: skip
BRANCH = ("name", "fork_seq", "depth", "head", "head_at", "cycle", "purpose", "created_at", "created_by",
          "archived_at")  # fmt: skip
SNAPSHOT = ("name", "kind", "description", "seq", "size", "sha256", "created_at", "created_by")
WORKSPACE = ("name", "description", "state", "place", "created_at", "created_by", "ended_at", "ended_by")
COMMIT = (
    "seq", "at", "kind", "message", "actor_kind", "actor_label", "surface", "session_id", "task_id",
    "agent_id", "added", "changed", "removed",
)  # fmt: skip
STATS = (
    "facts", "verification", "links", "ahead", "behind", "children", "sessions", "agents", "last_activity",
)  # fmt: skip
KEY = (
    "label", "prefix", "scopes", "branch_patterns", "agent_id", "default_branch", "rate_per_minute",
    "created_at", "created_by", "expires_at", "last_used_at", "revoked_at",
)  # fmt: skip

Shape = dict[str, Any]


def plain(value: Any) -> Any:
    """A value as JSON holds it: ids as text, times in UTC with microseconds and Z."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return str(value) if isinstance(value, UUID) else value


def picked(row: Any, names: tuple[str, ...]) -> Shape:
    return {name: plain(getattr(row, name)) for name in names}


def fact(row: Any, branch: str, **more: Any) -> Shape:
    return {"id": str(row.uid), "branch": branch, **picked(row, FACT), **more}


def version(row: Any, branch: str) -> Shape:
    """One version out of a fact's history, with the commit that made it."""
    made = {"deleted": row.deleted, "commit": commit(row.commit) if row.commit else None}
    return {"id": str(row.uid), "branch": branch, **picked(row, VERSION), **made}


def link(row: Any, branch: str) -> Shape:
    return {"id": str(row.uid), "branch": branch, **picked(row, LINK)}


def branch(row: Any) -> Shape:
    return {**picked(row, BRANCH), "parent": row.parent.name if row.parent else None}


def relatives(found: Any, branch: str) -> Shape:
    results = [
        {"fact": fact(one.fact, branch), "distance": one.distance, "why": [reason(way) for way in one.why]}
        for one in found.results
    ]
    entities = [{"entity": node.entity, "distance": node.distance} for node in found.entities]
    return {"results": results, "entities": entities, "truncated": found.truncated}


def reason(row: Any) -> Shape:
    return {**picked(row, ("by", "distance", "name")), "id": plain(row.uid)}


def commit(row: Any) -> Shape:
    return {"id": str(row.pk), **picked(row, COMMIT)}


def diff(found: Any, kind: str) -> Shape:
    points = {"branch": found.branch.name, "seq": found.seq}
    points |= {"against": found.against.name, "against_seq": found.against_seq, "counts": found.counts}
    return points | page(found.page, lambda one: difference(one, kind, found.branch.name))


def difference(one: Any, kind: str, branch: str) -> Shape:
    row = one.after or one.before
    return {
        "id": str(one.uid),
        "type": kind,
        "change": one.change,
        "fields": {name: [plain(value) for value in pair] for name, pair in one.fields.items()},
        "fact": fact(row, branch) if kind == "fact" else None,
        "link": link(row, branch) if kind == "link" else None,
        "commit": commit(one.commit) if one.commit else None,
    }


def stats(row: Any) -> Shape:
    return {"name": row.branch.name, **picked(row, STATS)}


def snapshot(row: Any) -> Shape:
    branch = row.branch.name if row.branch else None
    return {"id": str(row.pk), **picked(row, SNAPSHOT), "branch": branch}


def restore(plan: Any) -> Shape:
    names = ("name", "head", "seq", "counts", "archive", "unarchive")
    branches = [picked(one, names) for one in plan.branches]
    told = {"dry_run": plan.dry_run, "branches": branches, "mended": dict(plan.mended)}
    return {"snapshot": snapshot(plan.snapshot), **told}


def workspace(row: Any) -> Shape:
    return {"id": str(row.pk), **picked(row, WORKSPACE)}


def workspace_diff(diff: Any) -> Shape:
    tables = {name: picked(one, ("added", "changed")) for name, one in diff.tables.items()}
    branches = [picked(one, ("name", "base", "head", "archived")) for one in diff.branches]
    told = {"branches": branches, "tables": tables, "moved": list(diff.moved)}
    return {"workspace": workspace(diff.workspace), **told}


def key(row: Any) -> Shape:
    return {"id": str(row.pk), **picked(row, KEY)}


def found(answer: Any) -> Shape:
    hits = [
        {
            "fact": fact(hit.fact, hit.branches[0]),
            "score": hit.score,
            "signals": hit.signals,
            "branches": list(hit.branches),
        }
        for hit in answer.hits
    ]
    told = {name: getattr(answer, name) for name in ("recipe", "took_ms", "context", "tokens")}
    lists = {"signals_used": list(answer.signals_used), "branches": list(answer.branches)}
    return {"results": hits, **lists, **told}


def explanation(answer: Any, branch: str) -> Shape:
    names = ("found", "reason", "message", "position", "score", "signals", "details")
    return {**picked(answer, names), "fact": fact(answer.fact, branch) if answer.fact else None}


def page(some: Any, shape: Callable[[Any], Shape]) -> Shape:
    return {"results": [shape(row) for row in some.results], "next": some.next, "previous": some.previous}
