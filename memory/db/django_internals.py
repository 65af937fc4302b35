"""Django's querysets with the internal methods that we extend, which its type stubs leave out.

While the program runs it is Django's own class.
"""

from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models
from django.db.models.sql import Query

Row = TypeVar("Row", bound=models.Model)

if TYPE_CHECKING:

    class QuerySet(models.QuerySet[Row, Row]):
        _query: Query

        def _chain(self) -> Self: ...
        def _clone(self) -> Self: ...
        def _filter_or_exclude(self, negate: bool, args: tuple, kwargs: dict) -> Self: ...
        def _filter_or_exclude_inplace(self, negate: bool, args: tuple, kwargs: dict) -> None: ...

else:
    QuerySet = models.QuerySet
