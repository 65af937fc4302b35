"""A list by state, with the form for a new row."""

from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from memory.exceptions import Day1Error, Invalid
from memory.views.error_text import error_sentence
from memory.views.exports import ExportedList
from memory.views.filter_tokens import TokenFilters, list_chips, list_unknown, refuse_unknown, refuse_words
from memory.views.filterset_form import list_choices
from memory.views.labels import WORDS
from memory.views.widgets import add_form_error

ALL = "all"
CHOSEN_ELSEWHERE = ("state", "origin", "branch")  # by the tabs, and by the bar


class StateListPage(ExportedList, TokenFilters):
    """The rows of a state, and the form for a new one; a refused form keeps its input.

    The first of ``states`` is shown when none is chosen. A page has ``count_rows``, ``list_rows``,
    ``build_form`` and ``create_row``; its ``extra_context`` has the words. With ``filters``, those of the
    API, it has a line of tokens, for all of them but the branch and what the tabs choose.
    """

    filters: Any = None
    words: Mapping[str, Any] = WORDS  # of the values

    states: Mapping[str, Any] = {}
    parameters: Collection[str] = ()  # of the address, beside the state

    @property
    def may_create(self) -> bool:
        return self.reader.can["write"] and self.reader.is_now

    def count_rows(self) -> Mapping[str, int]:
        """Return how many rows there are, by state."""
        raise NotImplementedError

    def list_rows(self, state: str, **filters: Any) -> Any:
        """Return a page of the rows of a state, of all with ""; the tokens are the ``filters``."""
        raise NotImplementedError

    @property
    def state(self) -> str:
        """Return the state that is shown."""
        first = next(iter(self.states))
        requested = self.request.GET.get("state", first)
        return requested if requested in self.states else first

    @property
    def token_fields(self) -> Collection[str]:
        names = self.filters.base_filters if self.filters else ()
        return ["state", *(name for name in names if name not in CHOSEN_ELSEWHERE)]

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        known = list_choices(self.filters, self.words) if self.filters else {}
        return {**known, "state": self.states}

    @property
    def active_tokens(self) -> dict[str, str]:
        """Return the filters of the address, without that of the tabs."""
        found = {name: self.request.GET.get(name, "") for name in self.token_fields if name != "state"}
        return {name: text for name, text in found.items() if text}

    def load_exported(self) -> Any:
        refuse_unknown(self.request, self.token_fields, self.parameters)
        if self.typed_line[1]:
            refuse_words()
        return self.list_rows("" if self.state == ALL else self.state, **self.active_tokens)

    def build_form(self, data: Any = None) -> forms.Form:
        """Return the form, filled with what was typed."""
        raise NotImplementedError

    def create_row(self, form: forms.Form) -> str:
        """Make a row of what was typed; return the address of its page. Raises Day1Error."""
        raise NotImplementedError

    def answer_form(self, form: forms.Form) -> HttpResponse:
        """Return the answer to what was typed. Raises Day1Error."""
        return redirect(self.create_row(form))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        state, counts, listed = self.state, self.count_rows(), self.load_listed()
        kwargs.setdefault("form", self.build_form())
        return super().get_context_data(
            **listed,
            tokens=self.active_tokens,
            query=self.request.GET.get("q", ""),
            chips=list(list_chips(self.request, self.list_active(), choices=self.token_choices)),
            state=state,
            tabs=[
                (name, label, counts.get(name, sum(counts.values()))) for name, label in self.states.items()
            ],
            filtered=any(counts.values()),
            may_create=self.may_create,
            **kwargs,
        )

    def list_active(self) -> dict[str, str]:
        """Return the tokens of the page, an unknown one too, so that it can be taken away."""
        return self.active_tokens | list_unknown(self.request, {*self.token_fields, *self.parameters})

    def load_listed(self) -> dict[str, Any]:
        """Return the page of the list, or why there is none: what was typed stays for correction."""
        try:
            return {"page": self.load_exported()}
        except Invalid as error:
            return {"error": error_sentence(error, self.words)}

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        refused = {"status": Invalid.status} if context.get("error") else {}
        return super().render_to_response(context, **{**refused, **kwargs})

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        form = self.build_form(request.POST)
        form.is_valid()  # every field is an optional text: the engine validates
        try:
            return self.answer_form(form)
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
