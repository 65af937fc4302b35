"""The page of the limits of a project: what is used of each, and the form that sets them."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.engines.access.limits import LimitEngine, LimitState
from memory.limits import LIMITS, Owner
from memory.views.access.project_settings import SETTINGS, SettingsPage, change_settings
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import BEHAVIOUR, add_setting
from memory.views.frame.view_context import ViewContext

WINDOWS = {"minute": _("a minute"), "day": _("a day"), "month": _("a month"), "": ""}


@dataclass(frozen=True)
class LimitRow:
    """A limit in the words of the page."""

    state: LimitState

    @property
    def label(self) -> str:
        return gettext(LIMITS[self.state.name].label)

    @property
    def help(self) -> str:
        return gettext(self.state.help)

    @property
    def window(self) -> Any:
        return WINDOWS[self.state.window]

    @property
    def share(self) -> float | None:
        """Return the share that is used; None where it is not known."""
        if not self.state.limit or self.state.used is None:
            return None
        return min(1.0, self.state.used / self.state.limit)

    @property
    def percent(self) -> int:
        return int(100 * (self.share or 0))


@add_page("limits", "limits")
class Limits(SettingsPage):
    """What the project uses of each limit; maintainers set those that are theirs."""

    template_name, title = "limits.html", _("Limits")
    section, usual, needs_now = "limits", SETTINGS, False
    actions = change_settings("limits")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(rows=list_rows(self.reader), **kwargs)


def list_rows(reader: ViewContext) -> list[LimitRow]:
    states = LimitEngine().list_limits(actor=reader.actor)
    return [LimitRow(one) for one in states if one.owner == Owner.PROJECT]


def describe_limits(reader: ViewContext) -> Any:
    """Return which limit of the project is the fullest, for the overview of the settings."""
    rows = list_rows(reader)
    if not (limited := [row for row in rows if row.state.limit]):
        return _("none set")
    fullest = max(limited, key=lambda row: row.share or 0)
    words = {"n": len(limited), "name": fullest.label, "percent": fullest.percent}
    return gettext("%(n)s set, %(name)s at %(percent)s %%") % words


add_setting("limits", _("Limits"), "gauge", group=BEHAVIOUR, order=45, describe=describe_limits)
