"""The part of a page with settings of the project; include ``parts/project_settings.html``."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.operations.projects import PROJECTS
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
