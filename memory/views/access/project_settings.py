"""Pages with settings of the project; they include ``parts/project_settings.html``."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.operations.projects import PROJECTS
from memory.views.frame.frames import add_page
from memory.views.generic.actions import Action, ActionPage

SETTINGS = "settings"


def change_settings(*fields: str) -> dict[str, Action]:
    """Return the action of a page that changes some settings of the project."""
    saved = _("The settings are saved.")
    return {SETTINGS: Action(PROJECTS["partial_update"], saved, fields=fields, button=_("Save"))}


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
