"""API keys: made, with the token shown once, rotated, revoked."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.admin.forms import KeyForm
from memory.engines import cleaning as c
from memory.engines.keys import KeyEngine
from memory.exceptions import Day1Error, Invalid
from memory.views.forms import say
from memory.views.keys import GRACE


class Keys(DeskPage):
    template_name = "admin/day1/keys.html"
    section = "keys"
    scope = "admin"
    title = _("API keys")
    deeds = ("create", "rotate", "revoke")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = KeyEngine().list_keys(actor=self.reader.actor, **self.paging)
        return super().get_context_data(**{"form": KeyForm(), **kwargs}, page=page, graces=GRACE.items())

    def create(self, request: HttpRequest) -> HttpResponse:
        form = KeyForm(request.POST)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form), status=400)
        try:
            key, token = KeyEngine().create_key(actor=self.reader.actor, **form.wanted())
        except Day1Error as error:  # what was typed stays in the form
            say(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        return self.told(key, token)

    def rotate(self, request: HttpRequest) -> HttpResponse:
        grace = request.POST.get("grace", "0")
        if grace not in GRACE:
            raise Invalid("This is not one of the times that are offered.", field="grace")
        key, token = KeyEngine().rotate_key(
            key_id=key_of(request), actor=self.reader.actor, grace_seconds=int(grace)
        )
        return self.told(key, token)

    def revoke(self, request: HttpRequest) -> HttpResponse:
        key = KeyEngine().revoke_key(key_id=key_of(request), actor=self.reader.actor)
        return self.done(gettext("The key %(label)s opens nothing any more.") % {"label": key.label})

    def told(self, key: Any, token: str) -> HttpResponse:
        """The page itself is the answer: the token is kept nowhere, not even for a redirect."""
        response = self.render_to_response(self.get_context_data(new_key=key, token=token), status=201)
        response.headers["Cache-Control"] = "no-store"
        return response


def key_of(request: HttpRequest) -> UUID:
    """The key that a form is about. Raises Invalid."""
    return c.identifier("key", request.POST.get("key", ""))
