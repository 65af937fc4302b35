"""The page on which maintainers require a second factor of the members."""

from django.utils.translation import gettext_lazy as _

from memory.views.access.project_settings import SETTINGS, SettingsPage, change_settings
from memory.views.frame.frames import add_page


@add_page("members/second-factor", "require-second-factor")
class RequireSecondFactor(SettingsPage):
    """Whether members need a second factor, and the form that changes it."""

    template_name = "members/second_factor.html"
    section, scope, usual = "members", "admin", SETTINGS
    needs_now = False
    title = _("Second factor")
    actions = change_settings("require_second_factor")
