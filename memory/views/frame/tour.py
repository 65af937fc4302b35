"""The guided tour: five pages of a project, each with a few words; a link leads on, another out of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.views.frame.view_context import ViewContext
from memory.views.frame.widgets import parse_number

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

STEPS: tuple[tuple[str, "StrOrPromise", "StrOrPromise"], ...] = (
    (
        "home",
        _("Home: is the memory healthy?"),
        _("What needs you, what agents learned, and who was active. Each number leads to what it counts."),
    ),
    (
        "activity",
        _("Activity: what was done"),
        _("What each agent did without a break is one line, with the facts that came of it. Follow a fact."),
    ),
    (
        "facts",
        _("Facts: what is remembered"),
        _("Say which are true: v verifies the marked one, i rejects it, u takes that back. j and k move."),
    ),
    (
        "search",
        _("Search: what an agent is told"),
        _("Ask as an agent would. Each hit says why it was found, and how many tokens it adds to a prompt."),
    ),
    (
        "branches",
        _("Branches: other lines of the memory"),
        _(
            "Agents try things on branches, and merge what proved right. The strip in the bar reads any of"
            " them as it was."
        ),
    ),
)


@dataclass(frozen=True)
class TourStep:
    number: int
    total: int
    title: "StrOrPromise"
    text: "StrOrPromise"
    next_url: str  # "" for the last one
    leave_url: str


def find_step(request: HttpRequest, reader: ViewContext) -> TourStep | None:
    """Return the step that ?tour= names; None where there is none."""
    number = parse_number(request.GET.get("tour", ""), digits=1)
    if not number or number > len(STEPS):
        return None
    name, title, text = STEPS[number - 1]
    following = reader.url(STEPS[number][0], tour=number + 1) if number < len(STEPS) else ""
    return TourStep(number, len(STEPS), title, text, following, reader.url(name))
