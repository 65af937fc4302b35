"""An entry of the audit as people read it: who, of what, and what came of it; every id leads somewhere."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.models import AuditEntry
from memory.templatetags.day1 import badge, maker, page
from memory.views.wording import WORDS

register = template.Library()

SIGNS = {"added": ("+", "good"), "changed": ("±", "info"), "removed": ("−", "error")}
OF_COMMIT = {*SIGNS, "branch", "seq", "agent_id"}
COMMIT = re.compile(r"(.+)@(\d+)")
LONG = 20


@register.simple_tag
def auditor(entry: AuditEntry) -> SafeString:
    """Who did it: the agent that the act names, else who it was done as."""
    agent = entry.detail.get("agent_id", "") if "seq" in entry.detail else ""
    return badge("agent", agent) if agent else maker(entry.actor_kind, entry.actor_label)


@register.simple_tag(takes_context=True)
def audited(context: template.Context, entry: AuditEntry) -> str:
    """The address of what it was done to; all entries about it where that has no page."""
    resource, target = entry.action.partition(".")[0], entry.target
    if commit := COMMIT.fullmatch(target):
        return page(context, "admin:facts", branch=commit[1], at=commit[2])
    if resource == "fact" and _is_id(target):
        return page(context, "admin:fact", target, branch=entry.detail.get("branch", ""), at="")
    if resource == "branch":
        return page(context, "admin:branch", target, branch="", at="")
    if resource == "session":
        return page(context, "admin:facts", session_id=target)
    return page(context, "admin:audit", target=target)


@register.filter
def shortened(target: str) -> str:
    """An id by its end, which differs where the beginnings are alike."""
    return f"…{target[-12:]}" if len(target) > LONG and _is_id(target) else target


@register.simple_tag(takes_context=True)
def audit_commit(context: template.Context, entry: AuditEntry) -> SafeString | str:
    """How many rows its commit wrote, and where that stands."""
    detail = entry.detail
    if "seq" not in detail or "branch" not in detail:
        return ""
    counts = [(tone, sign, detail[name]) for name, (sign, tone) in SIGNS.items() if detail.get(name)]
    badges = format_html_join("", '<span class="badge {}">{}{}</span> ', counts)
    where = page(context, "admin:facts", branch=detail["branch"], at=detail["seq"])
    return format_html('{}<a href="{}">{} · {}</a>', badges, where, detail["branch"], detail["seq"])


@register.filter
def audit_details(entry: AuditEntry) -> list[tuple[str, Any]]:
    """What else it says, without what is empty."""
    known = OF_COMMIT if "seq" in entry.detail else set()
    said = {name: value for name, value in entry.detail.items() if name not in known}
    return [(name, _value(value)) for name, value in said.items() if value not in (None, "", [], {})]


def _value(value: Any) -> Any:
    """A word of the model in the reader's language; a time as one, which is shown to the minute."""
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
