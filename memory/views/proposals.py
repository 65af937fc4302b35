"""One proposal in the review queue, which a script updates in the list, with the messages."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from memory.engines.facts.engine import FactEngine
from memory.engines.support import validation as c
from memory.exceptions import Day1Error
from memory.models import Fact


def proposal_asked(request: HttpRequest) -> UUID | None:
    """Return the id of the single proposal that a script requests, or None. Raises Invalid."""
    requested = request.GET.get("proposal", "") if getattr(request, "htmx", False) else ""
    return c.parse_uuid("proposal", requested) if requested else None


def show_proposal(page: Any, fact_id: UUID) -> HttpResponse:
    """Render a proposal as it is on its branch now. Raises NotFound."""
    fact = FactEngine().get_fact(fact_id=fact_id, **page.reader.read_args)
    return asked_again(page, fact) if fact.status == Fact.Status.CREATED else render_answered(page, fact)


def asked_again(page: Any, fact: Fact, error: Day1Error | None = None) -> HttpResponse:
    """Render the proposal with its buttons, and the reason why the last answer was refused."""
    typed = page.request.POST
    return render_proposal(
        page, "parts/proposal_again.html", fact, error.status if error else 200, refusal=error, typed=typed
    )


def render_answered(page: Any, fact: Fact, text: str = "") -> HttpResponse:
    return render_proposal(page, "parts/proposal_answered.html", fact, said=text or gettext("Answered"))


def render_proposal(page: Any, name: str, fact: Fact, status: int = 200, **context: Any) -> HttpResponse:
    fact.branch = page.reader.branch
    shown = {"reader": page.reader, "fact": fact, **context}
    return render(page.request, name, shown, status=status)
