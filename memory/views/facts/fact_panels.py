"""Panels of a fact's page that apps to the right of memory add."""

from collections.abc import Callable
from typing import Any

from memory.models import Fact
from memory.views.frame.view_context import ViewContext

# A template, and what it shows of a fact as ``panel``; None: nothing.
Panel = tuple[str, Callable[[ViewContext, Fact], Any]]
PANELS: list[Panel] = []


def add_fact_panel(template: str, load: Callable[[ViewContext, Fact], Any]) -> None:
    """Show a panel beside a fact."""
    PANELS.append((template, load))


def load_panels(reader: ViewContext, fact: Fact) -> list[tuple[str, Any]]:
    """Return the panels of a fact, each with what it shows."""
    loaded = [(template, load(reader, fact)) for template, load in PANELS]
    return [(template, panel) for template, panel in loaded if panel is not None]
