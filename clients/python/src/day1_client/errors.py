"""What goes wrong. Each stable code of the API has a class of its own in ``day1_client.codes``."""

from __future__ import annotations

from typing import Any


class Day1Error(Exception):
    """A refusal: ``code`` is stable, the text is for people.

    ``status`` is 0 where no server of Day1 answered. ``field`` names the input at fault, ``data`` is what the
    text is made of, ``retry_after`` how many seconds the server asks for.
    """

    code = "error"

    def __init__(
        self,
        text: str,
        *,
        code: str = "",
        status: int = 0,
        field: str = "",
        data: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(text)
        self.text, self.code = text, code or type(self).code
        self.status, self.field, self.data, self.retry_after = status, field, data or {}, retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.text, self.__dict__)


def _restore(kind: type[Day1Error], text: str, kept: dict[str, Any]) -> Day1Error:
    error = kind(text)
    error.__dict__.update(kept)
    return error


class Unreachable(Day1Error, ConnectionError):
    """No answer came: no network, a broken connection, or nothing in time.

    It is a ConnectionError, which frameworks and programs know that have no error of their own for that.
    """

    code = "unreachable"


class NotDay1(Day1Error):
    """What answered is no Day1 server, or a proxy before it that says something of its own."""

    code = "not_day1"


class ServerTooOld(Day1Error):
    """The server is of an earlier release, which does not know the method or one of its parameters."""

    code = "server_too_old"


class NotModified(Day1Error):
    """What was read before, as ``if_none_match`` says, is as it was."""

    code = "not_modified"
