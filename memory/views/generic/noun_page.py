"""The page of a noun without a template of its own: its rows, and the form that makes one."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import Noun, Use
from memory.views.generic.state_list import StateListPage


class NounPage(StateListPage):
    """A list of rows with the labelled fields of ``noun``, and the form of its action ``create``."""

    template_name = "noun.html"
    extra_context = {"drawing": "search", "none_yet": _("Nothing.")}
    noun: Noun

    def load_page(self) -> Any:
        """Return the page, each row as the labels and values of its fields."""
        page = super().load_page()
        columns = [field for field in self.noun.select_fields(Use.ANSWER) if field.label]
        cells = [
            [(field.label, getattr(row, field.attribute or field.name)) for field in columns]
            for row in page.results
        ]
        return {"results": cells, "next": page.next, "previous": page.previous, "columns": columns}
