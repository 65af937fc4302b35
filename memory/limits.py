"""The limits of projects and keys: what each is called, what it counts, for how long, and who sets it.

Whatever names a limit, a page, a header, a command, the docs, reads it here. Pure, for settings and commands.
See docs/decisions/0099.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any


def _(text: str) -> str:
    """Mark a text for translation. Django's own function needs settings, which the command line lacks."""
    return text


MAX_LIMIT = 2**53
MINUTE, DAY, MONTH, NOW = "minute", "day", "month", ""


class Owner(StrEnum):
    PROJECT = "project"
    KEY = "key"


@dataclass(frozen=True)
class Limit:
    """A limit; ``default`` 0 is none. ``window`` is after what time it counts anew, "" for what is there."""

    name: str
    label: str
    unit: str
    window: str
    help: str
    default: int = 0
    owner: Owner = Owner.PROJECT
    setting: str = ""  # the field of the project or key that sets it, where it is not one of ``limits``
    is_refused: bool = True  # past it; what is not refused waits

    @property
    def is_named(self) -> bool:
        """Return whether it is set by name, in the setting ``limits`` of a project and in a quota."""
        return self.owner == Owner.PROJECT and not self.setting


OF_PROJECT = (
    Limit("requests", _("Requests"), "requests", MINUTE, _("Of all keys together.")),
    Limit("daily_writes", _("Writes"), "versions", DAY, _("Versions of memory that keys and people write.")),
    Limit("branches", _("Branches"), "branches", NOW, _("Those that are not archived.")),
    Limit("bundles", _("Bundles"), "bundles", NOW, _("Those that are not deleted.")),
    Limit("streams", _("Open streams"), "streams", NOW, _("Of events, in each process that serves.")),
    Limit(
        "model_calls",
        _("Calls of models"),
        "calls",
        MONTH,
        _("Of language and embedding models that another server runs."),
        is_refused=False,
    ),
    Limit(
        "model_tokens",
        _("Tokens of models"),
        "tokens",
        MONTH,
        _("Sent and answered, as the server of the model counts them, else estimated."),
        is_refused=False,
    ),
    Limit("rows", _("Rows"), "rows", NOW, _("What is stored."), 20_000_000, setting="quota"),
    Limit("bytes", _("Bytes"), "bytes", NOW, _("What is stored."), 20_000_000_000, setting="quota"),
    Limit("members", _("Members"), "members", NOW, _("People in the project."), setting="member_limit"),
    Limit(
        "user_facts",
        _("Facts of an end user"),
        "facts",
        NOW,
        _("In use, on each branch."),
        setting="user_fact_limit",
    ),
)
OF_KEY = (
    Limit(
        "key_requests",
        _("Requests"),
        "requests",
        MINUTE,
        _("Of one key."),
        6000,
        Owner.KEY,
        "rate_per_minute",
    ),
    Limit(
        "key_daily_writes",
        _("Writes"),
        "versions",
        DAY,
        _("Versions of memory that it writes."),
        0,
        Owner.KEY,
        "max_daily_writes",
    ),
    Limit("key_facts", _("Facts"), "facts", NOW, _("That it ever wrote."), 0, Owner.KEY, "max_facts"),
    Limit("key_bytes", _("Bytes"), "bytes", NOW, _("That it ever wrote."), 0, Owner.KEY, "max_bytes"),
    Limit(
        "key_streams",
        _("Open streams"),
        "streams",
        NOW,
        _("Of one key, in each process that serves."),
        100,
        Owner.KEY,
        "max_streams",
    ),
)
LIMITS = {one.name: one for one in (*OF_PROJECT, *OF_KEY)}
NAMED = {one.name: one for one in OF_PROJECT if one.is_named}
DAILY_WRITES, MODEL_CALLS, MODEL_TOKENS = LIMITS["daily_writes"], NAMED["model_calls"], NAMED["model_tokens"]


def check_limits(values: Mapping[str, Any]) -> dict[str, int]:
    """Return limits by name. Raises ValueError for another name or number."""
    for name, value in values.items():
        if name not in NAMED:
            raise ValueError(f"there is no limit {name!r}: there are {', '.join(NAMED)}")
        if type(value) is not int or not 0 <= value <= MAX_LIMIT:
            raise ValueError(f"{name} is a whole number from 0, which is none, to {MAX_LIMIT}")
    return dict(values)


def choose_lower(*values: int) -> int:
    """Return the lowest of limits of which 0 is none."""
    return min(filter(None, values), default=0)


def name_period(window: str, at: datetime) -> str:
    """Return the day or month of a time, in UTC, as it is counted."""
    return at.astimezone(UTC).strftime("%Y-%m-%d" if window == DAY else "%Y-%m")


def find_reset(window: str, at: datetime) -> datetime:
    """Return when a count begins anew: the next minute, midnight or first of a month, in UTC."""
    at = at.astimezone(UTC)
    if window == MINUTE:
        return at.replace(second=0, microsecond=0) + timedelta(minutes=1)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if window == DAY:
        return midnight + timedelta(days=1)
    return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)
