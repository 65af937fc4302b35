"""The order of a list: by the column that ?ordering= names, else as it comes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.support.ordering import Ordering, turn_round
from memory.operations.base import Operation
from memory.views.frame.base import PAGE, ProjectPage
from memory.views.frame.view_context import with_query
from memory.views.text.labels import ORDER_LABELS

BY_TIME = (gettext_lazy("Newest first"), gettext_lazy("Oldest first"))
UP, DOWN = "ascending", "descending"  # as aria-sort says it


@dataclass(frozen=True)
class SortLink:
    """A way to sort a list; ``direction`` is that of the page where it is sorted so, else ""."""

    label: Any
    url: str
    direction: str = ""


class OrderedList(ProjectPage):
    """A list by cursor that can be sorted by the columns of its operation's ``order``, if there are any."""

    operation: Operation  # that lists
    page_size = PAGE

    @property
    def order(self) -> Ordering | None:
        return self.operation.order

    @cached_property
    def ordering(self) -> str:
        """Return the order that the address asks for. Raises Invalid for an unknown one."""
        return self.order.check(self.request.GET.get("ordering", "")) if self.order else ""

    def paging(self, limit: int = 0) -> dict[str, Any]:
        found = super().paging(limit or self.page_size)
        return {**found, "ordering": self.ordering} if self.order else found

    @property
    def sort_links(self) -> list[SortLink]:
        """Return what to choose from: the columns, or the two directions of the only one, in words."""
        if self.order is None:
            return []
        if len(self.order.columns) == 1:
            return [
                self._link_order(order, label) for order, label in zip(self.order.names, BY_TIME, strict=True)
            ]
        return [self.find_sort(name.removeprefix("-")) for name in self.order.columns]

    def find_sort(self, name: str) -> SortLink:
        """Return the link of a column: to its usual direction, or to the other where the page has one."""
        order: Any = self.order
        usual = name if name in order.columns else f"-{name}"
        link = self._link_order(usual, self.find_label(name))
        if self.ordering.removeprefix("-") != name:
            return link
        turned = self._link_order(turn_round(self.ordering), link.label)
        return SortLink(turned.label, turned.url, DOWN if self.ordering.startswith("-") else UP)

    def find_label(self, name: str) -> Any:
        """Return the words for an order: the head of its column, where it has one."""
        heads = (one.label for one in self.operation.columns if one.find_order(self.order) == name)
        return next(heads, "") or ORDER_LABELS[name]

    def _link_order(self, order: str, label: Any) -> SortLink:
        """Return the link to an order, on the list's first page."""
        words: dict[str, Any] = dict(self.request.GET.lists())
        words |= {"cursor": "", "ordering": "" if self.order and order == self.order.default else order}
        direction = DOWN if order.startswith("-") else UP
        url = with_query(self.request.path, words)
        return SortLink(label, url, direction if order == self.ordering else "")

    @property
    def page_words(self) -> tuple[str, str]:
        """Return what the pages before and after this one hold."""
        if self.order and not self.order.is_by_age(self.ordering):
            return _("Before"), _("Further")
        is_upwards = self.order and not self.ordering.startswith("-")
        return (_("Older"), _("Newer")) if is_upwards else (_("Newer"), _("Older"))
