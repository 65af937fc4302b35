"""A list by state, with the form for a new row."""

from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from memory.exceptions import Day1Error
from memory.views.exports import ExportedList
from memory.views.filter_tokens import refuse_unknown
from memory.views.widgets import add_form_error

ALL = "all"


class StateListPage(ExportedList):
    """The rows of a state, and the form for a new one; a refused form keeps its input.

    The first of ``states`` is shown when none is chosen. A page has ``count_rows``, ``list_rows``,
    ``build_form`` and ``create_row``; its ``extra_context`` has the words.
    """

    states: Mapping[str, Any] = {}
    parameters: Collection[str] = ()  # of the address, beside the state

    @property
    def may_create(self) -> bool:
        return self.reader.can["write"] and self.reader.is_now

    def count_rows(self) -> Mapping[str, int]:
        """Return how many rows there are, by state."""
        raise NotImplementedError

    def list_rows(self, state: str) -> Any:
        """Return a page of the rows of a state; of all with ""."""
        raise NotImplementedError

    @property
    def state(self) -> str:
        """Return the state that is shown."""
        first = next(iter(self.states))
        requested = self.request.GET.get("state", first)
        return requested if requested in self.states else first

    def load_exported(self) -> Any:
        refuse_unknown(self.request, ["state"], self.parameters)
        return self.list_rows("" if self.state == ALL else self.state)

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
            page=self.load_exported(),
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
