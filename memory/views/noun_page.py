"""The page of a noun without a template of its own: its rows, and the form that makes one."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import Field, Noun, Use
from memory.exceptions import Day1Error
from memory.views.base import ProjectPage
from memory.views.field_widgets import form_field, read_value
from memory.views.flash import flash_success
from memory.views.widgets import add_form_error


class NounPage(ProjectPage):
    """A list of rows with the labelled fields of ``noun``. Subclasses say how rows are read and made."""

    template_name = "noun.html"
    extra_context = {"drawing": "search", "none_yet": _("Nothing.")}
    noun: Noun
    made = _("Saved.")

    def list_rows(self) -> Any:
        """Return a page of rows."""
        raise NotImplementedError

    def write_row(self, values: dict[str, Any]) -> Any:
        """Make a row. Raises Day1Error."""
        raise NotImplementedError

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page, columns = self.list_rows(), [one for one in self.noun.select_fields(Use.ANSWER) if one.label]
        cells = [read_cells(row, columns) for row in page.results]
        shown = {"results": cells, "next": page.next, "previous": page.previous}
        kwargs.setdefault("form", build_form(self.noun))
        return super().get_context_data(page=shown, columns=columns, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = build_form(self.noun, request.POST)
        typed = {name: text for name in form.fields if (text := request.POST.get(name, ""))}
        form.is_valid()  # every field is an optional text: the engine validates
        try:
            self.write_row({name: read_value(self.noun[name], text) for name, text in typed.items()})
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        flash_success(request, str(self.made))
        return redirect(self.reader.url(self.section))


def build_form(noun: Noun, data: Any = None) -> forms.Form:
    """Return the form of the fields that the pages offer."""
    form = forms.Form(data)
    form.fields |= {field.name: form_field(field) for field in noun.select_fields(Use.FORM)}
    return form


def read_cells(row: Any, columns: list[Field]) -> list[tuple[Any, Any]]:
    """Return the labels and values of a row."""
    return [(field.label, getattr(row, field.attribute or field.name)) for field in columns]
