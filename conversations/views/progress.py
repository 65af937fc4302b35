"""Pages of work that goes on: a script asks how far it is, and gets the whole page at its end."""

from typing import Any

from django.http import HttpResponse
from django_htmx.http import HttpResponseClientRefresh

from memory.views.frame.base import ProjectPage


class ProgressPage(ProjectPage):
    """A page whose context says with ``is_active`` whether its work goes on."""

    @property
    def is_asked_by_script(self) -> bool:
        return bool(getattr(self.request, "htmx", False))

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        if self.is_asked_by_script and not context["is_active"]:
            return HttpResponseClientRefresh()
        return super().render_to_response(context, **options)
