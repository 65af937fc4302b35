"""What an action did to each fact, kept for the next page that is shown."""

from typing import Any

from django.http import HttpRequest

from memory.engines.actions import REFUSED, Report
from memory.views.sentences import outcome_sentence

KEPT = "day1_report"
TOLD = 200  # rows that are kept; the counts are of all


def tell_report(request: HttpRequest, report: Report, action: str) -> None:
    """Keep the result of each row, those that were refused first."""
    results = sorted(report.results, key=lambda one: one.outcome != REFUSED)[:TOLD]
    request.session[KEPT] = [
        {
            "id": str(one.fact_id), "name": one.essence or str(one.fact_id), "outcome": one.outcome,
            "message": outcome_sentence(one, action),
        }
        for one in results
    ]  # fmt: skip


def take_report(request: HttpRequest) -> list[dict[str, Any]]:
    """The results of the last action, once."""
    report: list[dict[str, Any]] = request.session.pop(KEPT, [])
    return report
