"""Sessions of agents, as a commit meets them: one that is named for the first time begins there."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from memory.engines.buffers import buffer
from memory.models import Branch, Session


def begin_sessions(branch: Branch, at: datetime, named: Mapping[str, tuple[str, str]]) -> None:
    """Make the sessions that are not known yet, from their ids to (task, agent), in the running commit."""
    hear_of(branch, at, named)
    known = Session.objects.filter(project=branch.project_id, key__in=named).values_list("key", flat=True)
    missing = sorted(set(named) - set(known))
    new = [
        Session(
            project_id=branch.project_id, key=key, branch=branch, started_at=at,
            task_id=named[key][0], agent_id=named[key][1],
        )
        for key in missing
    ]  # fmt: skip
    # Another branch's writer may begin the same session at this moment: either row will do.
    Session.objects.bulk_create(new, ignore_conflicts=True)


def hear_of(branch: Branch, at: datetime, keys: Iterable[str]) -> None:
    """Sessions that said something."""
    for key in keys:
        buffer.add("sessions", (branch.project_id, key), at)


def write_activity(heard: Mapping[tuple[UUID, str], datetime]) -> None:
    """When sessions were last heard of. It may be lost in a crash: it only says who is idle."""
    for (project_id, key), at in heard.items():
        Session.objects.filter(project=project_id, key=key).update(active_at=at)


buffer.kind("sessions", write_activity)
