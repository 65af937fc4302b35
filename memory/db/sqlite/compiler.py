"""Django's compilers, whose reads find values that are none of their column: SQLite stores any in each."""

from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Any

from django.db.models import Field
from django.db.models.expressions import Col
from django.db.models.sql import compiler
from django.db.models.sql.compiler import (  # noqa: F401  Django looks for them here
    SQLAggregateCompiler,
    SQLDeleteCompiler,
    SQLInsertCompiler,
    SQLUpdateCompiler,
)

from memory.db.fields import find_plain_type, replace_strange


class SQLCompiler(compiler.SQLCompiler):
    def results_iter(self, *args: Any, **options: Any) -> Any:
        """Return the rows. Raises DamageFound where nothing may stand for a value that is none."""
        return self._replace_strange(super().results_iter(*args, **options))

    def _replace_strange(self, rows: Iterable[Any]) -> Iterator[Any]:
        columns = [
            (place, expression.target, {kind, NoneType})
            for place, (expression, *_) in enumerate(self.select[: self.col_count])
            if isinstance(expression, Col) and (kind := find_plain_type(expression.target))
        ]
        known: set[tuple[type, ...]] = set()  # types of rows that fit, which most others have too
        for row in rows:
            if (types := tuple(map(type, row))) not in known:
                strange = [(place, field) for place, field, kinds in columns if types[place] not in kinds]
                if strange:
                    row = self._replace_values(row, strange)
                else:
                    known.add(types)
            yield row

    def _replace_values(self, row: Any, strange: Iterable[tuple[int, Field]]) -> Any:
        values = list(row)
        for place, field in strange:
            (values[place],) = replace_strange(field, [values[place]], self.connection)
        return type(row)(values)
