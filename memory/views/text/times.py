"""Times on pages: shown and typed in the reader's zone, sent in addresses as UTC."""

from datetime import UTC, date, datetime, time
from typing import Any

from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext


def format_time(at: datetime) -> str:
    """Return a time to the minute."""
    return localize(at).isoformat(" ", "minutes")


def format_age(at: datetime, now: datetime | None = None) -> str:
    """Format a time as its age in one unit; in full if it is over a day ago or in the future."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    if -60 < seconds < 60:
        return gettext("just now")
    if not 0 <= seconds < 86400:
        return format_time(at)
    if seconds >= 3600:
        return gettext("%d h ago") % (seconds // 3600)
    return gettext("%d min ago") % (seconds // 60)


def format_input(at: datetime) -> str:
    """Return a time as the browser's own field takes it."""
    return localize(at).isoformat(timespec="milliseconds")


def localize(at: datetime) -> datetime:
    """Return what clocks in the reader's zone show; its ISO form has the four digits of a year."""
    return timezone.localtime(at).replace(tzinfo=None)


def format_end(day: date) -> str:
    """Return the end of a day in the reader's zone as a point of the past; a day of UTC is its own name."""
    if timezone.get_current_timezone_name() == "UTC":
        return day.isoformat()
    end = timezone.make_aware(datetime.combine(day, time.max))
    return end.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_zone(label: Any) -> str:
    """Return the label of a field for a time, with the zone in which it is typed."""
    return gettext("%(field)s (%(zone)s)") % {"field": label, "zone": timezone.get_current_timezone_name()}


label_in_zone = lazy(in_zone, str)
