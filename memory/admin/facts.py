"""The list of facts: searched, filtered, and changed one by one or many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.admin.filters import FIRST, MORE, form_of, said
from memory.admin.reports import take_report, tell_report
from memory.engines.actions import MOST, REFUSED, ActionEngine, Report
from memory.engines.facts import FactEngine
from memory.engines.filters import FactFilter
from memory.engines.search import INCLUDE, SearchEngine
from memory.exceptions import Invalid, NotFound
from memory.models import Fact
from memory.views.editing import CATEGORIES
from memory.views.fact_actions import KEEPING
from memory.views.sentences import counts_sentence, sentence

ONE = "one"  # a button of a row: its value is action:fact:version
FOUND = 50


@dataclass
class Listed:
    """The rows of a page; each has its ``score`` where they were searched."""

    facts: Sequence[Fact]
    next: str | None = None
    previous: str | None = None
    searched: bool = False
    error: str = ""


class Facts(DeskPage):
    template_name = "admin/day1/facts.html"
    section = "facts"
    title = _("Facts")
    deeds = ("act",)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query = self.request.GET.get("q", "").strip()
        listed = self._listed(query)
        form = form_of(self.request.GET)
        ticked = self.request.POST.getlist("fact")
        for fact in listed.facts:
            fact.ticked = f"{fact.uid}:{fact.version}" in ticked  # type: ignore[attr-defined]
        return super().get_context_data(
            listed=listed, query=query, everything=self._everything, report=take_report(self.request),
            first=[form[name] for name in FIRST], more=[form[name] for name in MORE],
            more_said=any(self.request.GET.get(name) for name in MORE),
            set=len(said(self.request.GET)), filtered=bool(query or said(self.request.GET)), most=MOST,
            categories=CATEGORIES, **kwargs,
        )  # fmt: skip

    @property
    def _everything(self) -> bool:
        return bool(self.request.GET.get("everything"))

    def _listed(self, query: str) -> Listed:
        try:
            filters = FactFilter.of(said(self.request.GET))
            return (
                self._found(query, filters)
                if query
                else self._page(filters, self.request.GET.get("cursor", ""))
            )
        except Invalid as error:  # what was asked for stays in the form, to be mended
            return Listed([], error=sentence(error))

    def _page(self, filters: FactFilter, cursor: str, limit: int = FOUND) -> Listed:
        page = FactEngine().list_facts(**self.reader.where, filters=filters, limit=limit, cursor=cursor)
        return Listed(page.results, page.next, page.previous)

    def _found(self, query: str, filters: FactFilter) -> Listed:
        include = INCLUDE if self._everything or filters.status or filters.verification_status else ()
        found = SearchEngine().search(
            query=query, **self.reader.where, filters=filters, include=include, limit=FOUND
        )
        for hit in found.hits:
            hit.fact.score = hit.score  # type: ignore[attr-defined]
        return Listed([hit.fact for hit in found.hits], searched=True)

    # ---- changing ------------------------------------------------------------------------------

    def act(self, request: HttpRequest) -> HttpResponse:
        """One action on the facts that are ticked, on all that match, or on the one of a row's button.

        What is refused as a whole leaves the list with its ticks and what was typed.
        """
        try:
            action, versions = self._asked(request)
            report = ActionEngine().act(
                action=action, fact_ids=versions, expected_versions={k: v for k, v in versions.items() if v},
                **self.reader.target, **wishes(request, action),
            )  # fmt: skip
        except (*KEEPING, NotFound) as error:
            context = self.get_context_data(refusal=sentence(error), typed=request.POST)
            return self.render_to_response(context, status=error.status)
        return self.report(report, action)

    def _asked(self, request: HttpRequest) -> tuple[str, dict[UUID, int]]:
        if ONE in request.POST:
            action, _colon, ticked = request.POST[ONE].partition(":")
            return action, dict([read_tick(ticked)])
        action = request.POST.get("action", "")
        chosen = map(read_tick, request.POST.getlist("fact"))
        if not (versions := self._matching() if request.POST.get("all") else dict(chosen)):
            raise Invalid("Tick at least one fact first.", field="fact")
        return action, versions

    def _matching(self) -> dict[UUID, int]:
        """All facts that the filters in the address leave, at most so many as one action may have."""
        if self.request.GET.get("q"):
            raise Invalid("All that match can only be chosen by filters, not by a search.", field="all")
        filters, cursor, found = FactFilter.of(said(self.request.GET)), "", dict[UUID, int]()
        while len(found) < MOST:
            listed = self._page(filters, cursor, limit=100)
            found |= {fact.uid: fact.version for fact in listed.facts}
            if not (cursor := listed.next or ""):
                break
        return found

    def report(self, report: Report, action: str) -> HttpResponse:
        tell_report(self.request, report, action)
        level = messages.WARNING if report.count(REFUSED) else messages.SUCCESS
        return self.done(counts_sentence(report), report.commit, level)


def wishes(request: HttpRequest, action: str) -> dict[str, Any]:
    """What an action takes from the form besides the facts."""
    wanted: dict[str, Any] = {"reason": request.POST.get("reason", "").strip()}
    if action == "set_category":
        wanted["category"] = request.POST.get("category", "").strip()
    if action == "supersede":
        text, by = (request.POST.get(name, "").strip() for name in ("new_fact_text", "replaced_by"))
        wanted |= {"new_fact_text": text, "replaced_by": read_id(by) if by else None}
    return wanted


def read_id(text: str) -> UUID:
    """An id, or the last part of the address of a fact."""
    try:
        return UUID(text.partition("?")[0].rstrip("/").rpartition("/")[2])
    except ValueError:
        raise Invalid("This is not the id of a fact.", field="replaced_by") from None


def read_tick(text: str) -> tuple[UUID, int]:
    """A ticked fact and the version that was shown."""
    uid, _colon, version = text.partition(":")
    try:
        return UUID(uid), int(version or 0)
    except ValueError:
        raise Invalid("This is not a fact of the list.", field="fact") from None
