"""Labels of the pages for values of programs, and word differences of texts."""

import re
from datetime import datetime
from html import escape
from typing import Any

from django import template
from django.template.defaultfilters import date, truncatechars
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, gettext_lazy, ngettext_lazy

from memory.engines.facts.field_diff import display_changes
from memory.engines.fields.facts import FACT
from memory.engines.fields.types import Choice
from memory.engines.support.word_diff import WordBudget, compare_words
from memory.operations.action_labels import ACTION_LABELS
from memory.templatetags.day1 import badge, icon, maker, word
from memory.views.text.error_text import error_sentence, explain_sentence
from memory.views.text.labels import CHANGE_KINDS, EDGES, FIELDS, RUN_WORDS, SIGNALS
from memory.views.text.rich_text import render_line
from memory.views.text.times import format_time

register = template.Library()

CHANGES = {
    "added": ("good", "plus", gettext_lazy("added")),
    "changed": ("info", "edit", gettext_lazy("changed")),
    "removed": ("error", "close", gettext_lazy("removed")),
}
COUNTED = {
    ("fact", "added"): ngettext_lazy("fact added", "facts added"),
    ("fact", "changed"): ngettext_lazy("fact changed", "facts changed"),
    ("fact", "removed"): ngettext_lazy("fact removed", "facts removed"),
    ("link", "added"): ngettext_lazy("link added", "links added"),
    ("link", "changed"): ngettext_lazy("link changed", "links changed"),
    ("link", "removed"): ngettext_lazy("link removed", "links removed"),
    ("relation", "added"): ngettext_lazy("relation added", "relations added"),
    ("relation", "changed"): ngettext_lazy("relation changed", "relations changed"),
    ("relation", "removed"): ngettext_lazy("relation removed", "relations removed"),
    ("observation", "added"): ngettext_lazy("observation added", "observations added"),
    ("observation", "changed"): ngettext_lazy("observation changed", "observations changed"),
    ("observation", "removed"): ngettext_lazy("observation removed", "observations removed"),
    ("conversation", "added"): ngettext_lazy("conversation added", "conversations added"),
    ("conversation", "changed"): ngettext_lazy("conversation changed", "conversations changed"),
    ("conversation", "removed"): ngettext_lazy("conversation removed", "conversations removed"),
    ("message", "added"): ngettext_lazy("message added", "messages added"),
    ("message", "changed"): ngettext_lazy("message changed", "messages changed"),
    ("message", "removed"): ngettext_lazy("message removed", "messages removed"),
}
CODED = {field.name for field in FACT if isinstance(field.type, Choice)}  # fields with fixed values
TOO_LONG = gettext_lazy("(too long to compare word by word)")
# What has a page of its own, whose address is named after it.
SOURCES = frozenset({"fact", "observation", "message", "conversation", "relation"})
# The field that says of what kind a row is.
NATURES = {"message": "role", "observation": "observation_type", "conversation": "status"}
MAX_LENGTH = 600  # characters of a text in a list of changes
PIECES = {"same": "{}", "removed": "<del>{}</del>", "added": "<ins>{}</ins>"}
# Code of Markdown in which words have changed.
CHANGED_CODE = re.compile(r"`((?:[^`<\n]|<(?:ins|del)>[^`<]*</(?:ins|del)>)+)`")


@register.simple_tag(takes_context=True)
def branch_page(context: template.Context, name: str, **query: Any) -> str:
    """Return the address of a branch's page, which has its branch in the path."""
    return context["reader"].url("branch", name, **{"branch": "", "at": "", **query})


@register.simple_tag(takes_context=True)
def commit_page(context: template.Context, commit: Any) -> str:
    """Return the address of a commit's own page."""
    return context["reader"].url("commit", commit.pk, branch=commit.branch.name, at="")


@register.simple_tag(takes_context=True)
def source_page(context: template.Context, kind: str, uid: Any, branch: str | None = None) -> str:
    """Return the address of a memory's page; "" where there is none."""
    query = {} if branch is None else {"branch": branch, "at": ""}
    return context["reader"].url(kind, uid, **query) if kind in SOURCES else ""


@register.simple_tag(takes_context=True)
def memory_line(
    context: template.Context, kind: str, uid: Any, text: Any, branch: str | None = None
) -> SafeString:
    """Render the line of a memory, which leads to its page where it has one."""
    if address := source_page(context, kind, uid, branch):
        return format_html('<a class="line" href="{}" dir="auto">{}</a>', address, text)
    return format_html('<p class="memory" dir="auto">{}</p>', text)


register.simple_tag(lambda name: SIGNALS.get(name, name), name="signal")  # a part of a score


@register.filter
def signal_words(names: Any) -> str:
    """Return the labels of parts of a score in one line."""
    return gettext(", ").join(str(SIGNALS.get(name, name)) for name in names)


@register.simple_tag
def author(commit: Any) -> SafeString:
    """Render the author of a commit: the agent it names, else its actor."""
    return (
        badge("agent", commit.agent_id) if commit.agent_id else maker(commit.actor_kind, commit.actor_label)
    )


@register.filter
def validity(one: Any, form: str) -> str:
    """Return from when until when a fact or relation is true; "" where it has no limit."""
    since, until = date(one.valid_from, form), date(one.valid_until, form)
    if since and until:
        return f"{since} – {until}"
    if until:
        return gettext("until %(until)s") % {"until": until}
    return gettext("since %(since)s") % {"since": since} if since else ""


@register.filter
def link_end_text(link_end: Any, ends: dict[Any, str]) -> Any:
    """Return the text of the fact at a link's end, or that it is not visible."""
    return ends.get(link_end) or gettext("a memory that is not shown here any more")


register.filter("field_word", lambda name: FIELDS.get(name, name))
register.filter("kind_word", lambda kind: ACTION_LABELS.get(kind, kind))
# A state of a session or conversation: active means something else for a fact.
register.filter("run_word", lambda status: RUN_WORDS.get(status, status))


@register.filter
def memory_word(kind: str) -> Any:
    """Return the label of one memory of a kind."""
    return CHANGE_KINDS[kind] % 1 if kind in CHANGE_KINDS else kind


@register.simple_tag
def edge_word(link_type: str, outward: bool) -> Any:
    return EDGES.get(link_type, (link_type, link_type))[0 if outward else 1]


@register.simple_tag
def edge_badge(link_type: str, outward: bool) -> SafeString:
    """Render the badge of a link: what it says of its end that is not shown."""
    drawing = "conflict" if link_type == "CONTESTED_BY" else "link"
    tone = "badge conflict" if drawing == "conflict" else "badge"
    return format_html('<span class="{}">{}{}</span>', tone, icon(drawing), edge_word(link_type, outward))


@register.simple_tag(takes_context=True)
def words_changed(context: template.Context, old: str, new: str) -> SafeString:
    """Return both texts merged, with removed and added words marked; everything is escaped.

    The differences of a page share one budget. Beyond it, the whole differing part is marked, with a note.
    """
    found = compare_words(old, new, _get_word_budget(context.get("request")))
    pieces = "".join(_mark_piece(kind, text) for kind, text in found.pieces)
    pieces = CHANGED_CODE.sub(r"<code>\1</code>", pieces)
    note = f' <span class="quiet">{escape(str(TOO_LONG))}</span>' if found.is_coarse else ""
    return mark_safe(pieces + note)  # every part is escaped


def _get_word_budget(request: Any) -> WordBudget:
    """Return the remaining budget of this page's word differences."""
    if request is None:
        return WordBudget()
    if not hasattr(request, "word_budget"):
        request.word_budget = WordBudget()
    return request.word_budget


def _mark_piece(kind: str, text: str) -> str:
    """Return a piece as HTML. Its trailing space is not marked, unless it is all there is."""
    marked = text.rstrip() or text
    return PIECES[kind].format(render_line(marked)) + text[len(marked) :]


@register.filter
def display_value(value: Any, name: str = "") -> str:
    """Format a value of a field for people; of one with fixed values, as the pages call it."""
    if value in (None, "", [], {}):
        return gettext("none")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if name in CODED:
        return word(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return format_time(value) if isinstance(value, datetime) else str(value)


@register.simple_tag
def change_badge(change: str) -> SafeString:
    """Render the badge of added, changed or removed."""
    tone, drawing, word = CHANGES[change]
    return format_html('<span class="badge {}">{}{}</span>', tone, icon(drawing), word)


@register.simple_tag
def change_word(kind: str, change: str, count: int) -> Any:
    """Return the words after a count of differences."""
    return COUNTED[kind, change] % count


@register.filter
def change_kind(kind: str, count: int = 2) -> Any:
    """Return the words after a count of changes of a kind; the plural without one."""
    return CHANGE_KINDS[kind] % count


@register.filter
def changed_fields(change: Any) -> list[tuple[str, tuple[Any, Any]]]:
    """Return the fields of a fact that a commit changed, besides the text."""
    if change.kind != "fact" or change.change != "changed":
        return []
    pairs = display_changes(change.before, change.after)
    return [(name, pair) for name, pair in pairs.items() if name not in ("fact_text", "updated_cycle")]


@register.filter
def row_kind(change: Any) -> str:
    """Return what kind of message, observation or conversation a change is about; "" for others."""
    return str(getattr(change.row, NATURES[change.kind])) if change.kind in NATURES else ""


@register.filter
def change_text(change: Any) -> str:
    """Return the text of the row of a change, cut where it is long; that it has no title, never its id."""
    text = getattr(change.row, change.row.TEXT) if change.row.TEXT else str(change.row)
    return gettext("without a title") if text == str(change.row.uid) else truncatechars(text, MAX_LENGTH)


@register.filter
def other_changes(difference: Any) -> list[tuple[str, list[Any]]]:
    """Return the changed fields besides the text, which is shown word by word."""
    return [(name, pair) for name, pair in difference.fields.items() if name != "fact_text"]


@register.filter(name="sentence")
def translate_error(error: Any) -> str:
    """Return an error's message in the reader's language."""
    return error_sentence(error)


register.filter("explained", explain_sentence)
