"""The two frames of a project's pages: the web's and the admin's. Only addresses and rights differ."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.urls import URLPattern, get_script_prefix, path, reverse

from memory.engines.access.members import WEB_SURFACE


@dataclass(frozen=True)
class Frame:
    """A template around pages, and the namespace of their addresses.

    ``surface`` is what the audit calls it, ``first`` the page that a project opens with. With ``is_admin``
    only those may enter who may use the admin at all; each page asks for more.
    """

    template: str
    namespace: str
    surface: str
    first: str
    is_admin: bool = False

    def reverse(self, name: str, *args: Any) -> str:
        """Return the address of a page in this frame; a name with a namespace stays as it is."""
        return reverse_once(get_script_prefix(), name if ":" in name else f"{self.namespace}{name}", *args)


@lru_cache(maxsize=4096)  # hundreds on a page, most of them of the same few routes
def reverse_once(_prefix: str, name: str, *args: Any) -> str:
    """Return an address, which depends on the route, its arguments and the prefix of this deployment."""
    return reverse(name, args=args)


WEB = Frame("base.html", "", WEB_SURFACE, first="home")
ADMIN = Frame("admin/frame.html", "admin:", "admin", first="facts", is_admin=True)

# A route below a project, the view that answers it, and the name of its address.
Page = tuple[str, Any, str]

PAGES: list[Page] = []


def add_page(route: str, name: str) -> Callable[[type], type]:
    """Return a decorator that shows a view below each project, in both frames."""

    def add(view: type) -> type:
        PAGES.append((route, view, name))
        return view

    return add


def build_patterns(pages: Iterable[Page], frame: Frame) -> list[URLPattern]:
    """Return the routes of pages in a frame."""
    return [path(route, view.as_view(frame=frame), name=name) for route, view, name in pages]
