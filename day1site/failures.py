"""What is said on the pages of failures: status, heading, and what to do."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

SAFE = _("What was stored is safe. Try again in a moment.")
UNKNOWN = _(
    "The connection was lost while this was stored, which may have happened or not: look before you do it"
    " again."
)
FULL = _("The disk of the server is full. What was stored before is safe; this was not stored.")
BACK = _("Go back: what you typed is still in the form.")
READ_ONLY = _("The disk of the server takes no writes. What was stored before is safe; this was not stored.")


@dataclass(frozen=True)
class Failure:
    status: int
    heading: Any
    words: Any
    advice: Any = ""


BAD_REQUEST = Failure(
    400,
    _("This request makes no sense here"),
    _(
        "The address or the form is not one that this server takes. If you opened it by the name of this"
        " machine, that name may be missing in DAY1_ALLOWED_HOSTS."
    ),
)
FORBIDDEN = Failure(
    403,
    _("You don’t have access"),
    _("Ask a maintainer of the project, or an administrator of this server, for the right to it."),
)
FORM_OUTDATED = Failure(
    403,
    _("This form is out of date"),
    _(
        "It was open for too long, or was not sent from a page of this server. Nothing was changed. Go back,"
        " load the page again, and send it once more."
    ),
)
NOT_FOUND = Failure(
    404,
    _("There is no page at this address"),
    _("It may have been mistyped, or what it named is gone."),
)
NO_PAGE = Failure(
    405,
    _("This address only takes a form"),
    _("It has no page of its own. Nothing was changed. Go back to the page that has the form."),
)
BROKEN = Failure(
    500,
    _("Something went wrong here"),
    _("The mistake is ours, not yours. What was stored is safe; the log of the server has the details."),
)


BUSY = Failure(
    503,
    _("The database is busy"),
    _("Others held it for too long. What was stored before is safe; this was not stored."),
    _("Try again in a moment."),
)


def database_away(is_unknown: bool) -> Failure:
    """Return the failure of a lost database; ``is_unknown``: whether this was stored cannot be told."""
    return Failure(503, _("The database cannot be reached"), UNKNOWN if is_unknown else SAFE)


DAMAGED = Failure(
    503,
    _("The store is damaged"),
    _(
        "What this page shows cannot be read, or what was sent cannot be stored. Nothing is written until the"
        " store is repaired; what was stored before can be read, but for the damaged part."
    ),
    _("Tell the administrator of the server; other pages may still work."),
)


def storage_failure(is_full: bool) -> Failure:
    """Return the failure of a disk that takes nothing more."""
    advice = _("Tell whoever runs the server, and try again when there is room.")
    return Failure(503, _("Nothing can be stored"), FULL if is_full else READ_ONLY, advice)
