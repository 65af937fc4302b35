"""The page of the server: what works, what waits, the last check of the store, and what tells more."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.engines.store.health import check_health
from memory.engines.support.usage import UsageEngine
from memory.views.frame.base import ProjectPage
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import SAFETY, add_setting
from memory.views.frame.view_context import ViewContext
from memory.views.store.store_state import describe_stored, describe_troubles, load_health
from memory.views.text.times import format_time

STATES: dict[str, Any] = {
    "ok": gettext_lazy("works"),
    "running": gettext_lazy("works"),
    "error": gettext_lazy("does not answer"),
    "silent": gettext_lazy("does not answer"),
    "damaged": gettext_lazy("damaged"),
    "stopped": gettext_lazy("stopped"),
    "full": gettext_lazy("full"),
}


@add_page("server", "server")
class ServerPage(ProjectPage):
    """The health of the server, part by part, and the commands for its machine."""

    template_name, section, scope, title = "server.html", "server", "admin", gettext_lazy("Server and check")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        health = check_health(self.reader.actor)
        usage = UsageEngine().get_usage(actor=self.reader.actor)
        rows = [*describe_parts(health), (_("Stored"), describe_stored(usage))]
        return super().get_context_data(
            health=health, troubles=describe_troubles(health), rows=rows, **kwargs
        )


def describe_parts(health: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the parts of the server that are known, each with its state."""
    names = {
        "database": _("Database"),
        "storage": _("Disk"),
        "broker": _("Queue"),
        "worker": _("Background work"),
    }
    rows = [(title, name_state(health[name])) for name, title in names.items() if health.get(name)]
    if queue := health.get("queue"):
        rows.append((_("Tasks that wait"), intcomma(queue["waiting"])))
    if indexing := health.get("embedding"):
        pending = ngettext("{n} text pending", "{n} texts pending", indexing["pending"])
        text = pending.format(n=intcomma(indexing["pending"]))
        rows.append((_("Indexing"), f"{text} · {indexing['model']}" if indexing["model"] else text))
    if "backup" in health:
        rows.append((_("Newest backup"), show_time(health["backup"]["at"])))
    rows.append((_("Last check of the whole store"), show_time(health.get("store_check", {}).get("at"))))
    return rows


def name_state(state: str) -> str:
    return str(STATES.get(state, state))


def show_time(at: str | None) -> str:
    return format_time(datetime.fromisoformat(at)) if at else _("never")


def describe_server(reader: ViewContext) -> Any:
    """Return what is wrong with the server, for the overview of the settings."""
    return next(iter(describe_troubles(load_health(reader))), STATES["ok"])


add_setting(
    "server",
    gettext_lazy("Server and check"),
    "system",
    scope="admin",
    group=SAFETY,
    order=99,
    describe=describe_server,
)
