"""The page of a list: its filters, its order and its file follow from the operation that lists."""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils.translation import gettext as _

from memory.engines.support.pagination import MAX_PAGE_SIZE, Page
from memory.exceptions import Invalid
from memory.operations.inputs import Query
from memory.operations.parameters import take_parameters
from memory.views.frame.view_context import ViewContext
from memory.views.generic.exports import ExportedList
from memory.views.generic.filter_tokens import (
    TokenFilters,
    list_chips,
    list_unknown,
    refuse_unknown,
    refuse_words,
)
from memory.views.generic.filters_form import active_filters, build_filter_form, list_choices
from memory.views.text.error_text import error_sentence
from memory.views.text.labels import WORDS

FOUND = 50  # rows of a search
ALL, STATE = "all", "state"  # the address calls what the tabs choose so


class ListPage(TokenFilters, ExportedList):
    """The rows that the filters leave. A refused filter stays in the line for correction.

    ``operation`` lists them; ``labels`` are those of the filters that have a form of their own behind the
    line; ``words`` are those of their values. ``states`` are the values of the filter ``tab``, each behind a
    tab, with the counts of ``count_rows``; the first one is shown where none is chosen. ``extra_context``
    has the words of list.html.
    """

    template_name = "list.html"
    labels: Mapping[str, Any] = {}
    words: Mapping[str, Any] = WORDS
    hidden_filters: Collection[str] = ("branch",)  # the bar has the branch
    tab = "state"
    states: Mapping[str, Any] = {}

    # ---- rows ----------------------------------------------------------------------------------

    @property
    def place(self) -> dict[str, Any]:
        """Return where is read: on a branch at a point, or in the whole project."""
        return self.reader.read_args if "at" in self.operation.arguments else {"actor": self.reader.actor}

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        """Return a page of the rows with these filters. Raises Invalid."""
        chosen = [one for one in self.operation.parameters if one.name in filters]
        taken = take_parameters(chosen, Query(urlencode(filters)))
        return self.operation.run(**self.place, **taken, **self.paging())

    def search_rows(self, query: str, filters: Mapping[str, Any]) -> Any:
        """Return what a search for words finds. Raises Invalid."""
        refuse_words()

    def count_rows(self) -> Mapping[str, int] | None:
        """Return how many rows there are, by state; None where that is not counted."""
        return None

    # ---- filters -------------------------------------------------------------------------------

    @property
    def filters(self) -> dict[str, Any]:
        """Return the declared filters that the page has."""
        hidden = {*self.hidden_filters, *([self.tab] if self.states else [])}
        return {one.name: one for one in self.operation.filters if one.name not in hidden}

    @property
    def token_fields(self) -> Collection[str]:
        return [*self.filters, STATE] if self.states else self.filters

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        known = list_choices(self.filters.values(), self.words)
        return {**known, STATE: self.states} if self.states else known

    @property
    def state(self) -> str:
        """Return the state that is shown; "" where there are no tabs."""
        requested = self.request.GET.get(STATE, "")
        return requested if requested in self.states else next(iter(self.states), "")

    @property
    def active_filters(self) -> dict[str, str]:
        """Return the filters of the address, without that of the tabs."""
        return active_filters(self.request.GET, self.filters)

    @property
    def chosen_filters(self) -> dict[str, str]:
        """Return all filters of the address: also that of the tabs, unless it is of all rows."""
        return self.active_filters | ({self.tab: self.state} if self.state not in ("", ALL) else {})

    # ---- the page ------------------------------------------------------------------------------

    def load_exported(self) -> Any:
        refuse_unknown(self.request, self.token_fields)
        if self.typed_line[1]:
            raise Invalid("A file has the rows that filters leave: take the words out.", field="q")
        return self.list_rows(self.chosen_filters)

    def load_page(self) -> Any:
        """Return the page of the list, or what a search for the typed words finds. Raises Invalid."""
        refuse_unknown(self.request, self.token_fields)
        text = self.typed_line[1]
        return self.search_rows(text, self.active_filters) if text else self.list_rows(self.chosen_filters)

    def load_listed(self) -> dict[str, Any]:
        """Return the page, or why there is none."""
        try:
            return {"page": self.load_page()}
        except Invalid as error:
            return {"page": None, "error": error_sentence(error, self.words)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        active, query = self.active_filters, self.request.GET.get("q", "").strip()
        shown = active | list_unknown(self.request, self.token_fields)  # so that it can be taken away
        listed = self.load_listed()
        tabs = self.list_tabs() if self.states else []
        context = super().get_context_data(
            tokens={name: text for name, text in active.items() if not self.labels},
            filter_form=build_filter_form(self.filters, active, self.labels, self.words),
            set=len(active),
            query=query,
            chips=list(list_chips(self.request, shown, choices=self.token_choices)),
            state_tabs=tabs,
            **{"filtered": bool(query or shown or self.has_other_rows(tabs)), **listed, **kwargs},
        )
        if query:
            context["lead"] = context.get("lead_of_found", context.get("lead"))
        return context

    def list_tabs(self) -> list[tuple[str, Any, int | None]]:
        """Return the states with their words, and how many rows are in each where that is counted."""
        if (counts := self.count_rows()) is None:
            return [(name, label, None) for name, label in self.states.items()]
        known = {ALL: sum(counts.values()), **counts}
        return [(name, label, known.get(name, 0)) for name, label in self.states.items()]

    def has_other_rows(self, tabs: list[tuple[str, Any, int | None]]) -> bool:
        """Return whether another tab has rows, or may have some where they are not counted."""
        return any(count or (count is None and self.state != ALL) for *_tab, count in tabs)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        refused = {"status": Invalid.status} if context.get("error") else {}
        return super().render_to_response(context, **{**refused, **kwargs})


def require_known(filters: Mapping[str, Any], *known: str) -> Mapping[str, Any]:
    """Return the filters if all are known to the search. Raises Invalid."""
    for name in filters:
        if name not in known:
            raise Invalid("This filter is for the list, not for a search: leave one of them out.", field=name)
    return filters


def count_page(page: Page[Any]) -> str:
    """Return how many rows a page has, with a plus where more follow."""
    return f"{len(page.results)}{'+' if page.next else ''}"


def describe_list(page: type[ListPage]) -> Callable[[ViewContext], str]:
    """Return what says how many rows a list has, by state where it has states: for an overview."""

    def describe(reader: ViewContext) -> str:
        view = page(reader=reader)
        if (counts := view.count_rows()) is not None:
            found = [f"{view.states[name]}: {n}" for name, n in counts.items() if n and name in view.states]
            return " · ".join(found) or _("none")
        rows = view.operation.run(**view.place, limit=MAX_PAGE_SIZE)
        return count_page(rows) if rows.results else _("none")

    return describe
