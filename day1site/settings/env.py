"""Validated environment variables: an invalid value is refused in one sentence."""

from collections.abc import Collection
from contextlib import suppress
from typing import NoReturn
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from memory.quota import Quota

FLAGS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]


class Env(environ.Env):
    """Environment in which an empty variable counts as unset. Every method raises ImproperlyConfigured."""

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        text = self.read_text(name)
        try:
            number = int(text or default)
        except ValueError:
            number = low - 1
        return number if low <= number <= high else wrong(name, f"a whole number from {low} to {high}", text)

    def price(self, name: str) -> float:
        """Return a price, 0 where none is set."""
        return self.seconds(name, 0.0, low=0, high=1_000_000)

    def seconds(self, name: str, default: float, low: float, high: float) -> float:
        text = self.read_text(name)
        try:
            number = float(text or default)
        except ValueError:
            number = low - 1
        return number if low <= number <= high else wrong(name, f"seconds from {low:g} to {high:g}", text)

    def quota(self, name: str, default: Quota) -> Quota:
        """Return a quota, with the default's parts where it names none."""
        text = self.read_text(name)
        try:
            return default.with_parts(text) if text else default
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} (--quota) is {text!r}: {error}.") from None

    def flag(self, name: str, default: bool) -> bool:
        text = self.read_text(name)
        found = FLAGS.get(text.lower(), default if not text else None)
        return wrong(name, "true or false", text) if found is None else found

    def choice(self, name: str, default: str, known: Collection[str]) -> str:
        text = self.read_text(name) or default
        return text if text in known else wrong(name, f"one of {', '.join(known)}", text)

    def address(self, name: str, default: str, schemes: Collection[str]) -> str:
        """Return a URL with one of these schemes, or the default, which may be empty."""
        text = self.read_text(name) or default
        with suppress(ValueError):  # an unclosed bracket
            if not text or urlsplit(text).scheme in schemes:
                return text
        wrong(name, f"an address that begins with {' or '.join(f'{one}://' for one in schemes)}", text)

    def names(self, name: str) -> list[str]:
        """Return the comma-separated values."""
        return [part.strip() for part in self.read_text(name).split(",") if part.strip()]

    def needed(self, name: str) -> str:
        return self.read_text(name) or missing(name)

    def read_text(self, name: str) -> str:
        return self.str(name, "").strip()


def wrong(name: str, requested: str, text: str) -> NoReturn:
    raise ImproperlyConfigured(f"{name} must be {requested}, not {text!r}.")


def missing(name: str) -> NoReturn:
    raise ImproperlyConfigured(f"{name} must be set.")


def allowed_hosts(host: str, others: list[str]) -> list[str]:
    """Return the loopback names, the listening address, and others; ["*"] when listening on every address."""
    if host in ("0.0.0.0", "::"):
        return ["*"]
    named = f"[{host}]" if ":" in host else host
    return list(dict.fromkeys(name for name in [*LOOPBACK, named, *others] if name))
