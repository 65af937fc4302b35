"""The list of facts."""

from typing import Any

from memory.engines.facts import FactEngine
from memory.exceptions import Invalid
from memory.views.base import ProjectPage
from memory.views.filtering import FilterForm
from memory.views.sentences import sentence


class Facts(ProjectPage):
    template_name = "facts.html"
    fragment_name = "parts/fact_rows.html"
    section = "facts"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = FilterForm(self.request)
        shown: dict[str, Any] = {"form": form}
        try:
            shown["page"] = FactEngine().list_facts(
                **self.reader.where, filters=form.filters, **self.paging()
            )
        except Invalid as error:  # what was asked for stays in the form, to be mended
            shown["refusal"] = sentence(error)
        return super().get_context_data(**shown, **kwargs)
