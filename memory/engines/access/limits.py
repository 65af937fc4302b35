"""The limits of a project and of the key that asks, with what is used of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from memory import limits
from memory.actors import Actor
from memory.clock import read_time
from memory.engines.support.model_budgets import read_month
from memory.engines.support.rate_limits import read_requests
from memory.engines.support.write_quotas import read_writes
from memory.extensions import load_extensions
from memory.limits import OF_KEY, OF_PROJECT, Limit
from memory.models import ApiKey, Branch, Consumption, Membership, Project
from memory.models.usage import get_usage

COUNTED = ("daily_writes",)  # only while there is a limit


@dataclass
class LimitState:
    """A limit, and what is used of it."""

    name: str
    owner: Annotated[str, "project, or key: of the key that asks."]
    unit: str
    window: Annotated[str, "minute, day or month in which it is counted; empty for what is there now."]
    limit: Annotated[int | None, "null: none."]
    used: Annotated[
        int | None, "null where it is not counted: without a limit, or in each process by itself."
    ]
    remaining: int | None
    estimated: Annotated[int | None, "Of tokens of models, those that no server told."]
    resets_at: Annotated[datetime | None, "When a count begins anew, in UTC."]
    setting: Annotated[str, "What sets it: a field of the project or key, or limits, or quota of the server."]
    help: str


class LimitEngine:
    def list_limits(self, *, actor: Actor) -> list[LimitState]:
        """List the limits of the project and of the key that asks, with what is used."""
        actor.require_scope("read")
        project = Project.objects.get(pk=actor.project_id)
        month = read_month(project.pk)
        found = [build_state(one, *read_project(one, project, month)) for one in OF_PROJECT]
        for state in found:
            if state.name == limits.MODEL_TOKENS.name:
                state.estimated = month.estimated_tokens
        key = ApiKey.objects.filter(pk=actor.id).first() if actor.kind == "key" else None
        return [*found, *(build_state(one, *read_key(one, key)) for one in OF_KEY if key)]


def build_state(limit: Limit, most: int, used: int | None) -> LimitState:
    return LimitState(
        limit.name,
        str(limit.owner),
        limit.unit,
        limit.window,
        most or None,
        used,
        max(0, most - used) if most and used is not None else None,
        None,
        limits.find_reset(limit.window, read_time()) if limit.window else None,
        limit.setting or "limits",
        limit.help,
    )


def read_project(limit: Limit, project: Project, month: Consumption) -> tuple[int, int | None]:
    """Return a limit of a project, 0 for none, and what is used of it."""
    usage = get_usage(project.pk)
    most: dict[str, Any] = {
        **usage.limits,
        "rows": usage.quota.rows,
        "bytes": usage.quota.bytes,
        "members": project.member_limit,
        "user_facts": project.user_fact_limit,
    }
    number = most[limit.name] or 0
    if limit.name in COUNTED and not number:
        return 0, None
    return number, count_used(limit.name, project.pk, month)


def count_used(name: str, project_id: UUID, month: Consumption) -> int | None:
    """Return what a project uses of a limit; None where that is not counted."""
    match name:
        case "requests":
            return read_requests(f"project:{project_id}")
        case "daily_writes":
            return read_writes(project_id)
        case "branches":
            return Branch.objects.live().filter(project=project_id).count()
        case "members":
            return Membership.objects.filter(project=project_id).count()
        case "model_calls":
            return month.calls
        case "model_tokens":
            return month.tokens
        case "rows" | "bytes":
            return max(0, getattr(get_usage(project_id), name))
    count = load_extensions("limit_counts").get(name)
    return count(project_id) if count else None


def read_key(limit: Limit, key: ApiKey) -> tuple[int, int | None]:
    """Return a limit of a key, 0 for none, and what is used of it."""
    most = getattr(key, limit.setting) or (limit.default if limit.setting == "max_streams" else 0)
    used = {
        "key_requests": read_requests(str(key.pk)),
        "key_daily_writes": read_writes(key.pk) if most else None,
        "key_facts": key.written_facts,
        "key_bytes": key.written_bytes,
    }
    return most, used.get(limit.name)
