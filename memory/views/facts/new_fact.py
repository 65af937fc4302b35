"""The page that writes a new fact; its form stands on Home and Facts too."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memory.engines.facts.batch import WriteResult
from memory.models import Fact
from memory.operations.facts import FACTS
from memory.views.frame.frames import add_page
from memory.views.generic.actions import Action, ActionPage


def tell_written(done: WriteResult) -> str:
    """Return what became of a text: a new fact, a proposal, or a fact that was there already."""
    if not done.created:
        return _("This was known already: it is confirmed.")
    return (
        _("Proposed: a curator accepts it or not.")
        if done.fact.status == Fact.Status.CREATED
        else _("Remembered.")
    )


@add_page("facts/new", "fact-new")
class NewFact(ActionPage):
    template_name = "fact_new.html"
    section, scope, title = "facts", "write", lazy("New fact")
    actions = {
        "create": Action(
            FACTS["create"],
            tell_written,
            fields=("fact_text", "category", "tags", "priority"),
            button=lazy("Remember it"),
            drawing="plus",
        )
    }

    def find_next(self, action: Action, result: Any) -> str:
        return self.reader.url("fact", result.fact.uid)
