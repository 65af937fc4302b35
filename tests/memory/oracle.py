"""Model of branches in plain Python: a branch is a list of full states, a fork copies one. No database."""

from copy import copy
from dataclasses import dataclass, field
from uuid import UUID

State = dict[UUID, str]  # what a branch shows: uid -> text
Version = tuple[UUID, str | None]  # a text, or None where the memory was removed


@dataclass
class NaiveBranch:
    """Model of a branch. ``states[seq]`` is its state after that commit; ``states[0]`` its start."""

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
        """Apply one commit: the last change of each memory counts. Without a change there is no commit."""
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
        """Return the memories that the branch once showed and no longer does, in order."""
        return sorted({uid for uid, _ in self.written} - set(self.states[-1]))

    def history(self, uid: UUID, seq: int) -> list[str | None]:
        """Return the texts of a memory up to a commit, in the order of writing."""
        return [text for found, text in self.written[: self.marks[seq]] if found == uid]


class NaiveStore:
    """Model of a store: all branches by name. It starts with an empty main."""

    def __init__(self) -> None:
        self.branches = {"main": NaiveBranch("main", 0, [{}], marks=[0])}

    def fork(self, parent: str, name: str, seq: int) -> NaiveBranch:
        """Create a branch with the state of ``parent`` at ``seq``; they share nothing from then on."""
        source = self.branches[parent]
        written = source.written[: source.marks[seq]]
        branch = NaiveBranch(name, source.depth + 1, [copy(source.states[seq])], written, [len(written)])
        self.branches[name] = branch
        return branch
