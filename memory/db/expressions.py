"""Conditions that are written as SQL at once: built from the ORM's parts they cost more than the query."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from django.db import models
from django.db.models.expressions import Expression


class Visible(Expression):
    """Whether a row is what one of the arms of a lineage shows (docs/decisions/0001).

    ``arms`` are the places in the lineage to look at; all of them by default.
    """

    conditional = True
    filterable = True
    output_field = models.BooleanField()

    def __init__(
        self,
        model: type[models.Model],
        lineage: Sequence[tuple[int, int]],
        arms: Sequence[int] | None = None,
        alias: str = "",
    ) -> None:
        super().__init__(output_field=models.BooleanField())
        self.model, self.lineage, self.alias = model, tuple(lineage), alias
        self.arms = tuple(range(len(lineage)) if arms is None else arms)

    @property
    def identity(self) -> tuple:
        return (type(self), self.model, self.lineage, self.arms, self.alias)

    def get_source_expressions(self) -> list[Any]:
        return []

    def resolve_expression(self, query: Any = None, *args: Any, **kwargs: Any) -> Self:
        return self._at(query.get_initial_alias())

    def relabeled_clone(self, change_map: Mapping[str, str]) -> Self:
        return self._at(change_map.get(self.alias, self.alias))

    def _at(self, alias: str) -> Self:
        return type(self)(self.model, self.lineage, self.arms, alias)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        quote = connection.ops.quote_name
        table, me = quote(self.model._meta.db_table), compiler.quote_name_unless_alias(self.alias)
        parts: list[str] = []
        params: list[Any] = []
        for place in self.arms:
            branch, limit = self.lineage[place]
            arm = f"{me}.branch_id = %s AND {me}.seq_from <= %s AND {me}.seq_to > %s AND NOT {me}.deleted"
            params += [branch, limit, limit]
            if nearer := self.lineage[:place]:
                spoken = " OR ".join(["(s.branch_id = %s AND s.seq_from <= %s)"] * len(nearer))
                arm += f" AND NOT EXISTS (SELECT 1 FROM {table} s WHERE s.uid = {me}.uid AND ({spoken}))"
                params += [value for pair in nearer for value in pair]
            parts.append(arm)
        return "(" + " OR ".join(parts) + ")", params
