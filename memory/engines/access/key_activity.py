"""What agents' keys did last in a project: for pages that wait for the first event."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from memory.actors import Actor
from memory.exceptions import NotFound
from memory.models import ApiKey, AuditEntry

MAX_ENTRIES = 500  # of the trail that are read: a page that waits asks again and again
SESSION_PREFIX = "session."
TEST_SURFACE = "test"  # of what a test event of `day1 doctor` makes
WAITING, REACHED, EVENT = "waiting", "reached", "event"


@dataclass(frozen=True)
class KeyActivity:
    """The newest sign of a key: nothing yet, a request, or an event that is stored."""

    state: str
    label: str = ""
    at: datetime | None = None

    @property
    def is_event(self) -> bool:
        return self.state == EVENT


class KeyActivityEngine:
    def get_latest(self, *, actor: Actor, key_id: UUID | None = None) -> KeyActivity:
        """Return what a key of the project, or the one named, did last.

        An event is a commit or a session; a search, a list of tools, and the test event of `day1 doctor` only
        show that the key is used. Of a key whose events are no longer among the newest 500 entries of the
        trail, its last request is shown.
        Raises ScopeMissing, NotFound.
        """
        actor.require_scope("read")
        used = _used_keys(actor, key_id)
        if not used:
            return KeyActivity(WAITING)
        if entry := _newest_event(actor, {str(key.pk) for key in used}):
            return KeyActivity(EVENT, entry.actor_label, entry.at)
        return KeyActivity(REACHED, used[0].label, used[0].last_used_at)


def _used_keys(actor: Actor, key_id: UUID | None) -> list[ApiKey]:
    """Return the keys that came with a request, the last used first."""
    if key_id is not None:
        key = ApiKey.objects.filter(project=actor.project_id, pk=key_id).first()
        if key is None:
            raise NotFound()
        return [key] if key.last_used_at else []
    keys = ApiKey.objects.filter(project=actor.project_id).exclude(last_used_at=None)
    return list(keys.order_by("-last_used_at"))


def _newest_event(actor: Actor, key_ids: set[str]) -> AuditEntry | None:
    """Return the newest of the last entries that tells of a commit or a session of these keys.

    The sealed and the waiting entries are read one after the other, each by the index on their place.
    """
    trail = AuditEntry.objects.filter(project=actor.project_id)
    return _first_event(trail.filter(place=None).order_by("-id"), actor, key_ids) or _first_event(
        trail.exclude(place=None).order_by("-place"), actor, key_ids
    )


def _first_event(entries: QuerySet[AuditEntry], actor: Actor, key_ids: set[str]) -> AuditEntry | None:
    for entry in entries[:MAX_ENTRIES]:
        if entry.actor_kind == "key" and entry.actor_id in key_ids and _is_visible_event(entry, actor):
            return entry
    return None


def _is_visible_event(entry: AuditEntry, actor: Actor) -> bool:
    """Return whether it is a commit of a branch that the actor may use, or a session; not one of a test.

    The trail does not say on which branch a session is: who is kept to some branches sees none.
    """
    if entry.surface == TEST_SURFACE:
        return False
    branch = entry.detail.get("branch")
    if isinstance(entry.detail.get("seq"), int) and isinstance(branch, str):
        return actor.may_use(branch)
    return entry.action.startswith(SESSION_PREFIX) and not actor.branch_patterns
