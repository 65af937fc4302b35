"""Sparklines: a row of numbers as a small drawing, without a script."""

from collections.abc import Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

WIDTH, HEIGHT, MARGIN = 160, 32, 2


def draw_sparkline(counts: Sequence[int], text: Any) -> SafeString:
    """Return the drawing of some counts; ``text`` says the same to screen readers."""
    html = (
        '<svg class="sparkline" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="none">'
        '<polyline points="{}"></polyline></svg>'
    )
    return format_html(html, WIDTH, HEIGHT, text, " ".join(place_points(counts)))


def place_points(counts: Sequence[int]) -> list[str]:
    top, step = max([*counts, 1]), (WIDTH - 2 * MARGIN) / max(len(counts) - 1, 1)
    span = HEIGHT - 2 * MARGIN
    heights = [HEIGHT - MARGIN - count / top * span for count in counts]
    return [f"{MARGIN + index * step:.1f},{y:.1f}" for index, y in enumerate(heights)]
