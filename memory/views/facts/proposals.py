"""One fact of the review queue, such as a proposal, which a script updates in the list, with the messages."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from memory.exceptions import Day1Error
from memory.models import Fact


def asked_again(page: Any, fact: Fact, error: Day1Error | None = None, **context: Any) -> HttpResponse:
    """Render the fact with its buttons, and the reason why the last answer was refused."""
    typed, status = page.request.POST, error.status if error else 200
    context["is_answered"] = is_answered(fact, typed.get("action", ""))
    return render_proposal(
        page, "parts/proposal_again.html", fact, status, refusal=error, typed=typed, **context
    )


def is_answered(fact: Fact, action: str) -> bool:
    """Return whether an answer comes too late: a proposal was answered, another fact is out of use."""
    if action in ("accept", "refuse"):
        return fact.status != Fact.Status.CREATED
    return fact.status not in Fact.COMPARED


def render_answered(page: Any, fact: Fact, text: str = "") -> HttpResponse:
    return render_proposal(page, "parts/proposal_answered.html", fact, said=text or gettext("Answered"))


def render_proposal(page: Any, name: str, fact: Fact, status: int = 200, **context: Any) -> HttpResponse:
    fact.branch = page.reader.branch
    shown = {"reader": page.reader, "fact": fact, **context}
    return render(page.request, name, shown, status=status)
