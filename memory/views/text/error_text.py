"""Engine messages in the reader's language: by code and values, never by their English text."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.actors import OWNER, ROLE_SCOPES, SCOPES, SERVER
from memory.engines.facts.bulk_actions import DONE, REFUSED, UNCHANGED, Outcome, Report
from memory.engines.search.engine import Explanation
from memory.exceptions import Day1Error, ScopeMissing, StaleVersion
from memory.views.text.labels import FIELDS, SIGNALS, WORDS

# The values of an error that are words of the model; all others are names and stay as they are.
WORDED = ("old", "new", "resolution", "state")
LISTED = ("allowed", "types", "known")  # values in one text, with commas between them
OUTCOMES: dict[str, Any] = {
    "verify": _("Verified."),
    "invalidate": _("Judged to be wrong."),
    "unverify": _("Verdict cleared."),
    "accept": _("Accepted."),
    "refuse": _("Refused: it is archived."),
    "archive": _("Archived."),
    "restore": _("Restored."),
    "supersede": _("Superseded."),
    "set_category": _("Category changed."),
    "pin": _("Pinned."),
    "unpin": _("Unpinned."),
}


def add_outcomes(sentences: Mapping[str, Any]) -> None:
    """Say what further actions did to a fact, by their names."""
    OUTCOMES.update(sentences)


COUNTED = {
    DONE: _("%(count)d done"),
    UNCHANGED: _("%(count)d unchanged"),
    REFUSED: _("%(count)d refused"),
}
# For a fact that is visible; the page of any other shows where it is instead.
WHY = {
    "found": _("Ranked #{position} for this query."),
    "no_signal": _("It shares no word with the query and has no vector to compare."),
    "filtered": _("The filter {filters} leaves it out."),
    "created": _("It is a proposal that nobody has activated."),
    "archived": _("It is archived."),
    "superseded": _("Another fact has superseded it."),
    "expired": _("It has expired."),
    "outdated": _("It is no longer valid."),
    "invalidated": _("It was judged to be wrong."),
}


def error_sentence(
    error: Day1Error, words: Mapping[str, Any] = WORDS, labels: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """Return an error's message in the reader's language, with the page's words for values and fields."""
    if isinstance(error, StaleVersion):
        return stale_sentence(error)
    if isinstance(error, ScopeMissing) and "scope" in error.data:
        return _not_for(error)
    sentence = gettext(error.template)
    return (
        sentence.format(
            **{name: field_word(name, value, words, labels) for name, value in error.data.items()}
        )
        if error.data
        else sentence
    )


def stale_sentence(error: StaleVersion) -> str:
    """Return the message for a stale version, with the labels of the changed fields."""
    sentence = gettext(StaleVersion.message).format(**error.data)
    if fields := [str(FIELDS.get(name, name)) for name in error.data.get("changed", ())]:
        sentence += " " + gettext("Changed: {fields}.").format(fields=", ".join(fields))
    return sentence


def _not_for(error: ScopeMissing) -> str:
    """Return the message for a missing scope, by the roles that have it: people have no scopes."""
    if error.data["scope"] == SERVER:
        return gettext("Only superusers may do this.")
    if error.data["scope"] == OWNER:
        return gettext("Only owners of the project may do this.")
    if SCOPES.index(error.data["scope"]) > SCOPES.index(ROLE_SCOPES["curator"]):
        return gettext("Only maintainers may do this.")
    return gettext("Only curators and maintainers may do this.")


def field_word(name: str, value: Any, words: Mapping[str, Any], labels: Mapping[str, Any]) -> Any:
    if name == "field":
        return FIELDS.get(value, labels.get(value, value))
    if name in LISTED:
        return gettext(", ").join(str(words.get(one, SIGNALS.get(one, one))) for one in value.split(", "))
    return words.get(value, value) if name in WORDED else value


def outcome_sentence(outcome: Outcome, action: str) -> str:
    """Return the outcome of an action for one fact."""
    if outcome.error:
        return error_sentence(outcome.error)
    return str(OUTCOMES[action]) if outcome.outcome == DONE else gettext("It was so already.")


def counts_sentence(report: Report) -> str:
    """Return the counts of an action's outcomes."""
    counts = [(report.count_outcome(name), sentence) for name, sentence in COUNTED.items()]
    return " · ".join(str(sentence) % {"count": count} for count, sentence in counts if count)


def explain_sentence(answer: Explanation) -> str:
    """Return why a search finds a fact, or why not."""
    sentence = {name: ", ".join(v) if isinstance(v, list) else v for name, v in answer.details.items()}
    if answer.reason in WHY:
        return str(WHY[answer.reason]).format(position=answer.position, **sentence)
    return _out_ranked(answer).format(position=answer.position, **sentence)


def _out_ranked(answer: Explanation) -> str:
    if answer.position is None:
        return gettext("More facts than a search looks at rank before it; the search returns {limit}.")
    if answer.position > answer.details["limit"]:
        return gettext("It is at position {position}; the search returns {limit}.")
    return gettext(
        "It is at position {position} of all, but reflections take only a part of a page of {limit}."
    )
