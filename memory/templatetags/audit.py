"""Audit entries for display: author, target and result, with links."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.models import AuditEntry
from memory.templatetags.day1 import badge, maker, page
from memory.templatetags.words import memory_word
from memory.views.text.labels import WORDS

register = template.Library()

SIGNS = {"added": ("+", "good"), "changed": ("±", "info"), "removed": ("−", "error")}
OF_COMMIT = {*SIGNS, "branch", "seq", "agent_id"}
COMMIT = re.compile(r"(.+)@(\d+)")
LONG = 20


@register.simple_tag
def entry_author(entry: AuditEntry) -> SafeString:
    """Return the author: the agent named in the entry, else its actor."""
    agent = entry.detail.get("agent_id", "") if "seq" in entry.detail else ""
    return badge("agent", agent) if agent else maker(entry.actor_kind, entry.actor_label)


@register.simple_tag(takes_context=True)
def audited(context: template.Context, entry: AuditEntry) -> str:
    """Return the address of the entry's target; the list of its entries where it has no page."""
    resource, target = entry.action.partition(".")[0], entry.target
    if commit := COMMIT.fullmatch(target):
        return page(context, "commit", commit[2], branch=commit[1], at="")
    if resource == "fact" and _is_id(target):
        return page(context, "fact", target, branch=entry.detail.get("branch", ""), at="")
    if resource == "branch":
        return page(context, "branch", target, branch="", at="")
    if resource == "session":
        return page(context, "facts", session_id=target)
    return page(context, "audit", target=target)


@register.filter
def shortened(target: str) -> str:
    """Shorten an id to its end, which differs where beginnings are alike."""
    return f"…{target[-12:]}" if len(target) > LONG and _is_id(target) else target


@register.simple_tag(takes_context=True)
def audit_commit(context: template.Context, entry: AuditEntry) -> SafeString | str:
    """Return badges for the changed rows of the entry's commit, with a link to it."""
    detail = entry.detail
    if "seq" not in detail or "branch" not in detail:
        return ""
    counts = [(tone, sign, detail[name]) for name, (sign, tone) in SIGNS.items() if detail.get(name)]
    badges = format_html_join("", '<span class="badge {}">{}{}</span> ', counts)
    where = page(context, "commit", detail["seq"], branch=detail["branch"], at="")
    return format_html('{}<a href="{}">{} · {}</a>', badges, where, detail["branch"], detail["seq"])


@register.filter
def audit_details(entry: AuditEntry) -> list[tuple[str, Any]]:
    """Return the remaining details, without empty ones."""
    known = OF_COMMIT if "seq" in entry.detail else set()
    details = {name: value for name, value in entry.detail.items() if name not in known}
    return [
        (name, _format_value(value)) for name, value in details.items() if value not in (None, "", [], {})
    ]


def _format_value(value: Any) -> Any:
    """Return a label for a value of the model; a datetime for the text of one."""
    if isinstance(value, dict):
        return ", ".join(f"{memory_word(name)}: {count}" for name, count in value.items())
    if isinstance(value, str) and value in WORDS:
        return WORDS[value]
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and "T" in value else value
    except ValueError:
        return value


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False
