"""Words of the pages of merge requests: states, strategies, gates, classes, reasons and choices."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.models import MergeRequest

State, Strategy = MergeRequest.State, MergeRequest.Strategy

STATES: dict[str, Any] = {
    State.OPEN: pgettext_lazy("merge request", "open"),
    State.APPROVED: _("approved"),
    State.MERGED: _("merged"),
    State.REVERTED: _("reverted"),
    State.REJECTED: _("rejected"),
}
# The icon and the class of the badge of a state.
STATE_BADGES: dict[str, tuple[str, str]] = {
    State.OPEN: ("merge", "info"),
    State.APPROVED: ("check", "good"),
    State.MERGED: ("merge", "conflict"),
    State.REVERTED: ("undo", "archived"),
    State.REJECTED: ("close", "error"),
}
GATES: dict[str, Any] = {
    "conflicts": _("conflicts"),
    "require_verified": _("unverified"),
    "secrets": _("secrets"),
    "recall": _("recall"),
    "approvals": _("approvals"),
    "changes": _("changes"),
    "fast_forward": _("fast-forward"),
}
CLASSES: dict[str, Any] = {
    "conflict": _("in conflict"),
    "applied": _("to arrive"),
    "identical": _("there already"),
    "rejected": _("left out"),
}
REASONS: dict[str, Any] = {
    "new": _("new"),
    "changed": _("changed"),
    "removed": _("removed"),
    "combined": _("changes of both sides, combined"),
    "squashed": _("becomes a part of one fact"),
    "same": _("the same on both sides"),
    "same_text": _("the same text is there"),
    "same_edge": _("the same link is there"),
    "edited": _("both sides changed it"),
    "same_key": _("both sides put it under this key"),
    "deleted": _("one side changed it, the other removed it"),
    "reverted": _("it was merged before and taken back"),
    "near_duplicate": _("nearly the same as a fact that is there"),
    "contested": _("contradicts a fact that is there"),
    "not_picked": _("not picked"),
    "owner_missing": _("what it belongs to does not arrive"),
    "owner_removed": _("what it belongs to was removed there"),
    "conflict_first": _("a conflict about the same edge comes first"),
    "erased": _("it was erased"),
}
CHOICES: dict[str, Any] = {
    "source": _("the branch’s side"),
    "target": _("the target’s side"),
    "both": _("kept both"),
    "edited": _("a new text"),
    "skip": _("left out for now"),
}
EVENTS: dict[str, Any] = {
    "opened": _("opened it"),
    "decided": _("decided conflicts"),
    "approved": _("approved it"),
    "approval_withdrawn": _("took the approval back"),
    "decision_withdrawn": _("made conflicts undecided again"),
    "merged": _("merged it"),
    "reverted": _("took the merge back"),
    "rejected": _("rejected it"),
}
EVENT_ICONS = {
    "opened": "merge",
    "decided": "conflict",
    "approved": "check",
    "approval_withdrawn": "undo",
    "decision_withdrawn": "undo",
    "merged": "merge",
    "reverted": "undo",
    "rejected": "close",
}
