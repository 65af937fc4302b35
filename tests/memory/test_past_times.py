"""Reads at a time show the state of the lineage then, compared with a model."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch, resolve_point
from memory.exceptions import Invalid
from memory.models import Branch, Fact, Snapshot
from tests.memory.test_branches import some_actor, write
from tests.memory.test_versions import random_histories

pytestmark = pytest.mark.django_db(transaction=True)
BRANCHES, FACTS = BranchManager(), FactEngine()
EVER = datetime(2020, 1, 1, tzinfo=UTC)
NOTHING: frozenset[UUID] = frozenset()


@dataclass
class Line:
    """Model of all states of a branch since the beginning, its ancestors' included."""

    states: list[tuple[datetime, frozenset[UUID]]] = field(default_factory=list)
    inherited: int = 0  # the number of its ancestors' states

    def at(self, when: datetime) -> frozenset[UUID]:
        return next((state for then, state in reversed(self.states) if then <= when), NOTHING)

    def fork(self, own_seq: int) -> "Line":
        states = self.states[: self.inherited + own_seq]
        return Line(states, len(states))


class TimedWorld:
    """Store with the model of each branch."""

    def __init__(self) -> None:
        self.actor = some_actor()
        self.lines = {"main": Line()}

    def play(self, kind: str, number: int, point: int) -> None:
        name = list(self.lines)[number % len(self.lines)]
        getattr(self, kind)(name, self.lines[name], point)

    def write(self, name: str, line: Line, _: int) -> None:
        shown = line.states[-1][1] if line.states else NOTHING
        (row,) = write(self.actor, f"fact {len(line.states)}", branch=name)
        line.states.append((row.created_at, shown | {row.uid}))

    def remove(self, name: str, line: Line, point: int) -> None:
        shown = line.states[-1][1] if line.states else NOTHING
        if not shown:
            return
        uid = sorted(shown)[point % len(shown)]
        with open_commit(self.actor, name, "fact.delete") as commit:
            commit.remove_row(commit.get_version(Fact, uid))
        line.states.append((commit.at, shown - {uid}))

    def fork(self, name: str, line: Line, point: int) -> None:
        if len(self.lines) == 6:
            return
        own = len(line.states) - line.inherited
        new, seq = f"b{len(self.lines)}", point % (own + 1)
        BRANCHES.create_branch(name=new, parent=name, at=seq, actor=self.actor)
        self.lines[new] = line.fork(seq)

    def times(self) -> list[datetime]:
        written = {when for line in self.lines.values() for when, _ in line.states}
        just_before = {when - timedelta(microseconds=1) for when in written}
        return sorted({EVER, *written, *just_before})


moves = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "remove", "fork", "fork"]), st.integers(0, 9), st.integers(0, 9)
    ),
    min_size=4,
    max_size=14,
)


@pytest.mark.slow
@given(history=moves)
@random_histories(12)
def test_a_past_time_shows_the_state_of_the_line_then(history: list[tuple[str, int, int]]) -> None:
    world = TimedWorld()
    for move in history:
        world.play(*move)
    for name, line in world.lines.items():
        branch = find_branch(world.actor, name)
        for when in world.times():
            shown = Fact.objects.on(branch, resolve_point(branch, when)).values_list("uid", flat=True)
            assert frozenset(shown) == line.at(when), (name, when)


# ---- every way to read ---------------------------------------------------------------------------------


@pytest.fixture
def forks(actor: Actor) -> dict[str, Any]:
    """Write three facts on main, a branch with one more, and a branch of that."""
    early, middle, late = (
        FACTS.write_fact(fact_text=f"The {word} harbour is blue.", actor=actor).fact
        for word in ("early", "middle", "late")
    )
    BRANCHES.create_branch(name="task/a", actor=actor)
    own = FACTS.write_fact(fact_text="The own harbour is blue.", actor=actor, branch_name="task/a").fact
    BRANCHES.create_branch(name="task/a/b", parent="task/a", actor=actor)
    return {"early": early, "middle": middle, "late": late, "own": own}


def lines_of(found: Any) -> set[str]:
    return {one.fact_text.split()[1] for one in found}


@pytest.mark.parametrize("branch", ["main", "task/a", "task/a/b"])
def test_lists_searches_and_histories_agree(forks: dict[str, Any], branch: str, actor: Actor) -> None:
    on = {"actor": actor, "branch_name": branch}
    for until, expected in (("early", {"early"}), ("middle", {"early", "middle"})):
        at = forks[until].created_at
        assert lines_of(FACTS.list_facts(**on, at=at)) == expected
        hits = SearchEngine().search(query="harbour blue", **on, at=at).hits
        assert lines_of(one.fact for one in hits) == expected
    assert lines_of(FACTS.list_facts(**on, at=EVER)) == set()
    assert SearchEngine().search(query="harbour blue", **on, at=EVER).hits == []


def test_pages_stay_before_the_fork(forks: dict[str, Any], actor: Actor) -> None:
    on = {"actor": actor, "branch_name": "task/a/b", "limit": 1}
    first = FACTS.list_facts(**on, at=forks["middle"].created_at)
    second = FACTS.list_facts(**on, cursor=first.next or "")
    assert (lines_of(first), lines_of(second), second.next) == ({"middle"}, {"early"}, None)


def test_a_difference_from_before_the_fork(forks: dict[str, Any], actor: Actor) -> None:
    at = forks["early"].created_at
    diff = BRANCHES.compare_branch(name="task/a/b", actor=actor, against="task/a/b", against_at=at)
    assert {one.uid for one in diff.page.results} == {forks[name].uid for name in ("middle", "late", "own")}


# ---- checks against the branch -------------------------------------------------------------------------


def test_nothing_is_forked_or_named_before_the_branch_was_there(forks: dict[str, Any], actor: Actor) -> None:
    branches, at = Branch.objects.count(), forks["early"].created_at
    for refused in (
        lambda: BRANCHES.create_branch(name="task/c", parent="task/a", at=at, actor=actor),
        lambda: SnapshotManager().create_snapshot(name="s", branch_name="task/a", at=at, actor=actor),
    ):
        with pytest.raises(Invalid, match="task/a was not there yet: it was forked from main later"):
            refused()
    assert (Branch.objects.count(), Snapshot.objects.count()) == (branches, 0)
    assert BRANCHES.create_branch(name="task/c", at=at, actor=actor).fork_seq == 1


def test_a_seq_beyond_the_line_is_refused(forks: dict[str, Any], actor: Actor) -> None:
    branch = find_branch(actor, "task/a")
    assert [resolve_point(branch, seq) for seq in (-3, 0, 1)] == [-3, 0, 1]
    for seq in (-4, 2):
        with pytest.raises(Invalid, match="task/a has the seqs 0 to 1"):
            resolve_point(branch, seq)


def test_the_words_of_a_single_fact(actor: Actor) -> None:
    """Hide an edit on main before the fork at a time before the edit."""
    old = FACTS.write_fact(fact_text="Port 80.", actor=actor).fact
    FACTS.update_fact(fact_id=old.uid, updates={"fact_text": "Port 81."}, actor=actor)
    BRANCHES.create_branch(name="task/a", actor=actor)
    at = {"actor": actor, "branch_name": "task/a", "at": old.created_at}
    assert FACTS.get_fact(fact_id=old.uid, **at).fact_text == "Port 80."
    assert [one.fact_text for one in FACTS.list_versions(fact_id=old.uid, **at)] == ["Port 80."]
