"""A list with the form for a new row above it."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.views.generic.actions import ActionPage
from memory.views.generic.list_page import ListPage


class StateListPage(ActionPage, ListPage):
    """A list, and the form of its action ``form_action``; its ``extra_context`` has the words."""

    template_name = "state_list.html"
    form_action = "create"
    extra_context = {"drawing": "search", "none_yet": _("Nothing.")}

    @property
    def may_create(self) -> bool:
        return self.reader.can["write"] and self.reader.is_now

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = self.forms.get(self.form_action)
        shown = {"may_create": self.may_create, "is_form_open": form is not None and form.is_bound}
        return super().get_context_data(**shown, **kwargs)
