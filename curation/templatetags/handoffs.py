"""Template tags of handoffs: their state and kind, as the pages call them."""

from typing import Any

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from curation.engines.fields.handoffs import HANDOFF
from curation.models import Handoff
from memory.templatetags.day1 import badge

register = template.Library()
# State -> what badge shows it, and in which word. A waiting one was read, or only sent.
STATES: dict[str, tuple[str, Any]] = {
    "sent": ("created", _("sent")),
    "read": ("active", _("read")),
    "accepted": ("done", _("accepted")),
    "rejected": ("cancelled", _("rejected")),
}
TYPES: dict[str, Any] = dict(HANDOFF["handoff_type"].form_choices)
VERIFICATION: dict[str, tuple[str, Any]] = {
    "verified": ("verified", _("all verified")),
    "partial": ("unverified", _("partly verified")),
    "empty": ("archived", _("no facts")),
}
LEFT_OUT: dict[str, Any] = {
    "unverified": _("unverified"),
    "invalidated": _("invalidated"),
    "private": _("private"),
    "personal": _("of end users"),
    "over_limit": _("over the limit"),
    "expired": _("expired"),
    "outdated": _("no longer valid"),
    "superseded": _("superseded"),
    "archived": _("archived"),
    "created": _("proposed"),
}
MISSING: dict[str, Any] = {
    "summary": _("a summary"),
    "instructions": _("instructions"),
    "facts": _("facts"),
    "verified": _("verification of every fact"),
    "conversations": _("messages"),
}


@register.simple_tag
def handoff_state(handoff: Handoff) -> SafeString:
    """Render the badge of a handoff's state."""
    waiting = "read" if handoff.read_at else "sent"
    state, word = STATES[waiting if handoff.state == Handoff.State.PENDING else handoff.state]
    return badge(state, word)


@register.simple_tag
def handoff_verification(status: str) -> SafeString:
    """Render the badge that says whether a packet's facts are verified."""
    state, word = VERIFICATION[status]
    return badge(state, word)


register.filter("handoff_type", lambda name: TYPES.get(name, name))
register.filter("left_out_word", lambda reason: LEFT_OUT.get(reason, reason))
register.filter("missing_word", lambda name: MISSING.get(name, name))
