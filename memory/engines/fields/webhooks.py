"""The fields of a webhook, and of an event that it did not take."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import MAKER, answered_time
from memory.engines.fields.keys import GRACE, KEY
from memory.engines.fields.types import Choice, Flag, Identifier, ListOf, Pattern, Reference, Whole
from memory.models.webhooks import Webhook

WRITTEN = READ | Use.CREATE | Use.UPDATE | Use.OPTION
KIND_PATTERN = r"[a-z_*?]+(\.[a-z_*?]+)?"
DAY_SECONDS = 86_400

SECRET_GRACE = GRACE.with_traits(
    help="How long the old secret signs, too.", default=DAY_SECONDS, label=_("The old secret ends")
)
EVENT = Field("event", Whole(), "The number of one event; all of them without it.")

WEBHOOK = Noun(
    "webhook",
    Field("id", Identifier(), use=READ),
    Field(
        "url",
        Reference(500, 1),
        "Where events are sent: https, on a public server.",
        WRITTEN,
        required=True,
        label=_("Address"),
        form_help=_("Of a program of yours that takes a POST: https, on a public server."),
        option=Option("where events are sent", metavar="URL"),
    ),
    Field(
        "kinds",
        ListOf(Pattern(60, 1, regex=f"^{KIND_PATTERN}$"), max_items=50),
        "Kinds of events, such as fact.write or merge_request.*; all of them when it is empty.",
        WRITTEN,
        label=_("Events"),
        form_help=_("Such as fact.write or merge_request.*; empty means every event."),
        option=Option("only these kinds, such as 'merge_request.*'; default: all", "--kind", "KIND"),
    ),
    Field(
        "branches",
        ListOf(KEY["branch_patterns"].type.item, max_items=50),
        "Names or patterns; every branch when it is empty.",
        WRITTEN,
        label=_("Branches"),
        form_help=_("Names or patterns such as main, task/*; empty means every branch."),
        option=Option("only these branches, such as 'task/*'; default: all", "--branch-pattern", "PATTERN"),
    ),
    Field(
        "state",
        Choice(Webhook.State.choices, reserved=(Webhook.State.GONE.value,)),
        "active sends, paused waits and loses nothing.",
        READ | Use.UPDATE | Use.OPTION,
        label=_("State"),
        form_choices=[one for one in Webhook.State.choices if one[0] != Webhook.State.GONE],
        answer_help="active; paused; gone: its receiver answered 410.",
        option=Option("active or paused", checked=True),
    ),
    Field("position", Whole(), use=READ, answer_help="The last event that is done with."),
    Field("tries", Whole(), use=READ, answer_help="How often the next event was sent in vain."),
    answered_time("next_try_at", null=True),
    answered_time("tried_at", null=True),
    Field("last_error", Reference(200), use=READ, answer_help="Why the last try failed, if it did."),
    answered_time("created_at"),
    *MAKER,
    commands=("webhooks", "addresses that events are sent to"),
)
WEBHOOK_FAILURE = Noun(
    "webhook_failure",
    Field("position", Whole(), use=READ, label=_("Event"), answer_help="The id of the event."),
    Field("kind", Reference(60), use=READ),
    Field("reason", Reference(200), use=READ, label=_("Reason"), answer_help="Why the last try failed."),
    answered_time("failed_at"),
    Field("is_due", Flag(), use=READ, answer_help="Whether it is about to be sent again."),
)
