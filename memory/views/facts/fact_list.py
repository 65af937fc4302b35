"""The list of facts: filtered, searched, and changed one by one or many at once by those who may."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.facts.bulk_actions import MAX_FACTS
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.search.engine import SearchEngine
from memory.engines.search.ranked import INCLUDE
from memory.engines.versions.branch_access import holds_untrusted
from memory.exceptions import Invalid
from memory.models import Branch, Fact
from memory.operations.facts import FACTS
from memory.views.facts.action_report import take_report
from memory.views.facts.bulk import BulkActions, has_proposals, mark_ticked
from memory.views.facts.fact_form import CATEGORIES
from memory.views.frame.base import PAGE
from memory.views.generic.exports import ExportedList
from memory.views.generic.filter_tokens import TokenFilters
from memory.views.generic.filters_form import REPEATABLE, TOKEN_CHOICES, FilterForm
from memory.views.text.error_text import error_sentence

OTHERS = ("everything", "inherited", "shown")  # parameters of the list that are no filters


@dataclass
class Ranked:
    """The facts that a search found, as one page; each has its ``score``."""

    results: list[Fact]
    note: str
    nearest: str
    next: str | None = None
    previous: str | None = None


class Facts(BulkActions, TokenFilters, ExportedList):
    reads_past = True
    operation = FACTS["list"]
    repeatable_fields, token_choices = REPEATABLE, TOKEN_CHOICES
    template_name = "facts.html"
    fragment_name = "parts/fact_rows.html"
    section = "facts"
    is_live = True
    title = _("Facts")

    @property
    def token_fields(self) -> Collection[str]:
        return FactFilter.CHECKS.keys()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query = self.request.GET.get("q", "").strip()
        shown: dict[str, Any] = {"form": self.form, "query": query, "report": take_report(self.request)}
        try:
            _, text = self.typed_line  # refuses an unknown filter
            page: Any = self._load_page(text, self.form.filters)
            mark_ticked(page.results, self.request)
            mark_inherited(page.results, self.reader.branch)
            shown |= {"page": page, "proposals": has_proposals(page.results)}
        except Invalid as error:  # the query stays in the form for correction
            shown["error"] = error_sentence(error)
        shown["everything"] = self._searches_all
        return super().get_context_data(**shown, most=MAX_FACTS, categories=CATEGORIES, **kwargs)

    def _load_page(self, text: str, filters: FactFilter) -> Any:
        return self._search_facts(text, filters) if text else self._list_facts(filters)

    @cached_property
    def form(self) -> FilterForm:
        return FilterForm(self.request, OTHERS, {"own": "true"} if self.leaves_inherited else {})

    @property
    def leaves_inherited(self) -> bool:
        """Whether what the branch shows of others is left out, unless the address asks for it: on a branch
        that nobody has taken over yet, it would be taken for what has come.
        """
        return self.is_untrusted and not {"own", "inherited"} & self.request.GET.keys()

    @cached_property
    def is_untrusted(self) -> bool:
        return not self.reader.is_main and holds_untrusted(self.reader.branch.lineage()[:1])

    @property
    def _searches_all(self) -> bool:
        """Whether a search also looks among what searches leave out."""
        return bool(self.request.GET.get("everything"))

    def load_exported(self) -> Any:
        """Return a page of the filtered facts; with words, what their search found."""
        text = self.typed_line[1]
        return self._search_facts(text, self.form.filters) if text else self._list_facts(self.form.filters)

    def _list_facts(self, filters: FactFilter) -> Any:
        return FactEngine().list_facts(**self.reader.read_args, filters=filters, **self.paging())

    def _search_facts(self, query: str, filters: FactFilter) -> Ranked:
        include = INCLUDE if self._searches_all or filters.status or filters.verification_status else ()
        found = SearchEngine().search(
            query=query, **self.reader.read_args, filters=filters, include=include, limit=PAGE
        )
        for hit in found.hits:
            hit.fact.score = hit.score
        return Ranked([hit.fact for hit in found.hits], found.note, found.nearest)

    def parse_filters(self) -> FactFilter:
        return self.form.filters


def mark_inherited(facts: Iterable[Fact], branch: Branch) -> None:
    """Mark the facts that a branch shows of those that it was made of."""
    for fact in facts:
        fact.inherited = fact.branch_id != branch.pk
