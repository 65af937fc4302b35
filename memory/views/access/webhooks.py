"""Webhooks: make one, with the secret shown once; what it did not take, sent again; for maintainers."""

from functools import cached_property
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memory.engines.access.webhooks import WebhookEngine
from memory.engines.fields.webhooks import DAY_SECONDS, EVENT
from memory.models.webhooks import Webhook
from memory.operations.webhooks import WEBHOOKS
from memory.views.frame.base import ProjectPage
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import SHARE, add_setting
from memory.views.generic.actions import Action, ActionPage, ConfirmPage
from memory.views.generic.list_page import describe_list
from memory.views.generic.state_list import StateListPage

STATES: dict[Any, Any] = dict(Webhook.State.choices)
WRITTEN = ("url", "kinds", "branches")


class WebhookPage(ActionPage):
    scope, section, needs_now = "admin", "webhooks", False

    @cached_property
    def webhook(self) -> Webhook:
        """Return the webhook of the address."""
        return WebhookEngine().get_webhook(webhook_id=self.kwargs["webhook_id"], actor=self.reader.actor)

    def render_secret(self, webhook: Webhook, secret: str) -> HttpResponse:
        """Render the page with a new secret, which is shown only once and never cached."""
        self.template_name = "webhooks/made.html"
        context = ProjectPage.get_context_data(
            self, webhook=webhook, secret=secret, title=_("The new secret")
        )
        response = self.render_to_response(context, status=201)
        response["Cache-Control"] = "no-store"
        return response


@add_page("webhooks", "webhooks")
class Webhooks(WebhookPage, StateListPage):
    """The webhooks of the project, and a form for a new one."""

    template_name, title = "webhooks/list.html", lazy("Webhooks")
    operation = WEBHOOKS["list"]
    actions = {"create": Action(WEBHOOKS["create"], fields=WRITTEN, button=lazy("Make the webhook"))}
    extra_context = {
        "lead": lazy("Your programs that Day1 sends events to: who wrote, merged or made a branch."),
        "drawing": "link",
        "form_title": lazy("New webhook"),
        "none_fits": lazy("No webhook matches."),
        "show_all": lazy("Show all webhooks"),
        "none_yet": lazy("No program gets events yet."),
    }

    @property
    def may_create(self) -> bool:
        return self.reader.can["admin"]

    def render_done(self, name: str, result: Any) -> HttpResponse:
        return self.render_secret(*result)


@add_page("webhooks/<uuid:webhook_id>", "webhook")
class WebhookDetail(WebhookPage):
    """One webhook: how it stands, what it did not take, and the forms that change it."""

    template_name, usual = "webhooks/detail.html", "update"
    actions = {
        "update": Action(
            WEBHOOKS["partial_update"],
            lazy("The webhook is changed."),
            fields=(*WRITTEN, "state"),
            button=lazy("Save"),
        ),
        "rotate": Action(WEBHOOKS["rotate"], fields=("grace_seconds",), button=lazy("Make a new secret")),
        "replay": Action(
            WEBHOOKS["replay"],
            lazy("They are sent again, each once."),
            button=lazy("Send all of them again"),
            tone="",
        ),
        "again": Action(WEBHOOKS["replay"], lazy("It is sent again, once."), takes=("event",)),
    }

    def find_values(self, name: str) -> dict[str, Any]:
        if name == "rotate":
            return {"grace_seconds": DAY_SECONDS}
        return {one: getattr(self.webhook, one) for one in (*WRITTEN, "state")} if name == "update" else {}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        failures = WebhookEngine().list_failures(
            webhook_id=self.webhook.pk, actor=self.reader.actor, **self.paging()
        )
        error = self.webhook.last_error
        words = {"state": STATES[self.webhook.state], "error": _(error) if error else ""}
        shown = {"webhook": self.webhook, "page": failures, **words}
        return super().get_context_data(title=self.webhook.url, **shown, **kwargs)

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        if "event" in values:  # stands behind the name of a button, as a text
            values = {**values, "event": EVENT.type.read_text(values["event"])}
        return super().carry_out(name, values)

    def render_done(self, name: str, result: Any) -> HttpResponse:
        return self.render_secret(*result) if name == "rotate" else super().render_done(name, result)


@add_page("webhooks/<uuid:webhook_id>/delete", "delete-webhook")
class DeleteWebhook(WebhookPage, ConfirmPage):
    title = lazy("Delete a webhook")
    actions = {
        "confirm": Action(
            WEBHOOKS["destroy"],
            lazy("The webhook is deleted."),
            opens=("webhooks",),
            button=lazy("Delete"),
            tone="danger",
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        lead = _("%(url)s gets no more events, and what it did not take can be sent no more.")
        return super().get_context_data(lead=lead % {"url": self.webhook.url}, **kwargs)


add_setting(
    "webhooks",
    lazy("Webhooks"),
    "signal",
    scope="admin",
    group=SHARE,
    order=78,
    describe=describe_list(Webhooks),
)
