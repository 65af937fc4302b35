"""Indexes that Django lacks. The schema editor of each backend creates them."""

from typing import Any, Protocol, cast

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


class Searchable(Protocol):
    """A model of versions."""

    @classmethod
    def searchable_q(cls) -> models.Q: ...


def searchable_condition(model: type[models.Model]) -> models.Q:
    """Return the condition for rows of a model of versions that a search finds by default."""
    # Every model with a VersionedManager has it; their base class is a room above this one.
    return cast(type[Searchable], model).searchable_q()


def full_text_index(model: type[models.Model]) -> FullTextIndex | None:
    """Return the model's full-text index, or None."""
    return next((i for i in model._meta.indexes if isinstance(i, FullTextIndex)), None)
