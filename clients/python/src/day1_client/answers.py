"""What a server answers, read as JSON or as an error of this package."""

from __future__ import annotations

import re
from typing import Any

import httpx

from day1_client.codes import BY_CODE
from day1_client.errors import Day1Error, NotDay1, NotModified, ServerTooOld, Unreachable
from day1_client.version import __version__

NO_ADDRESS = "There is no such address"  # how the server says that it knows no route


def read_answer(answer: httpx.Response, url: str, may_be_empty: bool = False) -> Any:
    """Return the JSON of an answer, None of one without content. Raises Day1Error."""
    if answer.status_code == 304:
        raise NotModified("It is as it was.", status=304)
    if not answer.is_success:
        raise read_refusal(answer, url)
    if may_be_empty and not answer.content:
        return None
    try:
        found = answer.json()
        if not isinstance(found, dict):
            raise ValueError("no object")
        return found
    except (ValueError, RecursionError):
        raise NotDay1(
            f"What answers at {url} is no Day1 server: it sent no JSON object.", status=answer.status_code
        ) from None


def read_refusal(answer: httpx.Response, url: str) -> Day1Error:
    """Return the error that a refusal says, in its own words where it is Day1's."""
    wait = parse_seconds(answer.headers.get("Retry-After", ""))
    if answer.is_redirect:
        place = answer.headers.get("Location", "")
        return NotDay1(f"{url} leads elsewhere, to {place}: give that address.", status=answer.status_code)
    try:
        problem = answer.json()
        code, text = str(problem["code"]), str(problem.get("detail") or problem["title"])
        field, data = str(problem.get("field") or ""), dict(problem.get("data") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        text = (
            f"The server at {url} answered {answer.status_code} {answer.reason_phrase}, which Day1 does not."
        )
        return NotDay1(text, status=answer.status_code, retry_after=wait)
    kind = BY_CODE.get(code, Day1Error)
    return kind(text, code=code, status=answer.status_code, field=field, data=data, retry_after=wait)


def parse_seconds(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}", text) else None


def no_answer(error: Exception, url: str) -> Unreachable:
    reason = (
        "nothing came in time"
        if isinstance(error, httpx.TimeoutException)
        else str(error) or type(error).__name__
    )
    return Unreachable(f"The server at {url} does not answer: {reason.rstrip('.')}.")


def is_too_old(error: Day1Error) -> bool:
    """Return whether an earlier release would refuse so what it does not know yet."""
    no_address = error.code == "not_found" and error.text.startswith(NO_ADDRESS)
    return no_address or error.code in ("method_not_allowed", "unknown_field")


def explain(error: Day1Error, name: str, version: str) -> Day1Error:
    """Return the error; where the server is of another release than this client, one that says so."""
    if not version or as_numbers(version) == as_numbers(__version__):
        return error
    if as_numbers(version) > as_numbers(__version__):
        kept = {name: getattr(error, name) for name in ("code", "status", "field", "data", "retry_after")}
        return type(error)(
            f"{error.text} The server is Day1 {version}, this is day1-client {__version__}.", **kept
        )
    what = f"{error.field} of {name}" if error.code == "unknown_field" and error.field else name
    text = f"The server is Day1 {version}, which does not know {what}; this is day1-client {__version__}."
    return ServerTooOld(text, status=error.status, field=error.field, data=error.data)


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def parse_version(index: Any) -> str:
    """Return the release that the index of the API names. Raises NotDay1."""
    if isinstance(index, dict) and index.get("name") == "Day1":
        return str(index.get("version", ""))
    raise NotDay1("What answers is no Day1 server.")
