"""The press that deletes what a page shows, and takes the deletion back."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.operations.base import Resource
from memory.views.generic.actions import Action, ActionPage


def build_deletion(resource: Resource, opens: str) -> dict[str, Action]:
    """Return the actions that delete the row of a page, which opens a list, and bring it back."""
    return {
        "delete": Action(resource["destroy"], _("It is deleted."), opens=(opens,), undone_by="restore"),
        "restore": Action(resource["restore"], _("It is back.")),
    }


class DeletablePage(ActionPage):
    """A page whose row can be deleted: its template includes ``parts/delete.html``."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_allowed = self.reader.is_now and self.reader.can["write"]
        return super().get_context_data(**{"may_delete": is_allowed, **kwargs})
