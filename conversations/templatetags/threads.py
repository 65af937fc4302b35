"""Links at each message of a thread, which a page has many of."""

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as lazy

register = template.Library()
# A page that goes on from a message: its name, what its link says, and says to who hears it.
WAYS_ON = (
    ("fork", lazy("Fork"), lazy("Fork at message %(n)s")),
    ("replay-new", lazy("Replay"), lazy("Replay from message %(n)s")),
    ("pick", lazy("Pick"), lazy("Pick from message %(n)s on")),
)


@register.simple_tag(takes_context=True)
def turn_links(context: template.Context, message: Any) -> SafeString:
    """Render the number of a message, and where one can go on from it."""
    reader, talk = context["reader"], context.get("one")
    own = format_html('<a href="{}">#{}</a>', reader.url("message", message.uid), message.sequence_num)
    ways: Any = ()
    if talk and reader.allowed_now["write"]:
        ways = (
            (reader.url(name, talk.uid, message=message.uid), label % {"n": message.sequence_num}, text)
            for name, text, label in WAYS_ON
        )
    links = format_html_join(" ", '<a href="{}" aria-label="{}">{}</a>', ways)
    return format_html('<span class="turn-links">{} {}</span>', own, links)
