"""Errors that a caller can meet. Each has a stable code, an HTTP status and a sentence.

Surfaces translate them (REST: problem+json, CLI: exit status 1); engines only raise them.
"""

from typing import Any


class Day1Error(Exception):
    """Base of all errors with a stable ``code``; ``message`` is formatted with the keyword data."""

    code = "error"
    status = 500
    message = "Something went wrong."

    def __init__(self, message: str | None = None, **data: Any) -> None:
        self.data = data
        self.text = (message or self.message).format(**data) if data else (message or self.message)
        super().__init__(self.text)


class NotFound(Day1Error):
    code, status, message = "not_found", 404, "Nothing with this id is visible here."


class BranchNotFound(NotFound):
    message = "There is no branch named {name}."


class Unauthenticated(Day1Error):
    code, status, message = "unauthenticated", 401, "A valid API key is needed."


class ScopeMissing(Day1Error):
    code, status, message = "scope_missing", 403, "This needs the scope {scope}."


class BranchForbidden(Day1Error):
    code, status, message = "branch_forbidden", 403, "This key may not use the branch {name}."


class AgentForbidden(Day1Error):
    code, status, message = "scope_missing", 403, "This key is bound to another agent."


class Invalid(Day1Error):
    """A value that cannot be accepted; ``field`` names it where one field is at fault."""

    code, status, message = "invalid", 400, "The input is not valid."


class UnknownField(Invalid):
    code, message = "unknown_field", "There is no field named {field}."


class ReservedValue(Invalid):
    code, message = "reserved_value", "{field} may not be set to {value}: it is reserved for Day1 itself."


class QueryTooLong(Invalid):
    code, message = "query_too_long", "A query has at most {limit} characters, this one has {length}."


class TooLarge(Day1Error):
    code, status, message = "too_large", 413, "{what} is over the limit of {limit}."


class Exists(Day1Error):
    code, status, message = "exists", 409, "This exists already."


class BranchExists(Exists):
    message = "A branch named {name} exists already."


class IllegalTransition(Day1Error):
    code, status, message = "illegal_transition", 409, "A fact that is {old} cannot become {new}."


NOT_ARCHIVED = "Only an archived fact can be restored; this one is {old}."


class BranchArchived(Day1Error):
    code, status = "branch_archived", 409
    message = "The branch {name} is archived and takes no writes: restore it first."


class Conflict(Day1Error):
    code, status, message = "conflict", 409, "This conflicts with what is stored."


class StaleVersion(Day1Error):
    code, status = "stale_version", 412
    message = "The fact is at version {current}, not {expected}: read it again."


class RateLimited(Day1Error):
    code, status, message = "rate_limited", 429, "Too many requests; try again in {retry_after} s."


class ProviderUnavailable(Day1Error):
    """The embedding or language model did not answer; trying again later may help."""

    code, status, message = "provider_unavailable", 503, "The provider is not available: {reason}"


class ProviderNonsense(ProviderUnavailable):
    """The provider answered, but not with what was asked for."""

    message = "The provider's answer cannot be used: {reason}"
