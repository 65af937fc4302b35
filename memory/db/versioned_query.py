"""A query that refuses to compile before a branch is named."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from django.db import models
from django.db.models.sql import Query


class BranchNotNamed(RuntimeError):
    """A programming error: versions of all branches and projects would have been read."""


class VersionedQuery(Query):
    """A query of versions that compiles only after a branch was named."""

    named: str = ""  # what the query reads: "branch" or "all"; "" refuses

    def get_compiler(self, *args: Any, **kwargs: Any) -> Any:
        self.check()
        return super().get_compiler(*args, **kwargs)

    def resolve_expression(self, *args: Any, **kwargs: Any) -> Any:
        self.check()
        return super().resolve_expression(*args, **kwargs)

    def combine(self, rhs: Any, connector: str) -> NoReturn:
        raise BranchNotNamed(
            "Querysets of versions cannot be joined with &, | or ^: use filter with Q objects."
        )

    @property
    def _model_name(self) -> str:
        return str(self.model and self.model.__name__)

    def check(self) -> None:
        """Raise BranchNotNamed while no branch is named."""
        if not self.named:
            raise BranchNotNamed(f"{self._model_name}: say .on(branch) or .all_versions() first.")


def require_branch(name: str) -> Callable[..., Any]:
    """Wrap a QuerySet method that makes a query of another class: refuse it while no branch is named."""
    plain = getattr(models.QuerySet, name)

    @wraps(plain)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.query.check()
        return plain(self, *args, **kwargs)

    return method
