"""What the lists of the desk share that have filters and a search."""

from typing import Any

from memory.admin.base import DeskPage
from memory.admin.filters import filter_form, said
from memory.exceptions import Invalid
from memory.views.sentences import sentence

FOUND = 50  # rows of a search


class Listing(DeskPage):
    """A list with filters and a search. What was asked wrongly stays in the form, to be mended."""

    filters: Any = None
    labels: dict[str, Any] = {}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query, given = self.request.GET.get("q", "").strip(), said(self.request.GET, self.filters)
        form = filter_form(self.filters, self.request.GET, self.labels)
        listed: dict[str, Any] = {"page": None, "error": ""}
        try:
            listed["page"] = self.found(query, given) if query else self.listed(given)
        except Invalid as error:
            listed["error"] = sentence(error)
        filtered = bool(query or given)
        found = {**listed, "form": form, "query": query, "filtered": filtered, "set": len(given)}
        return super().get_context_data(**found, **kwargs)

    def listed(self, given: dict[str, Any]) -> Any:
        """The page of the list that the address asks for."""
        raise NotImplementedError

    def found(self, query: str, given: dict[str, Any]) -> Any:
        """What a search finds."""
        raise NotImplementedError


def only(given: dict[str, Any], *known: str) -> dict[str, Any]:
    """The filters, where a search takes no others. Raises Invalid."""
    for name in given:
        if name not in known:
            raise Invalid("This filter is for the list, not for a search: leave one of them out.", field=name)
    return given
