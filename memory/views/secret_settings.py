"""The page on which maintainers decide whether secrets are taken out of what is written."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from memory.views.frames import add_page
from memory.views.project_settings import SettingsPage


class SecretsForm(forms.Form):
    redact_secrets = forms.BooleanField(
        label=_("Secrets are taken out"),
        required=False,
        help_text=_("Passwords, tokens and keys are taken out of whatever is written. Off: they are stored."),
    )


@add_page("secrets", "secrets")
class Secrets(SettingsPage):
    """Whether secrets are taken out, the form that changes it, and the way to who changed it."""

    template_name = "secrets.html"
    section, scope = "secrets", "admin"
    title = _("Secrets")
    settings_form = SecretsForm

    def post(self, request: HttpRequest, **kwargs: str) -> HttpResponse:
        return self.save_settings(request)
