"""Branches as plain Python: a branch is a list of whole states, a fork copies one of them. No database."""

from copy import copy
from dataclasses import dataclass, field
from uuid import UUID

State = dict[UUID, str]  # what a branch shows: uid -> text
Version = tuple[UUID, str | None]  # a text, or None where the memory was removed


@dataclass
class NaiveBranch:
    """``states[seq]`` is what the branch showed after that commit; ``states[0]`` what it started with."""

    name: str
    depth: int
    states: list[State]
    written: list[Version] = field(default_factory=list)  # inherited versions first, then its own
    marks: list[int] = field(default_factory=list)  # marks[seq] = how many were written by then
    archived: bool = False

    @property
    def head(self) -> int:
        return len(self.states) - 1

    def commit(self, changes: dict[UUID, str | None]) -> None:
        """One commit: the last word on each memory it touched. Nothing touched, no commit."""
        if not changes:
            return
        state = copy(self.states[-1])
        for uid, text in changes.items():
            state.pop(uid, None)
            if text is not None:
                state[uid] = text
        self.states.append(state)
        self.written += changes.items()
        self.marks.append(len(self.written))

    def removed(self) -> list[UUID]:
        """Memories that the branch once held and shows no more, in order."""
        return sorted({uid for uid, _ in self.written} - set(self.states[-1]))

    def history(self, uid: UUID, seq: int) -> list[str | None]:
        """The texts of a memory up to a commit, in the order of writing."""
        return [text for found, text in self.written[: self.marks[seq]] if found == uid]


class NaiveStore:
    """All branches by name. It starts with an empty main."""

    def __init__(self) -> None:
        self.branches = {"main": NaiveBranch("main", 0, [{}], marks=[0])}

    def fork(self, parent: str, name: str, seq: int) -> NaiveBranch:
        """A branch that starts as ``parent`` was at ``seq`` and shares nothing with it from then on."""
        source = self.branches[parent]
        written = source.written[: source.marks[seq]]
        branch = NaiveBranch(name, source.depth + 1, [copy(source.states[seq])], written, [len(written)])
        self.branches[name] = branch
        return branch
