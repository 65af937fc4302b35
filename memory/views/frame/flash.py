"""Short messages after an action, with a link to undo it where possible."""

from django.contrib import messages
from django.http import HttpRequest

UNDO = "undo:"
REDO = "redo:"
AGAIN = "again"  # the tag of a message about a refused form: a script restores its input


def flash_message(request: HttpRequest, text: str, level: int, undo: str = "", redo: str = "") -> None:
    """Show a message on the next page.

    ``undo`` is an address that reverts the action, by POST; ``redo`` one that repeats it.
    """
    tags = f"{UNDO}{undo}" if undo else f"{REDO}{redo}" if redo else ""
    messages.add_message(request, level, text, extra_tags=tags)


def flash_success(request: HttpRequest, text: str, undo: str = "", redo: str = "") -> None:
    """Show that an action was done."""
    flash_message(request, text, messages.SUCCESS, undo, redo)


def flash_warning(request: HttpRequest, text: str) -> None:
    """Show a warning: an action was refused, or only partly done."""
    flash_message(request, text, messages.WARNING)
