"""The list of facts."""

from typing import Any

from memory.engines.facts import FactEngine
from memory.views.base import ProjectPage
from memory.views.filtering import FilterForm


class Facts(ProjectPage):
    template_name = "facts.html"
    fragment_name = "parts/fact_rows.html"
    section = "facts"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = FilterForm(self.request)
        page = FactEngine().list_facts(**self.reader.where, filters=form.filters, **self.paging())
        return super().get_context_data(form=form, page=page, **kwargs)
