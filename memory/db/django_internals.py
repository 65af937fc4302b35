"""Django's querysets with the internal methods that we extend, which its type stubs leave out.

While the program runs it is Django's own class.
"""

from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)

if TYPE_CHECKING:

    class QuerySet(models.QuerySet[Row, Row]):
        def _chain(self) -> Self: ...
        def _clone(self) -> Self: ...
        def _filter_or_exclude(self, negate: bool, args: tuple, kwargs: dict) -> Self: ...

else:
    QuerySet = models.QuerySet
