"""Errors that callers can receive. Each has a stable code, an HTTP status and a message.

Surfaces translate them (REST: problem+json, CLI: exit status 1); engines only raise them. The messages are
English for programs; pages show them in the reader's language.
"""

from typing import Any


def _(text: str) -> str:
    """Mark a text for translation. Django's own function needs settings, which the command line lacks."""
    return text


class Day1Error(Exception):
    """Base of all errors with a stable ``code``; ``message`` is formatted with the keyword data."""

    code = "error"
    status = 500
    message = _("Something went wrong.")

    def __init__(self, message: str | None = None, **data: Any) -> None:
        self.data = data
        self.template = message or self.message  # unformatted, as the catalogue of translations has it
        self.text = self.template.format(**data) if data else self.template
        super().__init__(self.text)

    def name_in_list(self, name: str, index: int) -> None:
        """Name the element of a list that this is of, as a path: ``facts[3].category``."""
        self.data["field"] = f"{name}[{index}].{self.data.get('field', '')}".rstrip(".")


class NotFound(Day1Error):
    code, status, message = "not_found", 404, _("Nothing with this id is visible here.")


class BranchNotFound(NotFound):
    message = _("There is no branch named {name}.")


class Unauthenticated(Day1Error):
    code, status, message = "unauthenticated", 401, _("A valid API key is needed.")


class ScopeMissing(Day1Error):
    code, status, message = "scope_missing", 403, _("This needs the scope {scope}.")


class BranchForbidden(Day1Error):
    code, status, message = "branch_forbidden", 403, _("This key may not use the branch {name}.")


class AgentForbidden(Day1Error):
    code, status, message = "scope_missing", 403, _("This key is bound to another agent.")


class UserForbidden(Day1Error):
    code, status, message = "scope_missing", 403, _("This key is bound to another end user or app.")


class OwnerOnly(Day1Error):
    code, status, message = "scope_missing", 403, _("Only {owner} may change this.")


ROWS_FULL = _(
    "The project is at its quota: it has {used} of {limit} rows. Nothing more is stored until something is"
    " erased or the quota is raised; reads go on."
)

KEY_FULL = _("The key may write {size}, and this would be more. Nothing of it is stored; reads go on.")


PROJECT_LIMIT = _(
    "The project has {used} of {limit} {unit}: no more are made until some are gone or the limit is raised."
)


USER_FULL = _(
    "The end user has {used} of {limit} facts: nothing more is stored for them until something is deleted or"
    " the limit of the project is raised; reads go on."
)


class QuotaExceeded(Day1Error):
    """A write of a project or key that is at its quota; ``used`` and ``limit`` are numbers of its ``part``.

    ``answer`` is what can be answered all the same.
    """

    answer: Any = None

    code, status = "quota_exceeded", 403
    message = _(
        "The project is at its quota: it has {size} of {most}. Nothing more is stored until something is"
        " erased or the quota is raised; reads go on."
    )


class Invalid(Day1Error):
    """An invalid value; ``field`` names the field, where one is at fault."""

    code, status, message = "invalid", 400, _("The input is not valid.")


class UnknownField(Invalid):
    code, message = "unknown_field", _("There is no field named {field}.")


class ReservedValue(Invalid):
    code, message = "reserved_value", _("{field} may not be set to {value}: it is reserved for Day1 itself.")


class QueryTooLong(Invalid):
    code, message = "query_too_long", _("A query has at most {limit} characters, this one has {length}.")


class TooLarge(Day1Error):
    code, status, message = "too_large", 413, _("{what} is over the limit of {limit}.")


class Exists(Day1Error):
    code, status, message = "exists", 409, _("This exists already.")


class BranchExists(Exists):
    message = _("A branch named {name} exists already.")


class IllegalTransition(Day1Error):
    code, status, message = "illegal_transition", 409, _("A fact that is {old} cannot become {new}.")


NOT_ARCHIVED = _("Only an archived fact can be restored; this one is {old}.")


class BranchArchived(Day1Error):
    code, status = "branch_archived", 409
    message = _("The branch {name} is archived and takes no writes: restore it first.")


class DirectWritesRefused(Day1Error):
    """A write that the policy of its branch does not take; ``branch`` names the branch."""

    code, status = "direct_writes_refused", 409
    message = _(
        "The branch {branch} takes no direct writes: write on a branch of your own and open a merge request,"
        " or propose the fact."
    )


CHANGES_REFUSED = _(
    "The branch {branch} takes proposals only: nothing on it is changed or removed without the scope curate."
    " Propose a fact that replaces it, or change it on a branch of your own and open a merge request."
)


class Conflict(Day1Error):
    code, status, message = "conflict", 409, _("This conflicts with what is stored.")


class BranchReadOnly(Conflict):
    message = _("The branch {name} is read-only: fork it, and write on the fork.")


class RunTaken(Conflict):
    """Another worker's run has this target; the same may succeed when it is done."""

    message = _("{target} is being consolidated already.")


class StaleVersion(Day1Error):
    code, status = "stale_version", 412
    message = _("The fact is at version {current}, not {expected}: read it again.")
    memory = _("This is at version {current}, not {expected}: read it again.")  # what is no fact


class KeyTaken(Day1Error):
    code, status, message = "key_taken", 412, _("An item stands under {key} already.")


class RateLimited(Day1Error):
    code, status, message = "rate_limited", 429, _("Too many requests; try again in {retry_after} s.")


class LimitReached(RateLimited):
    """A write past what a key or project may write in a day; ``answer`` as that of QuotaExceeded."""

    answer: Any = None

    message = _(
        "The {what} has written {used} of {limit} {unit} of this {window}, and this needs {count} more:"
        " nothing of it is stored. It is free again at {resets_at}, in {retry_after} s."
    )


TOO_MANY = _("Too many requests: {used} of {limit} of this {what} in a minute; try again in {retry_after} s.")


class Unavailable(Day1Error):
    code, status, message = "unavailable", 503, _("The server has too much to do; try again.")


class StoreDamaged(Day1Error):
    """A part of the store that cannot be read, or a write to a store of which a part cannot be read."""

    code, status = "store_damaged", 503
    message = _(
        "A part of the store that this needs is damaged. The rest can be read; nothing is written until"
        " whoever runs the server has repaired it: `day1 check` says how."
    )


WRITES_STOPPED = _(
    "The store is damaged, so nothing is written to it until whoever runs the server has repaired it: `day1"
    " check` says how. What was stored before can be read, but for the damaged part."
)


UNREADABLE_STORE = _(
    "The file of the store cannot be read: it is no database, or its beginning is damaged. Whoever runs the"
    " server can look at it with `day1 check` and `day1 salvage`, or go back to a backup."
)


class NoStore(Day1Error):
    """A database of another program in the place of a store."""

    code, status = "no_store", 503
    message = (
        "{path} is a database of another program: it has tables, and none of Day1's migrations. Name another"
        " data directory or database; where DATABASE_URL is another program's, unset it for Day1."
    )


class StoreNewer(Day1Error):
    """A store that a newer release has migrated; ``copy`` says what this code can go back to."""

    code, status = "store_newer", 503
    message = _(
        "The store was upgraded by a newer Day1, which this code is too old for: it does not know the"
        " migration {migration}. Bring the code up to date, or go back to {copy}."
    )


class StoreOlder(Day1Error):
    """A store that lacks what this code no longer adds; ``commit`` is the last that does."""

    code, status = "store_outdated", 503
    message = _(
        "This store was made by an earlier Day1: start it once with the commit {commit}, then with this one."
    )


class ProviderUnavailable(Day1Error):
    """An embedding or language model that did not answer; a later try may succeed.

    ``server_words`` are what its server said, for decisions and the log: no surface shows them.
    """

    code, status, message = "provider_unavailable", 503, _("The provider is not available: {reason}")
    server_words = ""
    may_cost = False  # whether the server may have worked on it


class ModelBudgetSpent(ProviderUnavailable):
    """A model that is not asked, since the project's budget of the month is used up: what asks it is partial,
    and goes on when there is one again.
    """

    code, status = "budget_spent", 429
    message = _(
        "Partial: budget used up. The project has spent {used} of {limit} {part} of models this month, and"
        " the next request may need {needed}; there is a new budget on {resets_at}, or when it is raised."
    )


class ProviderNonsense(ProviderUnavailable):
    """An answer of the provider that cannot be used."""

    message = _("The provider's answer cannot be used: {reason}")
    may_cost = True
