"""Figures and panels of a page; apps to the right of memory add theirs as their addresses are loaded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number, the address of the rows it counts, what it counts, its course, and over what."""

    count: Any
    address: str
    text: Any
    drawing: Any = ""
    aside: Any = ""


class Panels:
    """A template for each panel, and what it shows as ``panel``; None: nothing."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, Callable[..., Any]]] = []

    def add(self, template: str, load: Callable[..., Any]) -> None:
        """Add a panel; ``load`` takes the reader, and the row that the page is about."""
        self.parts.append((template, load))

    def load(self, *subjects: Any) -> list[tuple[str, Any]]:
        """Return the panels of a page, each with what it shows."""
        loaded = [(template, load(*subjects)) for template, load in self.parts]
        return [(template, panel) for template, panel in loaded if panel is not None]


HOME_LEADS, HOME_PANELS = Panels(), Panels()  # with which Home opens, and what it shows behind
SESSION_LEADS, SESSION_PANELS = Panels(), Panels()
FACT_PANELS = Panels()
