"""The part of a page with settings of the project; include ``parts/project_settings.html``."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from memory.engines.access.projects import ProjectSettingsEngine
from memory.exceptions import Day1Error
from memory.models import Project
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.widgets import add_form_error

settings_engine = ProjectSettingsEngine()
SAVE = "settings"  # the value of ``do`` with which the form is sent


class SettingsPage(ProjectPage):
    """A page with a form of some of the project's settings, for maintainers; the engine checks them."""

    settings_form: type[forms.Form]

    def describe_settings(self, project: Project) -> dict[str, Any]:
        """Return the first values of the form."""
        return {name: getattr(project, name) for name in self.settings_form.base_fields}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if "settings" not in kwargs:
            kwargs["settings"] = self.settings_form(initial=self.describe_settings(self.reader.project))
        return super().get_context_data(**kwargs)

    def save_settings(self, request: HttpRequest) -> HttpResponse:
        self.reader.actor.require_scope("admin")
        form = self.settings_form(request.POST)
        if form.is_valid():
            try:
                settings_engine.update_project(actor=self.reader.actor, **form.cleaned_data)
                flash_success(request, _("The settings are saved."))
                return redirect(self.reader.url(self.section))
            except Day1Error as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(settings=form), status=400)
