"""What is answered of webhooks."""

from rest_framework import serializers as s

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.webhooks import WEBHOOK, WEBHOOK_FAILURE


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
