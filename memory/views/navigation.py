"""The sections of a project, in the order of the navigation. Each app adds its own with its URLs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.actors import Actor

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class Section:
    """``name`` is the URL's name, ``letter`` the key after g, ``scope`` what a reader needs to see it."""

    name: str
    title: "StrOrPromise"
    icon: str
    letter: str
    scope: str = "read"
    place: int = 50


SECTIONS: list[Section] = []


def add_section(section: Section) -> None:
    """Raises ValueError where two sections want one letter."""
    if any(section.letter == other.letter or section.name == other.name for other in SECTIONS):
        raise ValueError(f"The letter {section.letter} or the name {section.name} is taken.")
    SECTIONS.append(section)
    SECTIONS.sort(key=lambda one: one.place)


def sections_for(actor: Actor) -> Iterable[Section]:
    """Those that would not be refused."""
    return [section for section in SECTIONS if actor.can(section.scope)]
