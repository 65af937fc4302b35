"""What the lists share that have filters and a search."""

from collections.abc import Collection, Mapping
from typing import Any

from memory.exceptions import Invalid
from memory.views.error_text import error_sentence
from memory.views.exports import ExportedList
from memory.views.filter_tokens import TokenFilters, list_chips, list_unknown, refuse_unknown
from memory.views.filterset_form import active_filters, filter_form, list_choices
from memory.views.labels import WORDS

FOUND = 50  # rows of a search


class Listing(TokenFilters, ExportedList):
    """A list with filters and a search. Invalid input stays in the form for correction.

    The words of list.html are in ``extra_context``.
    """

    filters: Any = None
    labels: dict[str, Any] = {}
    words: Mapping[str, Any] = WORDS  # of the values

    @property
    def token_fields(self) -> Collection[str]:
        names: Collection[str] = self.filters.base_filters.keys()
        return names

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        return list_choices(self.filters, self.words)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query, payload = self.request.GET.get("q", "").strip(), active_filters(self.request.GET, self.filters)
        form = filter_form(self.filters, self.request.GET, self.labels, self.words)
        listed: dict[str, Any] = {"page": None, "error": ""}
        try:
            refuse_unknown(self.request, self.token_fields)
            _, text = self.typed_line  # refuses an unknown filter
            listed["page"] = self._load_page(text, payload)
        except Invalid as error:
            listed["error"] = error_sentence(error, self.words)
        filtered = bool(query or payload)
        found = {**listed, "form": form, "query": query, "filtered": filtered, "set": len(payload)}
        active = payload | list_unknown(self.request, self.token_fields)
        found["chips"] = list(list_chips(self.request, active, choices=self.token_choices))
        context = super().get_context_data(**found, **kwargs)
        if query:
            context["lead"] = context.get("lead_of_found", context.get("lead"))
        return context

    def _load_page(self, text: str, payload: dict[str, Any]) -> Any:
        return self.search_rows(text, payload) if text else self.list_rows(payload)

    def load_exported(self) -> Any:
        refuse_unknown(self.request, self.token_fields)
        if self.typed_line[1]:
            raise Invalid("A file has the rows that filters leave: take the words out.", field="q")
        return self.list_rows(active_filters(self.request.GET, self.filters))

    def list_rows(self, payload: dict[str, Any]) -> Any:
        """Return the page of the list for these filters."""
        raise NotImplementedError

    def search_rows(self, query: str, payload: dict[str, Any]) -> Any:
        """Return the results of a search; the list itself where it has none."""
        return self.list_rows(payload)


def require_known(payload: dict[str, Any], *known: str) -> dict[str, Any]:
    """Return the filters if all are known to the search. Raises Invalid."""
    for name in payload:
        if name not in known:
            raise Invalid("This filter is for the list, not for a search: leave one of them out.", field=name)
    return payload
