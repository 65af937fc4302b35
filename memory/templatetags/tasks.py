"""Template tags of tasks: how far they are, who works on them, and what conflicts say."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from memory.models import TaskAgent, TaskObjective
from memory.templatetags.day1 import badge
from memory.templatetags.elements import meter
from memory.views.merging.merge_sides import describe_row
from memory.views.text.labels import TASK_WORDS

register = template.Library()
MAX_BADGES = 4
# Why a merge left a memory for a decision.
REASONS = {
    "edited": gettext_lazy("changed on both sides"),
    "same_key": gettext_lazy("put under one key on both sides"),
    "deleted": gettext_lazy("changed here, deleted there"),
    "reverted": gettext_lazy("its merge was reverted"),
    "near_duplicate": gettext_lazy("nearly the same text"),
    "contested": gettext_lazy("contradicts another fact"),
}


register.filter("task_word", lambda state: TASK_WORDS.get(state, state))  # also of an objective, of a part
register.filter("conflict_word", lambda reason: REASONS.get(reason, reason))


@register.filter
def conflict_count(count: int) -> str:
    """Return how many conflicts wait, in words."""
    return ngettext("%(n)s conflict", "%(n)s conflicts", count) % {"n": count}


@register.simple_tag
def progress(objectives: Iterable[TaskObjective]) -> SafeString | str:
    """Render how many objectives are done, as a bar and in numbers, and how many are blocked."""
    states = [one.state for one in objectives]
    if not states:
        return format_html('<span class="quiet">{}</span>', "–")
    done, blocked = states.count(TaskObjective.State.DONE), states.count(TaskObjective.State.BLOCKED)
    numbers = gettext("%(done)s of %(all)s done") % {"done": done, "all": len(states)}
    waiting = format_html(" {}", badge("blocked", f"{blocked} {TASK_WORDS['blocked']}")) if blocked else ""
    return format_html(
        '<span class="progress">{} <span>{}</span>{}</span>', meter(done / len(states)), numbers, waiting
    )


@register.simple_tag
def agent_badges(parts: Iterable[TaskAgent]) -> SafeString | str:
    """Render the agents of a task, the first ones by name."""
    agents = list(parts)
    if not agents:
        return format_html('<span class="quiet">{}</span>', "–")
    shown = format_html_join(" ", "{}", [(badge("agent", one.agent_id),) for one in agents[:MAX_BADGES]])
    more = len(agents) - MAX_BADGES
    count = sum(one.open_conflicts for one in agents)
    waiting = format_html(" {}", badge("conflict", conflict_count(count))) if count else ""
    return format_html("<span>{}{}{}</span>", shown, f" +{more}" if more > 0 else "", waiting)


@register.filter
def plan_line(item: Any) -> str:
    """Return what the source of a merge says of a memory."""
    row = item.theirs if item.theirs is not None else item.ours
    return getattr(row, "essence", "") or describe_row(row, {})
