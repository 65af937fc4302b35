"""The page on which maintainers decide whether secrets are taken out of what is written."""

from django.utils.translation import gettext_lazy as _

from memory.views.access.project_settings import SETTINGS, SettingsPage, change_settings
from memory.views.frame.frames import add_page


@add_page("secrets", "secrets")
class Secrets(SettingsPage):
    """Whether secrets are taken out, the form that changes it, and the way to who changed it."""

    template_name = "secrets.html"
    section, scope, usual = "secrets", "admin", SETTINGS
    needs_now = False
    title = _("Secrets")
    actions = change_settings("redact_secrets")
