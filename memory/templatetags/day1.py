"""Tags of the pages: addresses that keep branch and time, icons, badges, times."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.template.defaultfilters import stringfilter, truncatechars
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from memory.models import Fact
from memory.views.reader import moved, with_query
from memory.views.toasts import UNDO
from memory.views.wording import SURFACES, WORDS

register = template.Library()

# One meaning, one colour and one icon everywhere: (icon, word). The colour is the class of the same name.
STATES = {
    "verified": ("verified", WORDS["verified"]),
    "unverified": ("unverified", WORDS["unverified"]),
    "invalidated": ("invalidated", WORDS["invalidated"]),
    "superseded": ("superseded", WORDS["superseded"]),
    "archived": ("archived", WORDS["archived"]),
    "created": ("proposal", WORDS["created"]),
    "active": ("active", WORDS["active"]),
    "done": ("verified", WORDS["done"]),
    "conflict": ("conflict", gettext_lazy("conflict")),
    "agent": ("agent", gettext_lazy("agent")),
    "person": ("person", gettext_lazy("person")),
    "expired": ("clock", gettext_lazy("expired")),
    "outdated": ("clock", gettext_lazy("no longer valid")),
}
# What a row's buttons do: (icon, title).
DEEDS = {
    "verify": ("verified", gettext_lazy("Verify")),
    "invalidate": ("invalidated", gettext_lazy("Invalidate")),
    "restore": ("undo", gettext_lazy("Restore")),
    "archive": ("archived", gettext_lazy("Archive")),
}
# Who acts, by the kind of an actor or of a commit's.
MAKERS = {"key": "agent", "user": "person", "local": "person", "system": "agent"}


@register.simple_tag(takes_context=True)
def page(context: template.Context, name: str, *args: Any, **query: Any) -> str:
    """The address of a page of the project that is read, on the same branch at the same time."""
    return context["reader"].url(name, *args, **query)


@register.simple_tag(takes_context=True)
def here(context: template.Context, **query: Any) -> str:
    """This page with other words in its address; a new filter starts at the first page again."""
    request = context["request"]
    words: dict[str, Any] = {name: values for name, values in request.GET.lists() if name != "cursor"}
    return with_query(request.path, {**words, **query})


@register.simple_tag(takes_context=True)
def here_anew(context: template.Context) -> str:
    """This page on the same branch at the same time, without any filter."""
    kept = {name: context["request"].GET.get(name, "") for name in ("branch", "at")}
    return with_query(context["request"].path, kept)


@register.simple_tag(takes_context=True)
def on_branch(context: template.Context, name: str) -> str:
    """This page on another branch, now."""
    return moved(context["request"].get_full_path(), branch=name, at="")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """A drawing of icons.svg; without a label it is an ornament to the word beside it."""
    href = f"{static('day1/icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="icon" role="img" aria-label="{}"><use href="{}"></use></svg>', label, href
        )
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"></use></svg>', href)


@register.filter
def word(value: str) -> str:
    """A word of the model in the reader's language; one that is not known as it is."""
    return str(WORDS.get(value, value))


@register.filter
def surface_word(surface: str) -> str:
    """The way over which something came."""
    return str(SURFACES.get(surface, surface))


@register.simple_tag
def badge(state: str, text: str = "") -> SafeString:
    """A state with its colour, its icon and its word (or ``text`` in the word's place)."""
    drawing, word = STATES[state]
    return format_html('<span class="badge {}">{}{}</span>', state, icon(drawing), text or word)


@register.simple_tag
def deed(action: str, fact: Fact, place: int) -> SafeString:
    """The button of a row of facts: named by its title and the text of the row, which is said once."""
    drawing, title = DEEDS[action]
    return format_html(
        '<button id="{0}{1}" class="button plain" name="one" value="{2}:{3}:{4}" title="{5}" data-key="{7}"'
        ' aria-labelledby="{0}{1} f{1}">{6}</button>',
        action[0], place, action, fact.uid, fact.version, title, icon(drawing),
        action[0] if action in ("verify", "invalidate") else "",
    )  # fmt: skip


@register.simple_tag
def maker(kind: str, label: str = "") -> SafeString:
    """Who made something: an agent in blue, a person in teal."""
    return badge(MAKERS.get(kind, "person"), label)


@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """A time as how long ago, with the exact one on pointing at it; '' for none."""
    if at is None:
        return ""
    exact = timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, ago(at))


def ago(at: datetime, now: datetime | None = None) -> str:
    """How long ago in one unit; the day itself for what is over a week ago or still to come."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    if -60 < seconds < 60:
        return gettext("just now")
    if not 0 <= seconds < 7 * 86400:
        return timezone.localtime(at).strftime("%Y-%m-%d")
    if seconds >= 86400:
        return gettext("%d d ago") % (seconds // 86400)
    if seconds >= 3600:
        return gettext("%d h ago") % (seconds // 3600)
    return gettext("%d min ago") % (seconds // 60)


@register.filter
def undo_of(message: Any) -> str:
    """The address that takes back what a message tells of; '' where there is none."""
    tags = message.extra_tags or ""
    return tags.removeprefix(UNDO) if tags.startswith(UNDO) else ""


@register.filter(name="any")
def some(values: Any) -> bool:
    """Whether one of them says something."""
    return any(values)


@register.filter
@stringfilter
def short(text: str, length: int) -> str:
    """At most `length` characters of a text; it ends with a whole word, so that no number is cut in two."""
    words = re.sub(r"\s+\S*\Z", "", text[:length])
    if length // 2 < len(words) < length < len(text):
        return f"{words}…"
    return truncatechars(text, length)
