"""The request that is being answered: its id, which answer, log and audit share, and its route."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import uuid4

VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,64}")


@dataclass
class RequestContext:
    id: str
    address: str = ""  # of the client, as the outermost trusted proxy saw it
    route: str = ""  # the address with names in place of values; "" where no view answers it
    trace: dict[str, str] = field(default_factory=dict)  # headers that name the caller's span


current_request: ContextVar[RequestContext | None] = ContextVar("current_request", default=None)


def begin_request(given_id: str) -> RequestContext:
    """Begin a request with the id that a proxy gave it; with a new one where that is none."""
    request = RequestContext(given_id if VALID_ID.fullmatch(given_id) else uuid4().hex)
    current_request.set(request)
    return request


def get_request_id() -> str:
    """Return the id of the request that is being answered; "" outside of one."""
    request = current_request.get()
    return request.id if request else ""
