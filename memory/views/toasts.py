"""Short messages after an action, with a way to undo it where there is one."""

from django.contrib import messages
from django.http import HttpRequest

UNDO = "undo:"
AGAIN = "again"  # the tag of a message about a form that was not taken: a script puts back what was typed


def tell(request: HttpRequest, text: str, undo: str = "", level: int = messages.SUCCESS) -> None:
    """Shown on the next page. ``undo`` is an address that takes back what was done, by POST."""
    messages.add_message(request, level, text, extra_tags=f"{UNDO}{undo}" if undo else "")


def warn(request: HttpRequest, text: str) -> None:
    """Something was refused, or only part of it was done."""
    tell(request, text, level=messages.WARNING)
