"""A gate of merges that fails as a broken one does."""

from typing import Any


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("gate")
