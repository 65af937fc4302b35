"""Templates: the list with the form of a new one, and the page of one with what work begins with."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.fields.templates import TEMPLATE
from curation.engines.holdings import describe_branch
from curation.engines.templates.engine import TemplateEngine
from curation.models import Template, TemplateUse
from curation.operations.templates import TEMPLATES
from memory.engines.fields.base import Use
from memory.exceptions import Invalid
from memory.texts import split_names
from memory.views.base import ProjectPage
from memory.views.field_widgets import OptionalText, form_field
from memory.views.flash import flash_success
from memory.views.list_page import ALL
from memory.views.state_list import StateListPage

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
    extra_context = {
        "lead": gettext_lazy(
            "What new work begins from: a branch that holds what was learned, in versions that never change."
        ),
        "search": gettext_lazy("Filters, such as type:bugfix"),
        "drawing": "copy",
        "form_title": gettext_lazy("A new template"),
        "form_button": gettext_lazy("Make the template"),
        "none_fits": gettext_lazy("No template is in this state."),
        "none_yet": gettext_lazy(
            "A template keeps what a branch holds, so that the next work of its kind begins with it. Make one"
            " here, or by this command:"
        ),
        "show_all": gettext_lazy("Templates in use"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return template_engine.count_templates(actor=self.reader.actor)

    def build_form(self, data: Any = None) -> forms.Form:
        return build_template_form(data, self.reader.branch.name)

    def create_row(self, form: forms.Form) -> str:
        names = ("name", "description", "source_branch", "task_types")
        typed = {name: self.request.POST.get(name, "").strip() for name in names}
        made = template_engine.create_template(
            name=typed["name"],
            description=typed["description"],
            source_branch=typed["source_branch"] or self.reader.branch.name,
            task_types=split_names(typed["task_types"]),
            actor=self.reader.actor,
        )
        flash_success(self.request, _("The template was made."))
        return self.reader.url("template", made.name, branch="", at="")


def build_template_form(data: Any, branch: str) -> forms.Form:
    """Return the form of a new template."""
    form = forms.Form(data, initial={"source_branch": branch})
    form.fields |= {field.name: form_field(field) for field in TEMPLATE.select_fields(Use.FORM)}
    form.fields["description"].widget = forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    types = TEMPLATE["task_types"]
    form.fields["task_types"] = OptionalText(label=types.title, help_text=types.form_help)
    form.fields["source_branch"] = OptionalText(
        label=gettext_lazy("From branch"), help_text=gettext_lazy("The branch that it holds.")
    )
    return form


class TemplatePage(ProjectPage):
    """One template: at the left what work begins with, at the right its versions and its uses."""

    template_name = "template.html"
    section = "templates"

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
            source=found.versions[0].source.name,
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Begin a branch from the template, add a version, deprecate it, or say what came of a use."""
        self.reader.require_now()
        acts = {
            "begin": self._begin,
            "update": self._update,
            "deprecate": self._deprecate,
            "outcome": self._record_outcome,
        }
        action = request.POST.get("action", "").partition(":")[0]
        if action not in acts:
            raise Invalid("This cannot be done to a template.")
        return redirect(acts[action](request, {"name": self.kwargs["name"], "actor": self.reader.actor}))

    def _begin(self, request: HttpRequest, target: dict[str, Any]) -> str:
        made = template_engine.instantiate_template(
            target_branch=request.POST.get("target_branch", "").strip(), **target
        )
        flash_success(request, _("The branch holds all that the template holds."))
        return self.reader.url("branch", made.use.branch.name, branch="", at="")

    def _update(self, request: HttpRequest, target: dict[str, Any]) -> str:
        done = template_engine.update_template(
            new_source=request.POST.get("new_source", "").strip(), **target
        )
        flash_success(request, _("Version %(n)s was added.") % {"n": done.version})
        return request.path

    def _deprecate(self, request: HttpRequest, target: dict[str, Any]) -> str:
        template_engine.deprecate_template(reason=request.POST.get("reason", "").strip(), **target)
        flash_success(request, _("The template is deprecated: it is not suggested any more."))
        return request.path

    def _record_outcome(self, request: HttpRequest, target: dict[str, Any]) -> str:
        _action, outcome, branch = [*request.POST["action"].split(":", 2), "", ""][:3]
        template_engine.record_outcome(branch_name=branch, outcome=outcome, **target)
        flash_success(request, _("The outcome was noted."))
        return request.path
