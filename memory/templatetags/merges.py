"""Template tags of the pages of merge requests: words for states, classes, reasons, choices and events."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from memory.templatetags.day1 import icon
from memory.templatetags.words import display_value
from memory.views.merging.merge_conflicts import FieldRow
from memory.views.merging.merge_labels import (
    CHOICES,
    CLASSES,
    EVENT_ICONS,
    EVENTS,
    REASONS,
    STATE_BADGES,
    STATES,
)

register = template.Library()


@register.simple_tag
def merge_badge(state: str) -> SafeString:
    """Render the badge of a request's state."""
    drawing, tone = STATE_BADGES[state]
    return format_html('<span class="badge {}">{}{}</span>', tone, icon(drawing), STATES[state])


register.simple_tag(lambda name: CLASSES.get(name, name), name="class_word")
register.simple_tag(lambda name: REASONS.get(name, name), name="reason_word")
register.simple_tag(lambda name: CHOICES.get(name, name), name="choice_word")


@register.simple_tag
def event_word(name: str) -> Any:
    return EVENTS[name]


@register.simple_tag
def event_icon(name: str) -> SafeString:
    return icon(EVENT_ICONS[name])


@register.filter
def base_words(row: FieldRow) -> str:
    """Format what the sides of a field last agreed to: one value, or the target's and the source's."""
    return " / ".join(display_value(value, row.name) for value in row.bases)


@register.filter
def merged_words(row: FieldRow) -> str:
    return gettext("as you decide") if row.is_open else display_value(row.merged, row.name)
