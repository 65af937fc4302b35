"""Random histories of branches, compared with a model in plain Python (oracle.py)."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory.db.backend import get_index
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import find_branch, nearest_versions, resolve_point
from memory.engines.versions.pinned_versions import pin_versions
from memory.models import OPEN, Branch, Fact, Project, Vector, VectorClock
from memory.models.vectors import vector_slot
from tests.databases import only_on_sqlite
from tests.memory.oracle import NaiveBranch, NaiveStore
from tests.memory.test_branches import content_of, fact, some_actor

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ("amber", "birch", "cedar", "delta")
MODEL = "synthetic"
DIMENSIONS = 8
MAX_BRANCHES = 7

numbers = st.integers(0, 9)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2)
changes = st.one_of(
    st.tuples(st.just("add"), numbers, words),
    st.tuples(st.sampled_from(["change", "remove", "revive", "put"]), numbers, words),
    st.tuples(
        st.sampled_from(["add+change", "add+remove", "change+change", "change+remove", "remove+put"]),
        numbers,
        words,
    ),
)
steps = st.one_of(
    st.tuples(st.just("commit"), numbers, st.lists(changes, min_size=1, max_size=4)),
    st.tuples(st.just("commit"), numbers, st.lists(changes, min_size=1, max_size=1)),
    st.tuples(st.just("batch"), numbers, st.lists(words, min_size=2, max_size=5)),
    st.tuples(st.just("fork"), numbers, st.tuples(st.sampled_from(["head", "seq", "time"]), numbers)),
    st.tuples(st.sampled_from(["empty", "undone", "archive", "hold", "embed"]), numbers, words),
)
histories = st.lists(steps, min_size=4, max_size=18)


def random_histories(examples: int) -> Any:
    """Return the settings for a fifth of so many random histories; "thorough" plays eight times it."""
    slow = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    # The same histories in every run; a failing one is reported as found, without shrinking.
    return settings(
        max_examples=max(1, examples * settings().max_examples // 100),  # 100 is the default of Hypothesis
        deadline=None,
        suppress_health_check=slow,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
    )


def vector_of(text: str) -> np.ndarray:
    """Return a unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype("f4")


class Undone(Exception):
    """Exception raised in the middle of a commit."""


class World:
    """Store and model, changed in step."""

    def __init__(self) -> None:
        self.project = Project.objects.create(name="p", slug=uuid4().hex)
        create_main(self.project)
        self.actor = some_actor(self.project)
        self.naive = NaiveStore()
        self.texts = 0
        self.ready: set[str] = set()

    # ---- steps ---------------------------------------------------------------------------------

    def play(self, step: tuple) -> None:
        kind, number, detail = step
        names = list(self.naive.branches)
        getattr(self, kind)(names[number % len(names)], detail)

    def commit(self, name: str, planned: list) -> None:
        branch = self.naive.branches[name]
        if not branch.archived:
            branch.commit(self._write(name, planned))

    def undone(self, name: str, some: list[str]) -> None:
        """Fail a commit after its first rows were written."""
        if not self.naive.branches[name].archived:
            with suppress(Undone):
                self._write(name, [("add", 0, some), ("change", 0, some), ("remove", 1, some)], fail=True)

    def batch(self, name: str, texts: list) -> None:
        self.commit(name, [("add", 0, some) for some in texts])

    def empty(self, name: str, _: Any) -> None:
        if not self.naive.branches[name].archived:
            assert self._write(name, []) == {}

    def fork(self, name: str, point: tuple[str, int]) -> None:
        parent, (how, number) = self.naive.branches[name], point
        if len(self.naive.branches) == MAX_BRANCHES or parent.archived:
            return
        seq = parent.head if how == "head" else number % (parent.head + 1)
        at: Any = {"head": None, "seq": seq, "time": self._time_of(name, seq)}[how]
        new = f"b{len(self.naive.branches)}"
        BranchManager().create_branch(name=new, actor=self.actor, parent=name, at=at)
        self.naive.fork(name, new, seq)

    def archive(self, name: str, _: Any) -> None:
        if name != "main":
            BranchManager().archive_branch(name=name, actor=self.actor)
            self.naive.branches[name].archived = True

    def hold(self, name: str, _: Any) -> None:
        for branch in Branch.objects.filter(project=self.project, indexed=False):
            pin_versions(branch)

    def embed(self, name: str, _: Any) -> None:
        """Make every second pending text's vector ready."""
        waiting = {text for b in self.naive.branches.values() for _, text in b.written if text} - self.ready
        self.make_ready(sorted(waiting)[::2])

    def make_ready(self, texts: list[str]) -> None:
        with transaction.atomic():
            clock, _ = VectorClock.objects.get_or_create(project=self.project)
            VectorClock.objects.filter(pk=clock.pk).update(n=F("n") + 1)
            Vector.objects.bulk_create(self._vector(text, clock.n + 1) for text in texts)
        self.ready |= set(texts)

    # ---- pieces --------------------------------------------------------------------------------

    def _vector(self, text: str, n: int) -> Vector:
        value = content_of(text)["content_hash"]
        slot = vector_slot(self.project.pk, MODEL, value)
        return Vector(
            slot=slot,
            project=self.project,
            model=MODEL,
            content_hash=value,
            n=n,
            state="ready",
            next_try=timezone.now(),
            data=vector_of(text),
        )

    def _time_of(self, name: str, seq: int) -> Any:
        branch = find_branch(self.actor, name)
        return branch.commits.get(seq=seq).at if seq else branch.created_at

    def _text(self, some: list[str]) -> str:
        self.texts += 1
        return f"{' '.join(some)} n{self.texts}"

    def _write(self, name: str, planned: list, fail: bool = False) -> dict[UUID, str | None]:
        """Make the changes in one commit; return the last text of each memory."""
        touched: dict[UUID, str | None] = {}
        with open_commit(self.actor, name, "write") as commit:
            for kind, number, some in planned:
                self._change(commit, name, touched, kind, number, some)
            if fail:
                raise Undone
        return touched

    def _change(
        self, commit: CommitWriter, name: str, touched: dict, kind: str, number: int, some: list
    ) -> None:
        branch = self.naive.branches[name]
        shown = {**branch.states[-1], **touched}
        here = [uid for uid, text in shown.items() if text is not None]
        gone = sorted({*branch.removed(), *touched} - set(here))
        first, _, second = kind.partition("+")
        if first == "add":
            uid = commit.add_rows([fact(text := self._text(some))])[0].uid
            touched[uid] = text
        else:
            choice = gone if first == "revive" else here
            if not choice:
                return
            uid = choice[number % len(choice)]
            self._change_one(commit, touched, first, uid, some)
        if second:
            self._change_one(commit, touched, second, uid, some)

    def _change_one(self, commit: CommitWriter, touched: dict, kind: str, uid: UUID, some: list) -> None:
        text = None if kind == "remove" else self._text(some)
        if kind == "change":
            commit.change_row(commit.get_version(Fact, uid), **content_of(text or ""))
        elif kind == "remove":
            commit.remove_row(commit.get_version(Fact, uid))
        else:
            tombstone = nearest_versions(commit.lineage, Fact, [uid])[uid]
            commit.change_row(tombstone, **content_of(text or ""))
        touched[uid] = text


def looks(world: World, every_seq: bool = False) -> list[tuple[NaiveBranch, Branch, int]]:
    """Return every branch at its head and at some or all points of its past, heads first."""
    points = []
    for name, branch in world.naive.branches.items():
        row = find_branch(world.actor, name)
        assert row.head == branch.head
        seqs = set(range(branch.head + 1)) if every_seq else {branch.head, branch.head // 2, 0}
        points += [(branch, row, seq) for seq in seqs]
    return sorted(points, key=lambda point: point[0].head - point[2])


def played(world: World, history: list[tuple], check: Any) -> None:
    """Play a history; check after every few steps and at the end."""
    for number, step in enumerate(history, 1):
        world.play(step)
        if number % 6 == 0 or number == len(history):
            for branch, row, seq in looks(world):
                check(world, branch, row, seq)


# ---- rows ----------------------------------------------------------------------------------------


def check_rows(world: World, branch: NaiveBranch, row: Branch, seq: int) -> None:
    expected = set(branch.states[seq].items())
    shown = Fact.objects.on(row, seq)
    assert {(f.uid, f.fact_text) for f in shown} == expected
    assert {(f.uid, f.fact_text) for f in shown.prefer_start_index()} == expected
    assert set(shown.rows().values_list("uid", "fact_text")) == expected
    assert shown.count() == len(expected)
    assert shown.exists() == bool(expected)
    if seq == branch.head:
        assert set(Fact.objects.on(row).values_list("uid", "fact_text")) == expected
    check_pages(shown, sorted(branch.states[seq], reverse=True))


def check_pages(shown: Any, uids: list[UUID]) -> None:
    """Page forward from the newest and back again, three at a time."""
    assert [f.uid for f in shown.newest(3)] == uids[:3]
    for place, uid in enumerate(uids[::3]):
        start = place * 3
        assert [f.uid for f in shown.newest(3, before=uid)] == uids[start + 1 : start + 4]
        assert [f.uid for f in shown.lowest(3, "uid", after=uid)] == uids[max(0, start - 3) : start][::-1]


def check_history(branch: NaiveBranch, row: Branch, seq: int) -> None:
    for uid in {uid for uid, _ in branch.written[: branch.marks[seq]]}:
        found = Fact.objects.history(row.lineage(seq), uid)
        texts = [None if f.deleted else f.fact_text for f in found]
        assert sorted(texts, key=str) == sorted(branch.history(uid, seq), key=str)


def check_invariants(world: World) -> None:
    for name in world.naive.branches:
        row = find_branch(world.actor, name)
        commits = list(row.commits.order_by("seq"))
        assert [c.seq for c in commits] == list(range(1, row.head + 1))
        assert all(a.at < b.at for a, b in pairwise(commits))
        assert [resolve_point(row, c.at) for c in commits] == [c.seq for c in commits]
        assert [resolve_point(row, c.pk) for c in commits] == [c.seq for c in commits]
        check_chain(row)


def check_chain(row: Branch) -> None:
    """Check that a memory's versions on a branch follow without a gap; only the last may be open."""
    by_uid = defaultdict(list)
    for version in Fact.objects.all_versions().filter(branch=row).order_by("seq_from"):
        by_uid[version.uid].append(version)
        is_open = version.seq_to == OPEN and not version.deleted
        assert version.slot == (f"{row.pk}:{version.uid.hex}" if is_open else None)
    for versions in by_uid.values():
        assert versions[-1].seq_to == OPEN
        for old, new in pairwise(versions):
            assert (old.seq_to, old.vid) == (new.seq_from, new.prev_vid)
            assert old.version < new.version


@pytest.mark.slow
@given(history=histories)
@random_histories(10)
def test_rows_are_those_of_the_model(history: list[tuple]) -> None:
    world = World()
    played(world, history, check_rows)
    for branch, row, seq in looks(world):
        check_history(branch, row, seq)
    check_invariants(world)


# ---- keyword index -------------------------------------------------------------------------------


def check_words(world: World, branch: NaiveBranch, row: Branch, seq: int) -> None:
    shown = Fact.objects.on(row, seq)
    uid_of = dict(shown.values_list("pk", "uid"))
    for asked in (["amber"], ["cedar", "delta"], ["nothing"]):
        expected = {uid for uid, text in branch.states[seq].items() if set(asked) & set(text.split())}
        best, _ = shown.match_words(asked, 1000)
        assert len(best) == len(expected)
        assert {uid_of[rid] for rid, _ in best} == expected
        assert [s for _, s in best] == sorted((s for _, s in best), reverse=True)
        assert len(shown.searchable().match_words(asked, 2)[0]) == min(2, len(expected))


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 3000])
@given(history=histories)
@random_histories(5)
def test_words_are_found_in_what_is_visible(
    few: int, history: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search the past too, by reading rows and by the index of closed versions."""
    monkeypatch.setattr("memory.db.sqlite.search_index.FEW", few)
    search_whole_history(history, check_words)


def check_words_with_vectors(world: World, branch: NaiveBranch, row: Branch, seq: int) -> None:
    """Search by words where the cache of vectors says which rows are visible."""
    get_index().load_vectors(Fact.objects.on(row), MODEL, world.project.pk)
    check_words(world, branch, row, seq)


@pytest.mark.slow
@given(history=histories)
@random_histories(10)
def test_words_are_found_where_vectors_are_in_memory(history: list[tuple]) -> None:
    search_whole_history(history, check_words_with_vectors)


def search_whole_history(history: list[tuple], check: Callable[..., None]) -> None:
    """Check what is found after each step, and in the end at every point of each branch."""
    world = World()
    played(world, history, check)
    world.hold("main", None)
    for look in looks(world, every_seq=True):
        check(world, *look)


# ---- vectors -------------------------------------------------------------------------------------


def check_vectors(world: World, branch: NaiveBranch, row: Branch, seq: int) -> None:
    asked = vector_of("what is asked for")
    shown = Fact.objects.on(row, seq)
    text_of = dict(shown.values_list("pk", "fact_text"))
    expected = {rid: float(vector_of(t) @ asked) for rid, t in text_of.items() if t in world.ready}
    assert set(text_of.values()) == set(branch.states[seq].values())
    found = shown.search_vectors(asked, 1000, MODEL, world.project.pk)
    assert dict(found) == pytest.approx(expected, abs=1e-6)
    ranked = sorted(expected, key=lambda rid: -expected[rid])
    assert [rid for rid, _ in shown.search_vectors(asked, 3, MODEL, world.project.pk)] == ranked[:3]
    check_matches(world, shown, ranked)


def check_matches(world: World, shown: Any, ranked: list[int]) -> None:
    """Compare several vectors at once with a search for each."""
    texts = ["what is asked for", *sorted(world.ready)[:3]]
    asked = np.stack([vector_of(text) for text in texts])
    second, none = shown.filter(Q(rid__in=ranked[::2])), shown.filter_indexed(category="none")
    for rows in (shown, shown.searchable(), second, none):
        singly = [rows.search_vectors(one, 1000, MODEL, world.project.pk) for one in asked]
        for floor, k in ((-1.0, 1000), (-1.0, 2), (0.2, 1), (0.2, 50), (0.999, 3)):
            matched = rows.match_vectors(asked, floor, k, MODEL, world.project.pk)
            near = [[hit for hit in found if hit[1] >= floor][:k] for found in singly]
            assert [[rid for rid, _ in hits] for hits in matched] == [[r for r, _ in hits] for hits in near]
            scores = [score for hits in matched for _, score in hits]
            assert scores == pytest.approx([s for hits in near for _, s in hits], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 3000])
@given(history=histories)
@random_histories(5)
def test_vectors_are_those_of_what_is_visible(
    few: int, history: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search the past too, by a full scan and by the vectors in memory."""
    monkeypatch.setattr("memory.db.sqlite.search_index.FEW", few)
    world = World()
    played(world, history, check_vectors)
    world.hold("main", None)
    world.embed("main", None)
    for look in looks(world, every_seq=True):
        check_vectors(world, *look)


@only_on_sqlite  # elsewhere everything ever written is in it
def test_the_index_holds_open_and_held_versions_only() -> None:
    world = World()
    world.commit("main", [("add", 0, ["amber"]), ("add", 0, ["birch"])])
    world.commit("main", [("change", 0, ["amber"])])
    world.fork("main", ("head", 0))
    world.commit("main", [("change", 0, ["amber"]), ("remove", 1, ["amber"])])
    with connection.cursor() as cursor:
        cursor.execute("SELECT rowid FROM memory_fact_fts")
        held = {rowid for (rowid,) in cursor.fetchall()}
        cursor.execute("SELECT rowid FROM memory_fact_fts_closed")
        closed = {rowid for (rowid,) in cursor.fetchall()}
    versions = Fact.objects.all_versions().order_by("seq_from", "rid")
    kept = {f.pk for f in versions if (f.seq_to == OPEN and not f.deleted) or f.seq_from <= 2 < f.seq_to}
    assert held == kept
    assert len(kept) == 3
    assert closed == {f.pk for f in versions if f.seq_to < OPEN and not f.deleted}
    assert len(closed) == 3
