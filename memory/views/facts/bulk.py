"""Actions on a list of facts: on the ticked ones, on all that match the filters, or on a single row."""

from collections.abc import Iterable
from typing import Any, NoReturn
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from memory.engines.facts.bulk_actions import MAX_FACTS, REFUSED, ActionEngine, Report
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.exceptions import Day1Error, Invalid, NotFound
from memory.models import Commit, Fact
from memory.views.facts.action_report import store_report
from memory.views.facts.fact_actions import RECOVERABLE_ERRORS
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_message
from memory.views.frame.view_context import build_undo_url
from memory.views.frame.widgets import read_id
from memory.views.text.error_text import counts_sentence, error_sentence

ONE = "one"  # the button of a row: its value is action:fact:version
BATCH_SIZE = 100


class BulkActions(ProjectPage):
    """A page with a list of facts to act on, and ``parse_filters`` where all that match can be chosen."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.apply_action(request)

    def parse_filters(self) -> FactFilter:
        """Parse the filters of the address. Raises Invalid, also on a page that has none."""
        refuse_all()

    def render_refused(self, error: Day1Error) -> HttpResponse:
        """Render the list again with its ticks, the input and the error."""
        context = self.get_context_data(refusal=error_sentence(error), typed=self.request.POST)
        return self.render_to_response(context, status=error.status)

    def render_done(
        self, text: str, commit: Commit | None = None, level: int = messages.SUCCESS
    ) -> HttpResponse:
        """Lead back to the list, with a message and a way to undo."""
        flash_message(self.request, text, level, build_undo_url(self.reader, commit))
        return HttpResponseRedirect(self.request.get_full_path())

    def apply_action(self, request: HttpRequest) -> HttpResponse:
        """Apply an action to the ticked facts, to all that match, or to the one of a row's button.

        A refusal as a whole leaves the list with its ticks and input.
        """
        try:
            action, versions = self._parse_action(request)
            read = {uid: version for uid, version in versions.items() if version}
            parameters = {"expected_versions": read, **parse_parameters(request, action)}
            report = self.run_action(action, versions, parameters)
        except (*RECOVERABLE_ERRORS, NotFound) as error:
            return self.render_refused(error)
        return self._render_report(request, report, action)

    def run_action(self, action: str, fact_ids: Iterable[UUID], parameters: dict[str, Any]) -> Report:
        """Apply an action through its engine; a list with further actions extends this."""
        return ActionEngine().apply_action(
            action=action, fact_ids=fact_ids, **self.reader.write_args, **parameters
        )

    def name_outcome(self, action: str, report: Report) -> str:
        """Return the name in OUTCOMES of what an action did to the facts that it was done to."""
        return action

    def _parse_action(self, request: HttpRequest) -> tuple[str, dict[UUID, int]]:
        if ONE in request.POST:
            action, _colon, ticked = request.POST[ONE].partition(":")
            return action, dict([read_tick(ticked)])
        action = request.POST.get("action", "")
        chosen = map(read_tick, request.POST.getlist("fact"))
        if not (versions := self._list_matching(request) if request.POST.get("all") else dict(chosen)):
            raise Invalid("Tick at least one fact first.", field="fact")
        return action, versions

    def _list_matching(self, request: HttpRequest) -> dict[UUID, int]:
        """Return the facts that match the filters of the address, up to the limit of one action."""
        if request.GET.get("q"):
            refuse_all()
        filters, cursor, found = self.parse_filters(), "", dict[UUID, int]()
        while len(found) < MAX_FACTS:
            page = FactEngine().list_facts(
                **self.reader.read_args, filters=filters, limit=BATCH_SIZE, cursor=cursor
            )
            found |= {fact.uid: fact.version for fact in page.results}
            if not (cursor := page.next or ""):
                break
        return found

    def _render_report(self, request: HttpRequest, report: Report, action: str) -> HttpResponse:
        store_report(request, report, self.name_outcome(action, report))
        level = messages.WARNING if report.count_outcome(REFUSED) else messages.SUCCESS
        return self.render_done(describe_report(report), report.commit, level)


def describe_report(report: Report) -> str:
    """Return the counts of an action's outcomes; of a single refused fact, why."""
    if len(report.results) == 1 and (error := report.results[0].error):
        return error_sentence(error)
    return counts_sentence(report)


def refuse_all() -> NoReturn:
    raise Invalid("All that match can only be chosen by filters, not by a search.", field="all")


def mark_ticked(facts: Any, request: HttpRequest) -> None:
    """Mark the facts that a refused form had ticked."""
    ticked = request.POST.getlist("fact")
    for fact in facts:
        fact.ticked = f"{fact.uid}:{fact.version}" in ticked


def has_proposals(facts: Any) -> bool:
    return any(fact.status == Fact.Status.CREATED for fact in facts)


def parse_parameters(request: HttpRequest, action: str) -> dict[str, Any]:
    """Parse the parameters of an action besides the facts."""
    requested: dict[str, Any] = {"reason": request.POST.get("reason", "").strip()}
    if action == "set_category":
        requested["category"] = request.POST.get("category", "").strip()
    if action == "supersede":
        text, by = (request.POST.get(name, "").strip() for name in ("new_fact_text", "replaced_by"))
        requested |= {"new_fact_text": text, "replaced_by": read_id(by) if by else None}
    return requested


def read_tick(text: str) -> tuple[UUID, int]:
    """Parse a ticked fact and the version that was shown. Raises Invalid."""
    uid, _colon, version = text.partition(":")
    try:
        return UUID(uid), int(version or 0)
    except ValueError:
        raise Invalid("This is not a fact of the list.", field="fact") from None
