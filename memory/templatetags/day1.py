"""Template tags of the pages: addresses that keep branch and time, icons, badges, times."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template.defaultfilters import stringfilter, truncatechars
from django.templatetags.static import static
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from memory.models import Fact
from memory.views.frame.flash import REDO, UNDO
from memory.views.frame.frames import ADMIN, WEB
from memory.views.frame.navigation import Entry, list_entries, list_links, list_tabs
from memory.views.frame.view_context import relocate, with_query
from memory.views.text.labels import MAKER_WORDS, SURFACES, WORDS
from memory.views.text.rich_text import render_inline, render_rich_text
from memory.views.text.times import format_age, format_time

register = template.Library()

# One meaning has one colour and one icon everywhere: (icon, label). The colour is the class of the same name.
STATES = {
    "verified": ("verified", WORDS["verified"]),
    "plausible": ("unverified", WORDS["plausible"]),
    "unverified": ("unverified", WORDS["unverified"]),
    "invalidated": ("invalidated", WORDS["invalidated"]),
    "superseded": ("superseded", WORDS["superseded"]),
    "archived": ("archived", WORDS["archived"]),
    "created": ("proposal", WORDS["created"]),
    "active": ("active", WORDS["active"]),
    "done": ("verified", WORDS["done"]),
    "todo": ("clock", WORDS["todo"]),
    "blocked": ("warning", WORDS["blocked"]),
    "working": ("active", WORDS["working"]),
    "completed": ("check", WORDS["completed"]),
    "cancelled": ("close", WORDS["cancelled"]),
    "left": ("out", WORDS["left"]),
    "conflict": ("conflict", gettext_lazy("conflict")),
    "agent": ("agent", gettext_lazy("agent")),
    "person": ("person", gettext_lazy("person")),
    "expired": ("clock", gettext_lazy("expired")),
    "outdated": ("clock", gettext_lazy("no longer valid")),
    "pinned": ("pin", gettext_lazy("pinned")),
    "inherited": ("branch", gettext_lazy("inherited")),
}
# States of branches: (colour, icon, label).
BRANCH_STATES = {
    "live": ("active", "branch", gettext_lazy("live")),
    "expired": ("outdated", "clock", gettext_lazy("expired")),
    "merged": ("done", "check", gettext_lazy("merged")),
    "archived": ("archived", "archived", WORDS["archived"]),
}
# Actions of a row's buttons: (icon, title).
ACTION_BUTTONS = {
    "verify": ("verified", gettext_lazy("Verify")),
    "invalidate": ("invalidated", gettext_lazy("Invalidate")),
    "accept": ("check", gettext_lazy("Accept")),
    "refuse": ("close", gettext_lazy("Refuse")),
    "restore": ("undo", gettext_lazy("Restore")),
    "archive": ("archived", gettext_lazy("Archive")),
    "unverify": ("unverified", gettext_lazy("Clear verdict")),
    "pin": ("pin", gettext_lazy("Pin")),
    "unpin": ("pin", gettext_lazy("Unpin")),
}
KEYS = {"verify": "v", "invalidate": "i", "accept": "v", "refuse": "i", "pin": "p", "unpin": "p"}
# Badges of authors, by the kind of an actor, whose names may be those of several: (colour, icon, kind).
MAKERS = {
    "key": ("agent", "key", MAKER_WORDS["key"]),
    "user": ("person", "person", MAKER_WORDS["user"]),
    "local": ("person", "command", MAKER_WORDS["local"]),
    "server": ("agent", "key", MAKER_WORDS["server"]),
    "system": ("agent", "gear", MAKER_WORDS["system"]),
}
MAX_BADGE = 24  # characters that are seen of any; the whole name is shown on pointing


@register.simple_tag(takes_context=True)
def page(context: template.Context, name: str, *args: Any, **query: Any) -> str:
    """Return the address of a page of the open project, on the same branch at the same time."""
    return context["reader"].url(name, *args, **query)


@register.simple_tag(takes_context=True)
def session_link(context: template.Context, key: str) -> SafeString | str:
    """Render a session as its title, which leads to it; '' for none, its id where it may not be seen."""
    if not key:
        return ""
    reader = context["reader"]
    reader.name_sessions([key])
    session = reader.sessions[key]
    if session is None:
        return format_html("<bdi>{}</bdi>", key)
    address = reader.url("session", key=key, branch=session.branch.name, at="")
    return format_html('<a href="{}" dir="auto">{}</a>', address, render_inline(session.title))


@register.simple_tag(takes_context=True)
def navigation(context: template.Context) -> list[tuple[Any, list[Entry]]]:
    """Return the groups of the navigation, each with its title."""
    return list_entries(context["request"], context.get("reader"), context.get("section") or "")


@register.simple_tag(takes_context=True)
def place_tabs(context: template.Context) -> list[Entry]:
    """Return the sections of the place that is read, where there are several."""
    return list_tabs(context["reader"], context.get("section") or "")


@register.simple_tag(takes_context=True)
def section_links(context: template.Context) -> list[Entry]:
    """Return all sections that the reader may open, for the keys."""
    return list_links(context["reader"])


@register.simple_tag(takes_context=True)
def first_page(context: template.Context, slug: str) -> str:
    """Return the address that another project opens with, in the same frame."""
    frame = context["reader"].frame
    return frame.reverse(frame.first, slug)


@register.simple_tag(takes_context=True)
def other_frame(context: template.Context) -> str:
    """Return the address of this page in the other frame; that of the admin where it stands in none."""
    reader, request = context.get("reader"), context["request"]
    if not reader:
        return reverse("admin:index")
    present, other = (WEB, ADMIN) if reader.frame == WEB else (ADMIN, WEB)
    root = present.reverse("home", reader.project.slug)
    below = request.get_full_path().removeprefix(root) if request.method == "GET" else other.first
    return other.reverse("home", reader.project.slug) + below


@register.simple_tag(takes_context=True)
def current_url(context: template.Context, **query: Any) -> str:
    """Return this page's address with other parameters; a new filter resets to the first page."""
    request = context["request"]
    words: dict[str, Any] = {name: values for name, values in request.GET.lists() if name != "cursor"}
    return with_query(request.path, {**words, **query})


@register.simple_tag(takes_context=True)
def here_anew(context: template.Context) -> str:
    """Return this page's address on the same branch at the same time, without any filter."""
    kept = {name: context["request"].GET.get(name, "") for name in ("branch", "at")}
    return with_query(context["request"].path, kept)


@register.simple_tag(takes_context=True)
def on_branch(context: template.Context, name: str) -> str:
    """Return this page's address on another branch, now."""
    return relocate(context["request"].get_full_path(), branch=name, at="")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Render an icon of icons.svg; without a label it is decorative."""
    if not label:
        return draw_decoration(name, get_script_prefix())
    svg = '<svg class="icon" role="img" aria-label="{}"><use href="{}"></use></svg>'
    return format_html(svg, label, icon_address(name))


@lru_cache(maxsize=1024)  # hundreds on a page
def draw_decoration(name: str, _prefix: str) -> SafeString:
    """Render an icon that says nothing to a screen reader."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"></use></svg>', icon_address(name))


def icon_address(name: str) -> str:
    return f"{static('day1/icons.svg')}#{name}"


@register.filter
def word(value: str) -> str:
    """Return the label of a value of the model; an unknown one as it is."""
    return str(WORDS.get(value, value))


@register.filter
def surface_word(surface: str) -> str:
    """Return the label of a surface."""
    return str(SURFACES.get(surface, surface))


@register.simple_tag
def badge(state: str, text: str = "") -> SafeString:
    """Render the badge of a state with its colour, icon and label (or ``text`` instead)."""
    drawing, word = STATES[state]
    title = format_html(' title="{}"', text) if len(text) > MAX_BADGE else ""
    return format_html('<span class="badge {}"{}>{}{}</span>', state, title, icon(drawing), text or word)


@register.simple_tag
def branch_state(state: str, since: datetime | None = None) -> SafeString:
    """Render the badge of a branch's state; on pointing, since when it holds."""
    tone, drawing, text = BRANCH_STATES[state]
    exact = format_time(since) if since else ""
    title = format_html(' title="{}"', exact) if exact else ""
    return format_html('<span class="badge {}"{}>{}{}</span>', tone, title, icon(drawing), text)


@register.simple_tag
def row_button(action: str, fact: Fact, row_number: int) -> SafeString:
    """Render the button of a row of facts, labelled by its title and the text of the row."""
    drawing, title = ACTION_BUTTONS[action]
    button, value = f"{action[0]}{row_number:d}", f"{action}:{fact.uid}:{fact.version:d}"
    # Three on each of 50 rows: only the title can hold a sign that has to be escaped.
    return SafeString(
        f'<button id="{button}" class="button plain" name="one" value="{value}" title="{escape(str(title))}"'
        f' data-key="{KEYS.get(action, "")}" aria-labelledby="{button} f{row_number:d}">{icon(drawing)}'
        "</button>"
    )


@register.simple_tag
def maker(kind: str, label: str = "") -> SafeString:
    """Render the badge of an author: blue for programs, teal for people, with an icon and a word for its
    kind.
    """
    tone, drawing, word = MAKERS.get(kind, MAKERS["user"])
    html = '<span class="badge {}" title="{}">{}{}</span>'
    title = label if len(label) > MAX_BADGE else word
    return format_html(html, tone, title, icon(drawing, str(word)), label or word)


@register.filter
@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """Render a time as its age, with the exact time as its title; '' for none."""
    if at is None:
        return ""
    exact = timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, format_age(at))


@register.filter
def undo_url(message: Any) -> str:
    """Return the address that undoes a message's action; '' for none."""
    tags = message.extra_tags or ""
    return tags.removeprefix(UNDO) if tags.startswith(UNDO) else ""


@register.filter
def redo_url(message: Any) -> str:
    """Return the address that redoes an undone action; '' for none."""
    tags = message.extra_tags or ""
    return tags.removeprefix(REDO) if tags.startswith(REDO) else ""


@register.filter(name="is")
def equal(value: Any, other: Any) -> bool:
    """Return whether both are the same, for the argument of a tag."""
    return bool(value == other)


@register.filter
def inline_code(text: Any) -> SafeString:
    """Return a text, escaped, with code and bold of Markdown, and without its marks of blocks."""
    return render_inline(str(text))


@register.filter
def commit_line(commit: Any) -> SafeString:
    """Return the title of a commit, with the first text that it wrote."""
    return render_inline(f"{commit.title}: {commit.content}" if commit.content else commit.title)


@register.filter
@stringfilter
def rich_text(text: str) -> SafeString:
    """Return a text as HTML: the paragraphs, lists, headings, code and bold of Markdown, escaped."""
    return render_rich_text(text)


@register.filter
@stringfilter
def short(text: str, length: int) -> str:
    """Shorten a text to `length` characters at the end of a word, so that no number is cut in two."""
    if len(text) <= length:
        return text
    words = re.sub(r"\s+\S*\Z", "", text[:length])
    if length // 2 < len(words) < length:
        return f"{words}…"
    return truncatechars(text[: 2 * length], length)
