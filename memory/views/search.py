"""Search: the best memories for a question, why each is there, and what it would cost a prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse

from memory import ranking
from memory.engines.belief import left_out, time_of
from memory.engines.recalls import PASSING
from memory.engines.search import INCLUDE, TYPES, Found, Hit, SearchEngine
from memory.exceptions import Invalid
from memory.views.base import ProjectPage
from memory.views.filtering import FilterForm
from memory.views.forms import number
from memory.views.reader import with_query
from memory.views.sentences import sentence

LIMIT = 10
# The parts of a score that lie between 0 and 1.
PARTS = ("keyword", "vector", "words", "recency", "reply", "following")

Named = Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Shown:
    """A hit as the page shows it: bars for the parts, factors that are not 1, what it costs a prompt."""

    hit: Hit
    place: int
    parts: Named
    factors: Named
    tokens: int

    @classmethod
    def of(cls, hit: Hit, place: int) -> "Shown":
        return cls(hit, place, *apart(hit.signals), ranking.cost(hit.fact.essence))


def apart(signals: Mapping[str, float]) -> tuple[Named, Named]:
    """The parts of a score that are shown as bars, and the factors that change it."""
    parts = [(name, signals[name]) for name in PARTS if name in signals]
    others = [(name, value) for name, value in signals.items() if name not in PARTS]
    return parts, [pair for pair in others if abs(pair[1] - 1) > 0.001]


class Search(ProjectPage):
    template_name = "search.html"
    fragment_name = "parts/search_results.html"
    section = "search"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form, get = FilterForm(self.request), self.request.GET
        query = get.get("q", "").strip()
        context = super().get_context_data(
            form=form, query=query, types=TYPES, flags=INCLUDE, included=get.getlist("include"),
            budget=get.get("budget", ""), **kwargs,
        )  # fmt: skip
        try:
            return context | (self._answer(query, form) if query else {})
        except Invalid as error:  # what was asked for stays in the form, to be mended
            return {**context, "refusal": sentence(error)}

    def _answer(self, query: str, form: FilterForm) -> dict[str, Any]:
        get = self.request.GET
        found = self._search(query, form, number(get.get("budget", "")), get.getlist("include"))
        shown = [Shown.of(hit, place) for place, hit in enumerate(found.hits, 1)]
        left = self._left_out(query, form, found) if get.get("left_out") else None
        return {"found": found, "shown": shown, "cost": sum(one.tokens for one in shown), "left_out": left}

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().get(request, *args, **kwargs)
        if request.htmx:  # type: ignore[attr-defined]
            words = {name: values for name, values in request.GET.lists() if any(values)}
            response["HX-Replace-Url"] = with_query(request.path, words)
        return response

    def _search(
        self, query: str, form: FilterForm, budget: int | None, include: Sequence[str], passing: bool = False
    ) -> Found:
        """What is asked while somebody types, or in passing, is no recall."""
        actor = self.reader.actor
        if passing or self.request.htmx:  # type: ignore[attr-defined]
            actor = replace(actor, surface=PASSING)
        return SearchEngine().search(
            query=query, **{**self.reader.where, "actor": actor}, filters=form.filters, include=include,
            search_type=self.request.GET.get("search_type") or "hybrid", max_tokens=budget,
            limit=number(self.request.GET.get("limit", "")) or LIMIT,
        )  # fmt: skip

    def _left_out(self, query: str, form: FilterForm, found: Found) -> list[tuple[Hit, list[str]]]:
        """What the question would find too, and why it is not shown."""
        known = {hit.fact.uid for hit in found.hits}
        every, now = self._search(query, form, None, INCLUDE, passing=True), time_of(self.reader.at)
        reasons = [(hit, left_out(hit.fact, now)) for hit in every.hits if hit.fact.uid not in known]
        return [(hit, why) for hit, why in reasons if why]
