"""What engines say, in the reader's language: by its code and its values, never by its English text."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.actors import ROLE_SCOPES, SCOPES
from memory.engines.actions import DONE, REFUSED, UNCHANGED, Outcome, Report
from memory.engines.explain import Explanation
from memory.exceptions import Day1Error, ScopeMissing, StaleVersion
from memory.views.wording import FIELDS, WORDS

# The values of an error that are words of the model; all others are names and stay as they are.
WORDED = ("old", "new")
OUTCOMES = {
    "verify": _("Verified."),
    "invalidate": _("Judged to be wrong."),
    "unverify": _("The verdict was taken back."),
    "archive": _("Archived."),
    "restore": _("Restored."),
    "supersede": _("Superseded."),
    "set_category": _("Category changed."),
}
COUNTED = {
    DONE: _("%(count)d done"),
    UNCHANGED: _("%(count)d unchanged"),
    REFUSED: _("%(count)d refused"),
}
# Of a fact that is shown; where it is not, its page tells where it is instead.
WHY = {
    "found": _("It is hit {position} of this search."),
    "no_signal": _("It shares no word with the query and has no vector to compare."),
    "filtered": _("The filter {filters} leaves it out."),
    "created": _("It is a proposal that nobody has activated."),
    "archived": _("It is archived."),
    "superseded": _("Another fact has superseded it."),
    "expired": _("It has expired."),
    "outdated": _("It is no longer valid."),
    "invalidated": _("It was judged to be wrong."),
}


def sentence(error: Day1Error) -> str:
    """The error's text."""
    if isinstance(error, StaleVersion):
        return _stale(error)
    if isinstance(error, ScopeMissing):
        return _not_for(error)
    said = gettext(error.template)
    return (
        said.format(**{name: _word(name, value) for name, value in error.data.items()})
        if error.data
        else said
    )


def _stale(error: StaleVersion) -> str:
    """With the fields that have changed, by the words that forms have for them."""
    said = gettext(StaleVersion.message).format(**error.data)
    if fields := [str(FIELDS.get(name, name)) for name in error.data.get("changed", ())]:
        said += " " + gettext("Changed: {fields}.").format(fields=", ".join(fields))
    return said


def _not_for(error: ScopeMissing) -> str:
    """By the roles that have it: a person holds no scopes."""
    if SCOPES.index(error.data["scope"]) > SCOPES.index(ROLE_SCOPES["curator"]):
        return gettext("Only maintainers may do this.")
    return gettext("Only curators and maintainers may do this.")


def _word(name: str, value: Any) -> Any:
    if name == "field":
        return FIELDS.get(value, value)
    return WORDS.get(value, value) if name in WORDED else value


def outcome_sentence(outcome: Outcome, action: str) -> str:
    """What became of one fact."""
    if outcome.error:
        return sentence(outcome.error)
    return str(OUTCOMES[action]) if outcome.outcome == DONE else gettext("It was so already.")


def counts_sentence(report: Report) -> str:
    """What became of all of them."""
    counts = [(report.count(name), said) for name, said in COUNTED.items()]
    return " · ".join(str(said) % {"count": count} for count, said in counts if count)


def explained(answer: Explanation) -> str:
    """Why a search finds a fact, or why it does not."""
    said = {name: ", ".join(v) if isinstance(v, list) else v for name, v in answer.details.items()}
    if answer.reason in WHY:
        return str(WHY[answer.reason]).format(position=answer.position, **said)
    return _out_ranked(answer).format(position=answer.position, **said)


def _out_ranked(answer: Explanation) -> str:
    if answer.position is None:
        return gettext("More facts than a search looks at rank before it; the search returns {limit}.")
    if answer.position > answer.details["limit"]:
        return gettext("It is at position {position}; the search returns {limit}.")
    return gettext(
        "It is at position {position} of all, but reflections take only a part of a page of {limit}."
    )
