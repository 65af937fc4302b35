"""Quotas: how much a project may store and stores, as text and numbers. Pure, for settings and commands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from memory.limits import NAMED

UNITS = {"": 1, "B": 1} | {
    f"{letter}{suffix}": base**power
    for power, letter in enumerate("KMGT", 1)
    for suffix, base in (("B", 1000), ("IB", 1024))
}
MAX_NUMBER = 2**62
SIZE = re.compile(r"(\d{1,19}(?:\.\d{1,6})?)\s*([KMGT]?I?B?)", re.ASCII)
NONE = "none"
FORM = "a size such as 20GB or 512MiB, parts such as rows=5000000,bytes=20GB, or none"


@dataclass(frozen=True)
class Quota:
    """The most that a project may store; 0 is no bound."""

    rows: int
    bytes: int
    limits: Mapping[str, int] = field(default_factory=dict)  # of memory.limits, by name

    def with_parts(self, text: str) -> Self:
        """Return the quota with the parts that a text names; the others stay. Raises ValueError."""
        text = text.strip()
        if text.lower() == NONE:
            return replace(self, rows=0, bytes=0)
        if "=" not in text:
            return replace(self, bytes=parse_size(text, needs_unit=True))
        parts: dict[str, int] = {}
        for part in text.split(","):
            name, _, value = part.partition("=")
            name = name.strip().lower()
            if name not in ("rows", "bytes", *NAMED) or name in parts:
                raise ValueError(f"it must be {FORM}")
            parts[name] = parse_size(value) if name == "bytes" else parse_count(value)
        stored = {name: parts.pop(name) for name in ("rows", "bytes") if name in parts}
        return replace(self, **stored, limits={**self.limits, **parts})


@dataclass
class Usage:
    """Rows and bytes of a project, and its quota."""

    rows: int
    bytes: int
    quota: Quota
    read_at: float = 0.0
    limits: Mapping[str, int] = field(default_factory=dict)  # in force, by name; 0 is none

    def describe(self) -> str:
        """Return what is stored of the quota, for a person."""
        return describe_stored(self.rows, self.bytes, self.quota)

    def find_full(self, share: float = 1.0) -> str:
        """Return which part has reached its share of the quota, ``bytes`` or ``rows``; "" for none."""
        for part in ("bytes", "rows"):
            if (most := getattr(self.quota, part)) and getattr(self, part) >= most * share:
                return part
        return ""


def parse_size(text: str, needs_unit: bool = False) -> int:
    """Return a number of bytes. Raises ValueError."""
    found = SIZE.fullmatch(text.strip().upper())
    if text.strip().lower() == NONE:
        return 0
    unit = found[2] if found else ""
    if found is None or unit not in UNITS or (needs_unit and not unit):
        raise ValueError(f"it must be {FORM}")
    return check_number(
        int(float(found[1]) * UNITS[unit]) if "." in found[1] else int(found[1]) * UNITS[unit]
    )


def parse_count(text: str) -> int:
    """Return a number of rows. Raises ValueError."""
    text = text.strip().lower()
    if text == NONE:
        return 0
    if not re.fullmatch(r"\d{1,19}", text, re.ASCII):
        raise ValueError(f"it must be {FORM}")
    return check_number(int(text))


def check_number(number: int) -> int:
    if not 1 <= number <= MAX_NUMBER:
        raise ValueError(f"it must be more than nothing and at most {MAX_NUMBER}; none is no bound")
    return number


def describe_stored(rows: int, size: int, quota: Quota) -> str:
    """Return what is stored of a quota, for a person."""
    parts = [f"{max(0, rows)} of {quota.rows} rows" if quota.rows else f"{max(0, rows)} rows"]
    stored = format_size(max(0, size))
    return ", ".join([*parts, f"{stored} of {format_size(quota.bytes)}" if quota.bytes else stored])


def format_size(size: int) -> str:
    """Return a size as a person reads it, such as 19.5 GB."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}".replace(".0 ", " ")
    return f"{size} B"
