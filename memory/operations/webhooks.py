"""What may be done with webhooks. A secret is told once."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.access.webhooks import WebhookEngine
from memory.engines.fields.base import Use
from memory.engines.fields.orders import WEBHOOKS as ORDER
from memory.engines.fields.webhooks import WEBHOOK, WEBHOOK_FAILURE
from memory.models.webhooks import Webhook
from memory.operations.base import GONE, Answer, Resource, Row
from memory.operations.columns import Column


@declare_fields(WEBHOOK.select_fields(Use.ANSWER))
class WebhookShape(AnswerShape):
    """A webhook; its secret is not in it."""


class NewWebhookShape(WebhookShape):
    """A webhook with a new secret, which is told once; it is null in the answer to a repeated request."""

    secret = s.CharField(allow_null=True)


@declare_fields(WEBHOOK_FAILURE.select_fields(Use.ANSWER))
class WebhookFailureShape(AnswerShape):
    """An event that a webhook did not take in all its tries."""


render_webhook = build_renderer(WebhookShape)
render_failure = build_renderer(WebhookFailureShape)


def render_new(made: tuple[Webhook, str]) -> dict[str, Any]:
    """Return a webhook with its secret."""
    webhook, secret = made
    return {**render_webhook(webhook), "secret": secret}


engine = WebhookEngine()
ROW = Answer(WebhookShape, render_webhook)
NEW_SECRET = Answer(NewWebhookShape, render_new, codes=(201,), untold={"secret": None})

WEBHOOKS = Resource("webhooks", "webhook", row=Row("webhook_id", "pk", "uuid"), model=Webhook)
WEBHOOKS.add(
    "create",
    engine.create_webhook,
    "Make a webhook; its secret is told once",
    NEW_SECRET,
    body="WebhookInput",
    about="Where events are sent, and which.",
    fields=WEBHOOK.select_fields(Use.CREATE),
    example={"url": "https://example.com/day1", "kinds": ["merge_request.*"]},
)
WEBHOOKS.add("list", engine.list_webhooks, "List the webhooks, newest first", ROW, order=ORDER)
WEBHOOKS.show(
    "list",
    Column("id", head="id"),
    Column("url", _("Address"), "url"),
    Column("kinds", _("Events"), "events", "names", none=_("all")),
    Column("branches", _("Branches"), "branches", "names", none=_("all")),
    Column("state", _("State"), "state"),
    Column("tried_at", _("Last try"), "last try", "time", none=_("never")),
    Column("last_error", _("Error"), "error", none=_("none")),
)
WEBHOOKS.add("retrieve", engine.get_webhook, "Read a webhook", ROW)
WEBHOOKS.add(
    "partial_update",
    engine.update_webhook,
    "Change, pause or resume a webhook",
    ROW,
    body="WebhookUpdate",
    about="What is not given stays as it is.",
    fields=tuple(one.as_optional() for one in WEBHOOK.select_fields(Use.UPDATE)),
)
WEBHOOKS.add("destroy", engine.delete_webhook, "Delete a webhook", GONE)
WEBHOOKS.add(
    "rotate",
    engine.rotate_secret,
    "Give a webhook a new secret",
    NEW_SECRET,
    body="WebhookRotateInput",
    about="The grace period of the old secret.",
)
WEBHOOKS.add_read(
    "failures",
    engine.list_failures,
    "List the events that a webhook did not take",
    Answer(WebhookFailureShape, render_failure),
)
WEBHOOKS.show(
    "failures",
    Column("position", _("Event"), "event"),
    Column("kind", head="kind"),
    Column("reason", _("Reason"), "reason"),
    Column("failed_at", _("Last try"), "last try", "time"),
)
WEBHOOKS.add(
    "replay",
    engine.replay_failures,
    "Send events again that a webhook did not take",
    ROW,
    body="ReplayFailuresInput",
    about="One of the events, or all of them.",
)
