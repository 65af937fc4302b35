"""The words of the pages for names that programs use, and texts taken apart."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from memory.engines.comparing import word_diff
from memory.templatetags.day1 import badge, icon, maker
from memory.views.reader import with_query
from memory.views.sentences import explained, sentence
from memory.views.wording import DEEDS, FIELDS

register = template.Library()

SIGNALS = {
    "hybrid": gettext_lazy("words and meaning"),
    "keyword": gettext_lazy("words"),
    "vector": gettext_lazy("meaning"),
    "words": gettext_lazy("word by word"),
    "recency": gettext_lazy("recency"),
    "reply": gettext_lazy("as an answer"),
    "following": gettext_lazy("what follows"),
    "verification": gettext_lazy("verified"),
    "priority": gettext_lazy("priority"),
    "confidence": gettext_lazy("confidence"),
    "confirmations": gettext_lazy("confirmed"),
}
EDGES = {
    "ASSOCIATED": (gettext_lazy("goes with"), gettext_lazy("goes with")),
    "DEPENDS_ON": (gettext_lazy("depends on"), gettext_lazy("is needed by")),
    "DERIVED_FROM": (gettext_lazy("follows from"), gettext_lazy("led to")),
    "MESSAGE_OF": (gettext_lazy("is a message of"), gettext_lazy("has the message")),
    "BRIDGE": (gettext_lazy("bridges to"), gettext_lazy("bridges from")),
    "CONSOLIDATED_FROM": (gettext_lazy("stands for"), gettext_lazy("is contained in")),
    "CONTESTED_BY": (gettext_lazy("is contested by"), gettext_lazy("contests")),
}
CHANGES = {
    "added": ("good", "plus", gettext_lazy("added")),
    "changed": ("info", "edit", gettext_lazy("changed")),
    "removed": ("error", "close", gettext_lazy("removed")),
}
COUNTED = {
    ("fact", "added"): gettext_lazy("facts added"),
    ("fact", "changed"): gettext_lazy("facts changed"),
    ("fact", "removed"): gettext_lazy("facts removed"),
    ("link", "added"): gettext_lazy("links added"),
    ("link", "changed"): gettext_lazy("links changed"),
    ("link", "removed"): gettext_lazy("links removed"),
}
PIECES = {"same": "{}", "removed": "<del>{}</del>", "added": "<ins>{}</ins>"}


@register.simple_tag(takes_context=True)
def branch_page(context: template.Context, name: str, **query: Any) -> str:
    """The address of a branch's page, which has its branch in the path."""
    return with_query(reverse("branch", args=[context["reader"].project.slug, name]), query)


@register.simple_tag
def signal(name: str) -> Any:
    """A part of a score."""
    return SIGNALS.get(name, name)


@register.filter
def signal_words(names: Any) -> str:
    """Parts of a score in one line."""
    return gettext(", ").join(str(SIGNALS.get(name, name)) for name in names)


@register.simple_tag
def author(commit: Any) -> SafeString:
    """Who made a commit: the agent that it names, else who it was made as."""
    return (
        badge("agent", commit.agent_id) if commit.agent_id else maker(commit.actor_kind, commit.actor_label)
    )


@register.filter
def end_of(link_end: Any, ends: dict[Any, str]) -> Any:
    """What the fact at the end of a link says; its id where it is not shown."""
    return ends.get(link_end, link_end)


@register.filter
def field_word(name: str) -> Any:
    return FIELDS.get(name, name)


@register.filter
def kind_word(kind: str) -> Any:
    return DEEDS.get(kind, kind)


@register.simple_tag
def edge_word(link_type: str, outward: bool) -> Any:
    return EDGES.get(link_type, (link_type, link_type))[0 if outward else 1]


@register.simple_tag
def words_changed(old: str, new: str) -> SafeString:
    """Both texts in one, with what was removed and added marked; all of it is escaped."""
    pieces = list(word_diff(old, new))
    return format_html_join("", "{}", ((_piece(kind, text),) for kind, text in pieces))


def _piece(kind: str, text: str) -> SafeString:
    """The blank behind a marked piece is not marked with it, unless it is all there is."""
    marked = text.rstrip() or text
    return format_html(PIECES[kind] + "{}", marked, text[len(marked) :])


@register.filter
def said(value: Any) -> str:
    """A value of a field as a person reads it."""
    if value in (None, "", [], {}):
        return gettext("none")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return value.strftime("%Y-%m-%d %H:%M") if hasattr(value, "strftime") else str(value)


@register.simple_tag
def change_badge(change: str) -> SafeString:
    """Added, changed or removed, with its colour and icon."""
    tone, drawing, word = CHANGES[change]
    return format_html('<span class="badge {}">{}{}</span>', tone, icon(drawing), word)


@register.simple_tag
def change_word(kind: str, change: str) -> Any:
    """What a count of differences counts."""
    return COUNTED[kind, change]


@register.filter
def other_changes(difference: Any) -> list[tuple[str, list[Any]]]:
    """The changed fields besides the text, which is shown word by word."""
    return [(name, pair) for name, pair in difference.fields.items() if name != "fact_text"]


@register.filter
def before(seq: int) -> int:
    return seq - 1


@register.filter(name="sentence")
def told(error: Any) -> str:
    """A refusal in the reader's language."""
    return sentence(error)


register.filter("explained", explained)
