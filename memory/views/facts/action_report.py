"""The outcome of an action for each fact, stored for the next page view."""

from typing import Any

from django.http import HttpRequest

from memory.engines.facts.bulk_actions import REFUSED, Report
from memory.views.text.error_text import outcome_sentence

SESSION_KEY = "day1_report"
MAX_REPORTED_ROWS = 200  # stored rows; the counts are of all


def store_report(request: HttpRequest, report: Report, action: str) -> None:
    """Store the result of each row, refused ones first."""
    results = sorted(report.results, key=lambda one: one.outcome != REFUSED)[:MAX_REPORTED_ROWS]
    request.session[SESSION_KEY] = [
        {
            "id": str(one.fact_id),
            "name": one.essence or str(one.fact_id),
            "outcome": one.outcome,
            "message": outcome_sentence(one, action),
        }
        for one in results
    ]


def take_report(request: HttpRequest) -> list[dict[str, Any]]:
    """Take the results of the last action; a second call returns []."""
    report: list[dict[str, Any]] = request.session.pop(SESSION_KEY, [])
    return report
