"""Regular expressions that are compiled where they are first used: a process needs a few of them."""

import re
from typing import Any, cast


class LazyPattern:
    """Pattern whose methods are those of the compiled one; each is kept, and costs no more from then on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of a module: to compile all of them took a sixth of the start of each process."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))


def lazy_patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(lazy_pattern(pattern) for pattern in patterns)
