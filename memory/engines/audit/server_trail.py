"""The server's own trail: what is done with projects, their templates and keys of the server.

A project's trail is removed with it; this one stays.
"""

from typing import Annotated, Any, Unpack

from django.utils import timezone

from memory.actors import SERVER, Actor
from memory.db.transactions import retry_methods
from memory.engines.fields.base import Field, Option
from memory.engines.fields.orders import AUDIT
from memory.engines.fields.types import Reference
from memory.engines.support.pagination import Page, Paging, paginate
from memory.models import ServerEntry
from memory.request_context import get_request_id

ACTION = Field(
    "action",
    Reference(60),
    "Entries of this action, such as project.remove.",
    option=Option("of this action, such as project.remove"),
)
TARGET = Field(
    "target",
    Reference(300),
    "Entries about this project, template or key.",
    option=Option("about this project, template or key", metavar="NAME"),
)


def record_server_entry(
    actor: Actor, action: str, target: str, detail: dict[str, Any] | None = None
) -> ServerEntry:
    """Add an entry in the caller's transaction."""
    return ServerEntry.objects.create(
        at=timezone.now(),
        **actor.identity_fields("actor"),
        surface=actor.surface,
        action=action,
        target=target[:300],
        detail=detail or {},
        request_id=get_request_id() or None,
    )


@retry_methods
class ServerTrailEngine:
    def list_entries(
        self,
        *,
        actor: Actor,
        action: Annotated[str, ACTION] = "",
        target: Annotated[str, TARGET] = "",
        **paging: Unpack[Paging],
    ) -> Page[ServerEntry]:
        """List the entries, the newest first. Needs the scope server."""
        actor.require_scope(SERVER)
        requested = {name: value for name, value in {"action": action, "target": target}.items() if value}
        rows = ServerEntry.objects.filter(**requested)
        return paginate(rows, AUDIT, **paging)
