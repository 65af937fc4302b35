"""The order of a list: the newest first, or from its other end with ?sort=oldest."""

from dataclasses import replace
from typing import Any

from memory.engines.support import validation as c
from memory.engines.support.pagination import END, Page
from memory.views.base import PAGE, ProjectPage

NEWEST, OLDEST = "newest", "oldest"


class OrderedList(ProjectPage):
    """A list by cursor whose pages can be read from the end. ``is_sortable``: its order is that of time."""

    is_sortable = False

    @property
    def is_oldest_first(self) -> bool:
        """Whether the address asks for the oldest first. Raises Invalid."""
        order = self.request.GET.get("sort", NEWEST)
        return self.is_sortable and c.one_of([NEWEST, OLDEST])("sort", order) == OLDEST

    def paging(self, limit: int = PAGE) -> dict[str, Any]:
        found = super().paging(limit)
        return found if found["cursor"] or not self.is_oldest_first else {**found, "cursor": END}

    def order_page(self, page: Any) -> Any:
        """Return a page of the list in the order that the address asks for."""
        if not (self.is_oldest_first and isinstance(page, Page)):
            return page
        return replace(page, results=page.results[::-1], next=page.previous, previous=page.next)
