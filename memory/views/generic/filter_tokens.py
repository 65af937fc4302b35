"""Filters as one line of tokens, such as ``belief:unverified agent:ledger-agent``, and words to search."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NoReturn

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.generic import TemplateView
from django_htmx.http import HttpResponseClientRedirect

from memory.engines.support.validation import parse_iso
from memory.exceptions import Invalid
from memory.views.frame.view_context import with_query
from memory.views.text.labels import FIELDS
from memory.views.text.times import format_time

# A token, or words in quotation marks, which are never one. An address of the web or a C++ name is no token.
PIECE = re.compile(r'(?<!\S)(?:([a-z_]+):("[^"]+"|[^\s:/"]\S*)|"[^"]*")')
# Names of tokens that are shorter than those of their filters.
SHORT_NAMES = {
    "verification_status": "belief",
    "agent_id": "agent",
    "user_id": "user",
    "app_id": "app",
    "session_id": "session",
    "task_id": "task",
    "conversation_id": "conversation",
    "parent_conversation_id": "parent",
    "tags": "tag",
    "created_after": "after",
    "created_before": "before",
    "observation_type": "type",
    "tool_name": "tool",
    "relation_type": "relation",
    "handoff_type": "type",
    "target_branch": "target",
    "task_type": "type",
    "to_agent": "to",
}
TIME_ENDINGS = ("after", "before", "_at")
LIST_PARAMETERS = frozenset(
    {"q", "branch", "at", "cursor", "limit", "tour", "format", "ordering"}
)  # what every list takes beside filters


def refuse_words() -> NoReturn:
    """Refuse words in the line of a list that has tokens alone. Raises Invalid."""
    raise Invalid("This list is filtered by its tokens, and not searched.", field="q")


class TokenFilters(TemplateView):
    """A mixin for pages with a search field: tokens that are typed into it become filters of the address.

    The address that a form made is replaced by one without empty parameters, and one that names a filter as
    it is typed by one with the filter's name.
    """

    repeatable_fields: Collection[str] = ()  # those that take several values

    @property
    def token_fields(self) -> Collection[str]:
        """Return the names of the filters that can be typed."""
        return ()

    @cached_property
    def typed_line(self) -> tuple[dict[str, list[str]], str]:
        """Return the filters typed into the search field, and the words to search. Raises Invalid."""
        return read_line(" ".join(self.request.GET.getlist("q")), self.token_fields)

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the values of each filter that has a fixed set of them, with the page's words."""
        return {}

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        parameters, words = dict(request.GET.lists()), rename_typed(request, self.token_fields)
        typed = self._typed_words(words)
        address, by_script = with_query(request.path, words | typed), getattr(request, "htmx", False)
        if typed or (words != parameters and not by_script):
            return (HttpResponseClientRedirect if by_script else HttpResponseRedirect)(address)
        response = super().get(request, *args, **kwargs)
        if by_script:
            response["HX-Push-Url"] = address
        return response

    def _typed_words(self, words: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the parameters that change by the typed tokens; a line with an unknown one changes none."""
        try:
            typed, text = self.typed_line
        except Invalid:
            return {}
        changed = {
            name: self._merge(name, words.get(name, []), self._read_values(name, values))
            for name, values in typed.items()
        }
        return {**changed, "q": text, "cursor": ""} if typed else {}

    def _read_values(self, name: str, values: list[str]) -> list[str]:
        """Return the values of a filter that was typed with the page's words for them."""
        known = {str(word): value for value, word in self.token_choices.get(name, {}).items()}
        return [known.get(value, value) for value in values]

    def _merge(self, name: str, before: list[str], values: list[str]) -> str:
        """Return all values of a filter that takes several, else the one that was typed last."""
        if name not in self.repeatable_fields:
            return values[-1]
        return ",".join(dict.fromkeys([*",".join(before).split(","), *values])).strip(",")


def rename_typed(request: HttpRequest, fields: Collection[str]) -> dict[str, list[str]]:
    """Return the parameters of an address, filters by their own names, without empty values."""
    known = typed_names(fields)
    return {
        known.get(name, name): kept
        for name, values in request.GET.lists()
        if (kept := [one for one in values if one])
    }


def typed_names(fields: Collection[str]) -> dict[str, str]:
    """Return the filter of each name that can be typed."""
    return {SHORT_NAMES.get(name, name): name for name in fields}


def read_line(line: str, fields: Collection[str]) -> tuple[dict[str, list[str]], str]:
    """Return the filters of a typed line, and the words beside them. Raises Invalid for an unknown token."""
    known = typed_names(fields)
    filters: dict[str, list[str]] = {}
    for piece in PIECE.finditer(line):
        if token := piece[1]:
            name = known.get(token, token)
            if name not in fields:
                raise Invalid(
                    "There is no filter {name}. There are: {known}. In quotation marks it is searched for.",
                    name=token,
                    known=", ".join(sorted(known)),
                )
            filters.setdefault(name, []).append(piece[2].strip('"'))
    text = PIECE.sub(lambda piece: "" if piece[1] else piece[0], line)
    return filters, " ".join(text.split())


def list_unknown(request: HttpRequest, known: Collection[str]) -> dict[str, str]:
    """Return the parameters of an address that a list knows neither as a filter nor otherwise."""
    names = {*LIST_PARAMETERS, *known}
    parameters = {name: ",".join(filter(None, values)) for name, values in request.GET.lists()}
    return {name: text for name, text in parameters.items() if text and name not in names}


def refuse_unknown(request: HttpRequest, fields: Collection[str], others: Collection[str] = ()) -> None:
    """Refuse an address with an unknown filter; ``others`` are its other parameters. Raises Invalid."""
    for name in list_unknown(request, {*fields, *others}):
        known = ", ".join(sorted(typed_names(fields)))
        raise Invalid("There is no filter {name}. There are: {known}.", name=name, known=known)


def list_chips(
    request: HttpRequest,
    active: Mapping[str, str],
    repeatable: Collection[str] = (),
    choices: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """Yield each active filter as a token, with the address without it."""
    words = {name: values for name, values in request.GET.lists() if name != "cursor"}
    for name, text in active.items():
        values = text.split(",") if name in repeatable else [text]
        for value in values:
            rest = ",".join(one for one in values if one != value)
            word = str(choices.get(name, {}).get(value, value))
            yield {
                "token": write_token(name, word),
                "label": FIELDS.get(name, name),
                "value": show_time(word) if name.endswith(TIME_ENDINGS) else word,
                "url": with_query(request.path, {**words, name: rest}),
            }


def show_time(text: str) -> str:
    """Return a time of an address in the reader's zone; another text as it is."""
    at = parse_iso(text) if "T" in text else None
    return format_time(at) if at and timezone.is_aware(at) else text


def write_token(name: str, value: str) -> str:
    """Return a filter as it is typed."""
    token = SHORT_NAMES.get(name, name)
    return f'{token}:"{value}"' if " " in value else f"{token}:{value}"
