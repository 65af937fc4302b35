"""Indexes that Django lacks. The schema editor of each backend creates them."""

from typing import Any

from django.db import models
from django.db.models import Index


class FullTextIndex(Index):
    """Full text over one column, with ``tokens``: columns by which a search can filter at no cost."""

    suffix = "fts"

    def __init__(self, *expressions: Any, tokens: list[str] | tuple[str, ...] = (), **kwargs: Any) -> None:
        self.tokens = tuple(tokens)
        super().__init__(*expressions, **kwargs)

    @property
    def closed(self) -> str:
        """Return the name of the table of closed versions, where a database has one."""
        return f"{self.name}_closed"

    def deconstruct(self) -> tuple[str, Any, dict[str, Any]]:
        path, expressions, kwargs = super().deconstruct()
        return path, expressions, {**kwargs, "tokens": list(self.tokens)}

    def create_sql(
        self, model: type[models.Model], schema_editor: Any, using: str = "", **kwargs: Any
    ) -> Any:
        return schema_editor.full_text_sql(model, self)

    def remove_sql(self, model: type[models.Model], schema_editor: Any, **kwargs: Any) -> Any:
        return schema_editor.drop_full_text_sql(model, self)


def full_text_index(model: type[models.Model]) -> FullTextIndex | None:
    """Return the model's full-text index, or None."""
    return next((i for i in model._meta.indexes if isinstance(i, FullTextIndex)), None)
