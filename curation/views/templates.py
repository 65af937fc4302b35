"""Templates: the list with the form of a new one, and the page of one with what work begins with."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from django.utils.translation import gettext_lazy

from curation.engines.fields.templates import TEMPLATE
from curation.engines.prompt_lines import describe_branch
from curation.engines.templates.engine import TemplateEngine
from curation.models import Template, TemplateUse
from curation.operations.templates import TEMPLATES
from memory.engines.fields.base import Use
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage

template_engine = TemplateEngine()
State, Outcome = Template.State, TemplateUse.Outcome
STATES = {
    State.ACTIVE.value: gettext_lazy("In use"),
    State.DEPRECATED.value: gettext_lazy("Deprecated"),
    ALL: gettext_lazy("All"),
}


class Templates(StateListPage):
    """The list by state, and the form for a new one."""

    template_name = "templates.html"
    section = "templates"
    title = gettext_lazy("Templates")
    operation, states = TEMPLATES["list"], STATES
    actions = {
        "create": Action(
            TEMPLATES["create"],
            gettext_lazy("The template was made."),
            fields=(*TEMPLATE.field_names(Use.FORM), "source_branch"),
            opens=("template", "name"),
            button=gettext_lazy("Make the template"),
        )
    }
    extra_context = {
        "lead": gettext_lazy(
            "What new work begins from: a branch that holds what was learned, in versions that never change."
        ),
        "search": gettext_lazy("Filters, such as type:bugfix"),
        "drawing": "copy",
        "form_title": gettext_lazy("A new template"),
        "none_fits": gettext_lazy("No template is in this state."),
        "none_yet": gettext_lazy(
            "A template keeps what a branch holds, so that the next work of its kind begins with it. Make one"
            " here, or by this command:"
        ),
        "show_all": gettext_lazy("Templates in use"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return template_engine.count_templates(actor=self.reader.actor)

    def find_values(self, name: str) -> dict[str, Any]:
        return {"source_branch": self.reader.branch.name}


class TemplatePage(ActionPage):
    """One template: at the left what work begins with, at the right its versions and its uses."""

    template_name = "template.html"
    section = "templates"
    actions = {
        "begin": Action(
            TEMPLATES["instantiate"],
            gettext_lazy("The branch holds all that the template holds."),
            fields=("target_branch",),
            opens=("branch", "use.branch.name"),
            button=gettext_lazy("Start work from it"),
            drawing="branch",
        ),
        "update": Action(
            TEMPLATES["add_version"],
            gettext_lazy("Version %(version)s was added."),
            fields=("new_source",),
            button=gettext_lazy("Add the version"),
            drawing="plus",
        ),
        "deprecate": Action(
            TEMPLATES["deprecate"],
            gettext_lazy("The template is deprecated: it is not suggested any more."),
            fields=("reason",),
            button=gettext_lazy("Deprecate the template"),
            drawing="archived",
            tone="danger",
        ),
        "outcome": Action(
            TEMPLATES["outcome"], gettext_lazy("The outcome was noted."), takes=("outcome", "branch")
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        found = template_engine.get_template(name=self.kwargs["name"], actor=actor)
        may_change = template_engine.may_change(template=found.template, actor=actor)
        return super().get_context_data(
            title=found.template.name,
            template=found.template,
            versions=list(zip_longest(found.versions, found.versions[1:])),
            uses=found.uses,
            packet=describe_branch(found.versions[0].branch),
            may_change=self.reader.is_now and may_change,
            may_begin=self.reader.is_now
            and self.reader.can["write"]
            and found.template.state == State.ACTIVE,
            **kwargs,
        )

    def find_values(self, name: str) -> dict[str, Any]:
        if name != "update":
            return {}
        found = template_engine.get_template(name=self.kwargs["name"], actor=self.reader.actor)
        return {"new_source": found.versions[0].source.name}
