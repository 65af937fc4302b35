"""What is wrong with the store, and what a project stores of its quota, in the reader's words."""

from collections.abc import Mapping
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.cache import cache
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.store.health import check_health, is_damaged
from memory.quota import Usage, format_size
from memory.views.frame.view_context import ViewContext

HEALTH_TTL_SECONDS = 15  # of the cached health: pinging a broker may take one
DAMAGED = gettext_lazy(
    "The store is damaged: nothing is stored until it is repaired. What to do is told on the server’s machine"
    " by day1 check."
)
PARTLY = gettext_lazy(
    "The store is damaged, and a part of this page cannot be read: what is missing here, or shown as �, may"
    " not be lost. What to do is told on the server’s machine by day1 check."
)
FULL = gettext_lazy(
    "The project is at its quota: nothing more is stored until something is erased or the quota is raised."
    " Reads go on."
)


def load_health(reader: ViewContext) -> dict[str, Any]:
    """Return the health of the store, which is looked at a few times a minute."""
    if is_damaged():  # not after a minute
        return dict(check_health(reader.actor))
    key = f"health:{reader.project.pk}"
    return cache.get_or_set(key, lambda: check_health(reader.actor), HEALTH_TTL_SECONDS) or {}


def describe_troubles(health: Mapping[str, Any]) -> list[str]:
    """Return what the health of the store means for who reads."""
    found = []
    if health.get("backup", {}).get("overdue"):
        found.append(_("The newest backup is older than two days: look into the log of the server."))
    if health.get("worker") == "stopped":
        found.append(
            _(
                "No worker runs: new texts are not indexed and schedules do not run. Keyword search works."
                " Start the server without --no-worker, or a worker beside it."
            )
        )
    if health.get("quota", {}).get("full"):
        found.append(str(FULL))
    if problems := health.get("store_check", {}).get("problems"):
        text = _(
            "The last check of the store found %(names)s. What to do is told on the server’s machine by"
            " day1 check."
        )
        found.append(text % {"names": ", ".join(sorted(problems))})
    if error := health.get("embedding", {}).get("error"):
        text = _(
            "The embedding model does not answer: %(error)s Keyword search works; what is pending is indexed"
            " when the model is back."
        )
        found.append(text % {"error": error})
    return found


def describe_stored(usage: Usage) -> str:
    """Return what a project stores of its quota, and what follows where it is full."""
    parts = {
        "rows": describe_part(intcomma(max(0, usage.rows)), intcomma(usage.quota.rows)),
        "size": describe_part(format_size(max(0, usage.bytes)), format_size(usage.quota.bytes)),
    }
    text = _("The project stores %(rows)s rows, %(size)s.") % parts
    return f"{text} {FULL}" if usage.find_full() else text


def describe_part(used: str, limit: str) -> str:
    return _("%(used)s of %(limit)s") % {"used": used, "limit": limit} if limit not in ("0", "0 B") else used
