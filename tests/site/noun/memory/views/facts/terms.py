"""The page of a project's terms."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import Use
from memory.engines.fields.terms import TERM
from memory.operations.terms import TERMS
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import Section, add_section
from memory.views.generic.actions import Action
from memory.views.generic.state_list import StateListPage

add_section(Section("terms", _("Terms"), "facts", "", order=39))


@add_page("terms", "terms")
class Terms(StateListPage):
    section, title, operation = "terms", _("Terms"), TERMS["list"]
    actions = {"create": Action(TERMS["create"], _("Saved."), TERM.field_names(Use.FORM), button=_("Add"))}
