"""A list with the form for a new row above it."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from memory.exceptions import Day1Error
from memory.views.list_page import ListPage
from memory.views.widgets import add_form_error


class StateListPage(ListPage):
    """A list, and the form for a new row; a refused form keeps its input.

    A page has ``build_form`` and ``create_row``; its ``extra_context`` has the words.
    """

    template_name = "state_list.html"

    @property
    def may_create(self) -> bool:
        return self.reader.can["write"] and self.reader.is_now

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
        kwargs.setdefault("form", self.build_form())
        return super().get_context_data(may_create=self.may_create, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        form = self.build_form(request.POST)
        form.is_valid()  # every field is an optional text: the engine validates
        try:
            return self.answer_form(form)
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
