"""Written by ``python -m clients.generate_python`` from docs/api.md; do not edit."""

from day1_client.errors import Day1Error


class Invalid(Day1Error):
    """400: a value that cannot be accepted; a body that is no JSON object."""

    code = "invalid"


class UnknownField(Day1Error):
    """400: a field or query parameter that does not exist."""

    code = "unknown_field"


class ReservedValue(Day1Error):
    """400: the kind REFLECTION or the origin DREAMING, which only Day1 itself gives."""

    code = "reserved_value"


class QueryTooLong(Day1Error):
    """400: a query of more than 8,000 characters."""

    code = "query_too_long"


class Unauthenticated(Day1Error):
    """401: no key, or one that is unknown, expired or revoked."""

    code = "unauthenticated"


class BudgetSpent(Day1Error):
    """429: the project's budget of models is used up; no route answers it, runs say it and go on later."""

    code = "budget_spent"


class QuotaExceeded(Day1Error):
    """403: the project is at its quota: data has the part (bytes or rows), what is used and the limit. Nothing
    is stored; reads go on. Retry-After is an hour: what is stored is then counted anew.
    """

    code = "quota_exceeded"


class ScopeMissing(Day1Error):
    """403: the key lacks a scope, or is bound to another agent; one bound to an agent decides nothing for the
    project (policies, forced merges, settings, members, others' keys, signing, erasures, copies of the store,
    quarantines).
    """

    code = "scope_missing"


class BranchForbidden(Day1Error):
    """403: the key may not use this branch."""

    code = "branch_forbidden"


class NotFound(Day1Error):
    """404: no such address, branch or row; another project's row is no row."""

    code = "not_found"


class MethodNotAllowed(Day1Error):
    """405: the address does not know this method."""

    code = "method_not_allowed"


class TooSlow(Day1Error):
    """408: a body that did not arrive within 30 seconds; the connection is closed."""

    code = "too_slow"


class Exists(Day1Error):
    """409: a branch, a pending merge request of the same two branches, a task's short name, a link, a message's
    number, a snapshot or an open workspace that is there already.
    """

    code = "exists"


class IllegalTransition(Day1Error):
    """409: a move that the life of a fact does not have, such as superseding an archived one; one that an
    objective does not have; joining or completing a task that is over; closing a relation again; anything for
    a merge request that is closed.
    """

    code = "illegal_transition"


class BranchArchived(Day1Error):
    """409: a write to an archived branch, or a merge from or into one."""

    code = "branch_archived"


class DirectWritesRefused(Day1Error):
    """409: a write to a branch whose policy takes merges and proposals only; data names the branch."""

    code = "direct_writes_refused"


class Conflict(Day1Error):
    """409: an Idempotency-Key used with another request; archiving main; a key that has ended; a question
    answered already; undoing what has changed since; an objective that another agent is at; a message to a
    conversation that has ended; a merge whose checks fail; a decision on a conflict that has changed since;
    an approval by the author; a change of what was erased, a write to a session that was erased or deleted,
    erasing it again, or erasing what copies of the store hold.
    """

    code = "conflict"


class KeyTaken(Day1Error):
    """412: an item stands under the key already, and the put was for a new one."""

    code = "key_taken"


class StaleVersion(Day1Error):
    """412: the fact has changed since it was read; data has the current version."""

    code = "stale_version"


class TooLarge(Day1Error):
    """413: a fact over 64 KiB, a message over 1 MiB, a list over 1,000 rows, a body over 8 MiB."""

    code = "too_large"


class UnsupportedMediaType(Day1Error):
    """415: a body that is not sent as application/json."""

    code = "unsupported_media_type"


class RateLimited(Day1Error):
    """429: more requests in a minute or writes in a day than the key or its project may make, or too many
    streams of events; data names the limit, what is used and the limit; Retry-After says how long to wait.
    See limits in headers.
    """

    code = "rate_limited"


class ServerFault(Day1Error):
    """500: a fault of the server; its log has more."""

    code = "error"


class Unavailable(Day1Error):
    """503: the database was too busy to answer in time or cannot be reached, or the server has more than 1,000
    requests, 500 streams of events, or 128 MiB of bodies, at once; try again.
    """

    code = "unavailable"


class StoreDamaged(Day1Error):
    """503: a part of the store that this needs cannot be read, or nothing is written to a damaged store until it
    is repaired; the rest is read as before. To send it again helps after the repair: see a damaged store.
    """

    code = "store_damaged"


class StoreNewer(Day1Error):
    """503: the store was migrated by a newer release than the code that serves it: see going back."""

    code = "store_newer"


class StoreOutdated(Day1Error):
    """503: the store was made by an earlier Day1 and lacks what this code no longer adds: start it once with the
    commit that the sentence names.
    """

    code = "store_outdated"


class NoStore(Day1Error):
    """503: the database that the server is pointed at is one of another program, which is left as it is."""

    code = "no_store"


class OutcomeUnknown(Day1Error):
    """503: the connection to the database was lost during the commit: it may have been stored or not; send it
    again with the same Idempotency-Key.
    """

    code = "outcome_unknown"


class ProviderUnavailable(Day1Error):
    """503: a model did not answer, where the caller asked to wait for it."""

    code = "provider_unavailable"


BY_CODE: dict[str, type[Day1Error]] = {
    "invalid": Invalid,
    "unknown_field": UnknownField,
    "reserved_value": ReservedValue,
    "query_too_long": QueryTooLong,
    "unauthenticated": Unauthenticated,
    "budget_spent": BudgetSpent,
    "quota_exceeded": QuotaExceeded,
    "scope_missing": ScopeMissing,
    "branch_forbidden": BranchForbidden,
    "not_found": NotFound,
    "method_not_allowed": MethodNotAllowed,
    "too_slow": TooSlow,
    "exists": Exists,
    "illegal_transition": IllegalTransition,
    "branch_archived": BranchArchived,
    "direct_writes_refused": DirectWritesRefused,
    "conflict": Conflict,
    "key_taken": KeyTaken,
    "stale_version": StaleVersion,
    "too_large": TooLarge,
    "unsupported_media_type": UnsupportedMediaType,
    "rate_limited": RateLimited,
    "error": ServerFault,
    "unavailable": Unavailable,
    "store_damaged": StoreDamaged,
    "store_newer": StoreNewer,
    "store_outdated": StoreOutdated,
    "no_store": NoStore,
    "outcome_unknown": OutcomeUnknown,
    "provider_unavailable": ProviderUnavailable,
}
