"""Search: the best facts for a query, their scores explained, and their cost in a prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory import ranking
from memory.engines.facts.assessment import exclusion_reasons, parse_expiry_time
from memory.engines.facts.filters import FactFilter
from memory.engines.search.engine import SearchEngine, SearchResult
from memory.engines.search.ranked import INCLUDE, TYPES, Hit
from memory.exceptions import Invalid
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import with_query
from memory.views.frame.widgets import parse_number
from memory.views.generic.filter_tokens import rename_typed
from memory.views.generic.filters_form import FilterForm
from memory.views.text.error_text import error_sentence
from memory.views.text.labels import SIGNALS

LIMIT = 10
NEAREST = 3  # shown where nothing is known
# The least evidence that is called by this word; what is below all of them is weak.
STRENGTHS = ((0.5, _("strong evidence")), (0.15, _("some evidence")))
WEAK = _("weak evidence")
TITLE = 45  # characters of a query in the title of the page
OTHERS = ("search_type", "limit", "budget", "include", "left_out")  # parameters that are no filters
# The parts of a score that lie between 0 and 1.
PARTS = (
    "mix",
    "keyword",
    "vector",
    "words",
    "least_word",
    "base",
    "reply",
    "session",
    "speaker",
    "window",
    "exact",
    "recency",
    "following",
)

Named = Sequence[tuple[str, float]]


@dataclass(frozen=True)
class ShownHit:
    """A hit on the page: bars for its parts, factors other than 1, and its cost in a prompt.

    ``share`` is its score as a part of the best one.
    """

    hit: Hit
    parts: Named
    factors: Named
    tokens: int
    share: float

    @classmethod
    def from_hit(cls, hit: Hit, best: float) -> "ShownHit":
        cost, share = ranking.token_cost(hit.fact.essence), hit.score / best if best > 0 else 0.0
        return cls(hit, *split_signals(hit.signals), cost, share)

    @property
    def is_weak(self) -> bool:
        return self.hit.evidence < min(least for least, _word in STRENGTHS)

    @property
    def strength(self) -> Any:
        return next((word for least, word in STRENGTHS if self.hit.evidence >= least), WEAK)


def split_signals(signals: Mapping[str, float]) -> tuple[Named, Named]:
    """Split signals into parts, shown as bars, and factors other than 1."""
    parts = [(name, signals[name]) for name in PARTS if name in signals]
    others = [(name, value) for name, value in signals.items() if name not in PARTS]
    return parts, [pair for pair in others if abs(pair[1] - 1) > 0.001]


def list_types() -> list[tuple[str, Any]]:
    """Return the ways to search as choices, the usual one first and empty."""
    usual, *others = TYPES
    return [("", SIGNALS[usual]), *((name, SIGNALS[name]) for name in others)]


class BoundsForm(forms.Form):
    """How to search, how many facts, and what they may cost in a prompt; the engine checks them."""

    search_type = forms.CharField(
        label=_("Search by"), required=False, widget=forms.Select(choices=list_types())
    )
    limit = forms.CharField(
        label=_("Maximum facts"),
        required=False,
        widget=forms.NumberInput(attrs={"min": 1, "max": 100, "placeholder": LIMIT}),
    )
    budget = forms.CharField(
        label=_("Tokens of a prompt"),
        required=False,
        widget=forms.NumberInput(attrs={"min": 1, "max": 999999, "placeholder": _("no limit")}),
    )

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(initial=dict(values.items()), auto_id="%s")


class Search(ProjectPage):
    reads_past = True
    template_name = "search.html"
    fragment_name = "parts/search_results.html"
    section = "search"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form, get = FilterForm(self.request, OTHERS), self.request.GET
        query, search = get.get("q", "").strip(), gettext("Search")
        context = super().get_context_data(
            form=form,
            query=query,
            title=f"{Truncator(query).chars(TITLE)} · {search}" if query else search,
            bounds=BoundsForm(get),
            flags=INCLUDE,
            included=get.getlist("include"),
            budget=get.get("budget", ""),
            **kwargs,
        )
        try:
            form.refuse_unknown()
            return context | (self._search_context(query, form) if query else {})
        except Invalid as error:  # the query stays in the form for correction
            return {**context, "refusal": error_sentence(error)}

    def _search_context(self, query: str, form: FilterForm) -> dict[str, Any]:
        get = self.request.GET
        found = self._run_search(query, form, parse_number(get.get("budget", "")), get.getlist("include"))
        hits = found.hits[:NEAREST] if found.note else found.hits
        best = max((hit.score for hit in hits), default=0.0)
        shown = [ShownHit.from_hit(hit, best) for hit in hits]
        sure = [one for one in shown if found.note or not one.is_weak]
        weak = [one for one in shown if not found.note and one.is_weak]
        left = self._left_out(query, form, found) if get.get("left_out") else None
        return {"found": found, "shown": [*sure, *weak], "sure": len(sure) or len(shown)} | {
            "cost": sum(one.tokens for one in shown),
            "left_out": left,
        }

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        words = rename_typed(request, FactFilter.CHECKS)
        if words.keys() - request.GET.keys():
            return HttpResponseRedirect(with_query(request.path, words))
        response = super().get(request, *args, **kwargs)
        if getattr(request, "htmx", False):
            response["HX-Replace-Url"] = with_query(request.path, words)
        return response

    def _run_search(
        self, query: str, form: FilterForm, budget: int | None, include: Sequence[str]
    ) -> SearchResult:
        return SearchEngine().search(
            query=query,
            **self.reader.read_args,
            filters=form.filters,
            include=include,
            search_type=self.request.GET.get("search_type") or "hybrid",
            max_tokens=budget,
            limit=parse_number(self.request.GET.get("limit", "")) or LIMIT,
        )

    def _left_out(self, query: str, form: FilterForm, found: SearchResult) -> list[tuple[Hit, list[str]]]:
        """Return hits that are excluded by default, with the reasons."""
        known = {hit.fact.uid for hit in found.hits}
        every, now = (
            self._run_search(query, form, None, INCLUDE),
            parse_expiry_time(self.reader.at),
        )
        reasons = [(hit, exclusion_reasons(hit.fact, now)) for hit in every.hits if hit.fact.uid not in known]
        return [(hit, why) for hit, why in reasons if why]
