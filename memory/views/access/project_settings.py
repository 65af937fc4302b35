"""The overview of the settings, and pages with those of the project (``parts/project_settings.html``)."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.operations.projects import PROJECTS
from memory.views.frame.base import ProjectPage
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import SAFETY, Section, add_section, add_setting, sections_for
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage

SETTINGS = "settings"


def change_settings(*fields: str) -> dict[str, Action]:
    """Return the action of a page that changes some settings of the project."""
    saved = _("The settings are saved.")
    return {SETTINGS: Action(PROJECTS["partial_update"], saved, fields=fields, button=_("Save"))}


@add_page("settings", "settings")
class Settings(ProjectPage):
    """Every part of the settings with its present state, and the way there."""

    template_name, section, title = "settings.html", "settings", _("Settings")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = [one for one in sections_for(self.reader.actor) if one.place == "settings" and one.describe]
        rows = [(one, one.describe(self.reader)) for one in found if one.describe]
        return super().get_context_data(rows=rows, **kwargs)


class SettingsPage(ActionPage):
    """A page with a form of some of the project's settings, for maintainers."""

    @property
    def places(self) -> Mapping[str, Any]:
        return {**super().places, "project_slug": self.reader.project.slug}

    def find_values(self, name: str) -> Mapping[str, Any]:
        if name != SETTINGS:
            return super().find_values(name)
        return {field: getattr(self.reader.project, field) for field in self.actions[name].fields}


@add_page("members/second-factor", "require-second-factor")
class RequireSecondFactor(SettingsPage):
    """Whether members need a second factor, and the form that changes it."""

    template_name = "members/second_factor.html"
    section, scope, usual = "members", "admin", SETTINGS
    needs_now = False
    title = _("Second factor")
    actions = change_settings("require_second_factor")


@add_page("secrets", "secrets")
class Secrets(SettingsPage):
    """Whether secrets are taken out, the form that changes it, and the way to who changed it."""

    template_name = "secrets.html"
    section, scope, usual = "secrets", "admin", SETTINGS
    needs_now = False
    title = _("Secrets")
    actions = change_settings("redact_secrets")


def describe_secrets(reader: ViewContext) -> Any:
    """Return whether secrets are taken out, for the overview."""
    return _("taken out of what is written") if reader.project.redact_secrets else _("stored as they are")


add_section(Section("settings", _("Settings"), "gear", "", order=5, place="settings"))
add_setting("secrets", _("Secrets"), "lock", scope="admin", group=SAFETY, order=97, describe=describe_secrets)
