"""A list by state, with the form for a new row."""

from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from memory.exceptions import Day1Error
from memory.views.token_list import TokenList
from memory.views.widgets import add_form_error

ALL = "all"


class StateListPage(TokenList):
    """The rows of a state, and the form for a new one; a refused form keeps its input.

    The first of ``states`` is shown when none is chosen. A page has ``count_rows``, ``list_rows``,
    ``build_form`` and ``create_row``; its ``extra_context`` has the words. The tokens are all ``filters`` but
    the branch and what the tabs choose.
    """

    chosen_elsewhere = ("state", "origin", "branch")
    states: Mapping[str, Any] = {}

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
        return ["state", *super().token_fields]

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        return {**super().token_choices, "state": self.states}

    @property
    def active_tokens(self) -> dict[str, str]:
        """Return the filters of the address, without that of the tabs."""
        return {name: text for name, text in super().active_tokens.items() if name != "state"}

    def list_filtered(self, filters: Mapping[str, Any]) -> Any:
        return self.list_rows("" if self.state == ALL else self.state, **filters)

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
        state, counts = self.state, self.count_rows()
        kwargs.setdefault("form", self.build_form())
        return super().get_context_data(
            state=state,
            tabs=[
                (name, label, counts.get(name, sum(counts.values()))) for name, label in self.states.items()
            ],
            filtered=any(counts.values()),
            may_create=self.may_create,
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        form = self.build_form(request.POST)
        form.is_valid()  # every field is an optional text: the engine validates
        try:
            return self.answer_form(form)
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
