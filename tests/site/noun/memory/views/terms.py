"""The page of a project's terms."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.terms import TERM
from memory.engines.graph.terms import TermEngine
from memory.views.frames import add_page
from memory.views.navigation import Section, add_section
from memory.views.noun_page import NounPage

add_section(Section("terms", _("Terms"), "facts", "", order=39))


@add_page("terms", "terms")
class Terms(NounPage):
    section, title, noun = "terms", _("Terms"), TERM

    def list_rows(self) -> Any:
        return TermEngine().list_terms(actor=self.reader.actor, **self.paging())

    def write_row(self, values: dict[str, Any]) -> Any:
        return TermEngine().write_term(actor=self.reader.actor, **values)
