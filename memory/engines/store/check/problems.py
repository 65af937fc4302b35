"""What a check finds: kinds of problems by stable names, with counts and examples; and the list of checks."""

from collections import Counter
from collections.abc import Callable, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memory.db.backend import get_backend

MAX_EXAMPLES = 10
KNOWN_LOSS = "known_loss"  # a note: what was lost before, and accepted by a person


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem. ``repair`` is what a repair does with it, ``advice`` what a person may do."""

    name: str
    text: str
    repair: str = ""
    advice: str = ""


@dataclass
class Problem:
    """What was found of one kind."""

    kind: ProblemKind
    check: str
    count: int = 0
    examples: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)  # of all of them, by which a person can accept them

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.kind.name,
            "check": self.check,
            "text": self.kind.text,
            "count": self.count,
            "examples": self.examples,
            "repair": self.kind.repair,
            "advice": self.kind.advice,
        }


class Findings:
    """The problems of one check, by name."""

    def __init__(self, check: str, accepted: Set[str] = frozenset()) -> None:
        self.check, self.accepted = check, accepted
        self.problems: dict[str, Problem] = {}
        self.notes: Counter[str] = Counter()  # of what was not checked, which are no problems

    def add(self, kind: ProblemKind, *examples: str, count: int | None = None, proof: str = "") -> None:
        """Add what was found; each example counts as one unless a count is named.

        What a person has accepted is noted alone; ``proof`` is what it says now, which must stay so.
        """
        digests = [digest_finding(kind, example, proof) for example in examples]
        if digests and self.accepted >= set(digests):
            self.add_note(KNOWN_LOSS, len(examples) if count is None else count)
            return
        problem = self.problems.setdefault(kind.name, Problem(kind, self.check))
        problem.count += len(examples) if count is None else count
        problem.examples += examples[: MAX_EXAMPLES - len(problem.examples)]
        problem.digests += digests

    def add_note(self, name: str, count: int) -> None:
        self.notes[name] += count


def digest_finding(kind: ProblemKind, example: str, proof: str) -> str:
    return blake2b(f"{kind.name}|{example}|{proof}".encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class CheckedStore:
    """A store that is checked: the alias of a connection that only reads, and its file where it is one."""

    alias: str
    path: Path | None
    tell: Callable[[int, int], None]

    def rows(self, model: Any) -> Any:
        """Return every row of a model, in no order."""
        return model._base_manager.using(self.alias).order_by()

    def open_moment(self) -> AbstractContextManager[None]:
        """Read the store as of one moment; short, since a log grows meanwhile."""
        return get_backend(self.alias).snapshot()


@dataclass(frozen=True)
class Check:
    """A check by its name. ``needs_file``: it reads what only a database in a file has."""

    name: str
    title: str
    find: Callable[[CheckedStore, Findings], None]
    needs_file: bool = False


CHECKS: dict[str, Check] = {}


def add_check(name: str, title: str, *, needs_file: bool = False) -> Callable[[Any], Any]:
    """Register a check. An app to the right registers its own where it is made ready."""

    def register(find: Callable[[CheckedStore, Findings], None]) -> Any:
        CHECKS[name] = Check(name, title, find, needs_file)
        return find

    return register
