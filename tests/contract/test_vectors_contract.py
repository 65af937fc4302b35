"""Vector search on every backend: exact, filtered, in step with the rows."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.pinned_versions import pin_versions
from memory.models import Fact, Vector, VectorClock
from memory.models.hashes import content_hash
from memory.models.vectors import vector_slot
from tests.contract.test_keyword_contract import in_another_thread
from tests.memory.test_branches import content_of, fact, some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "synthetic"
ASKED = np.array([1, 0, 0], dtype="f4")


@pytest.fixture
def actor() -> Actor:
    return some_actor()


def unit(*numbers: float) -> np.ndarray:
    vector = np.array(numbers, dtype="f4")
    return vector / np.linalg.norm(vector)


def embed(actor: Actor, model: str = MODEL, **vectors: Sequence[float]) -> None:
    """Store ready vectors of texts, as the embedder does."""
    with transaction.atomic():
        clock, _ = VectorClock.objects.get_or_create(project_id=actor.project_id)
        VectorClock.objects.filter(pk=clock.pk).update(n=F("n") + 1)
        for text, numbers in vectors.items():
            value = content_hash(text)
            Vector.objects.create(
                slot=vector_slot(actor.project_id, model, value),
                project_id=actor.project_id,
                model=model,
                content_hash=value,
                n=clock.n + 1,
                state="ready",
                next_try=timezone.now(),
                data=unit(*numbers),
            )


def shown(actor: Actor, branch: str = "main", seq: int | None = None) -> Any:
    return Fact.objects.on(find_branch(actor, branch), seq)


def near(rows: Any, actor: Actor, k: int = 50, asked: np.ndarray = ASKED, model: str = MODEL) -> list[str]:
    text_of = dict(Fact.objects.all_versions().values_list("pk", "fact_text"))
    return [text_of[rid] for rid, _ in rows.search_vectors(asked, k, model, actor.project_id)]


def test_cosines_are_exact_and_fall(actor: Actor) -> None:
    rows = write(actor, "a", "b", "c", "d")
    embed(actor, a=(1, 1, 0), b=(1, 0, 0), c=(-1, 0, 0))
    found = shown(actor).search_vectors(ASKED, 5, MODEL, actor.project_id)
    assert [rid for rid, _ in found] == [rows[1].pk, rows[0].pk, rows[2].pk]
    assert [score for _, score in found] == pytest.approx([1.0, 0.5**0.5, -1.0], abs=1e-6)


def test_equal_cosines_are_ordered_by_row_also_at_the_edge(actor: Actor) -> None:
    rows = write(actor, *["same"] * 6)
    embed(actor, same=(1, 2, 3))
    for k in (1, 3, 6, 9):
        found = shown(actor).search_vectors(ASKED, k, MODEL, actor.project_id)
        assert [rid for rid, _ in found] == sorted(row.pk for row in rows)[:k]


@pytest.mark.parametrize(
    "narrow",
    [
        lambda rows: rows.filter_indexed(category="bug_fix"),
        lambda rows: rows.filter(category="bug_fix"),
        lambda rows: rows.filter(confidence__lt=0.5),
        lambda rows: rows.searchable().filter_indexed(category=["bug_fix", "x"]).filter(pinned=False),
    ],
)
def test_k_results_whenever_k_exist_under_a_filter(actor: Actor, narrow: Any) -> None:
    """Let the farthest rows pass, so that a filter after the ranking would starve."""
    write(actor, *["close"] * 60)
    write(actor, *["far"] * 5, category="bug_fix", confidence=0.1)
    embed(actor, close=(1, 0, 0), far=(0, 1, 0))
    assert near(narrow(shown(actor)), actor, k=4) == ["far"] * 4


def test_only_searchable_ones_when_so_said(actor: Actor) -> None:
    write(actor, "a")
    write(actor, "b", status="archived")
    embed(actor, a=(1, 0, 0), b=(1, 0, 0))
    assert near(shown(actor).searchable(), actor) == ["a"]
    assert near(shown(actor), actor) == ["a", "b"]


def test_narrowing_twice_is_both(actor: Actor) -> None:
    write(actor, "ours", agent_id="a1")
    write(actor, "theirs", agent_id="a2")
    embed(actor, ours=(1, 0, 0), theirs=(1, 0, 0))
    rows = shown(actor).filter_indexed(agent_id="a1").filter_indexed(agent_id="a2")
    assert list(rows) == []
    assert near(rows, actor) == []


@pytest.mark.parametrize("how", ["complex_filter", "none"])
def test_every_condition_counts(actor: Actor, how: str) -> None:
    from django.db.models import Q

    write(actor, "a")
    embed(actor, a=(1, 0, 0))
    rows = shown(actor)
    rows = {
        "complex_filter": lambda: rows.complex_filter(Q(category="x")),
        "none": lambda: rows.none(),
    }[how]()
    assert near(rows, actor) == []


def test_a_vector_that_comes_later_than_its_row_and_a_row_later_than_its_vector(actor: Actor) -> None:
    write(actor, "a")
    assert near(shown(actor), actor) == []
    embed(actor, a=(1, 0, 0), b=(0, 1, 0))
    assert near(shown(actor), actor) == ["a"]
    write(actor, "b", "a")
    assert near(shown(actor), actor) == ["a", "a", "b"]


def test_changes_and_removals_are_followed(actor: Actor) -> None:
    write(actor, "a", "b")
    embed(actor, a=(1, 0, 0), b=(0, 1, 0), c=(1, 1, 0))
    assert near(shown(actor), actor) == ["a", "b"]
    with open_commit(actor, "main", "change") as commit:
        commit.change_row(commit.visible_rows(Fact).get(fact_text="a"), **content_of("c"))
        commit.remove_row(commit.visible_rows(Fact).get(fact_text="b"))
    assert near(shown(actor), actor) == ["c"]
    assert near(shown(actor, seq=1), actor) == ["a", "b"]


def test_children_of_several_past_points(actor: Actor) -> None:
    for text in "abc":
        write(actor, text)
    with open_commit(actor, "main", "change") as commit:
        commit.change_row(commit.visible_rows(Fact).get(fact_text="c"), **content_of("d"))
    embed(actor, a=(1, 0, 0), b=(1, 1, 0), c=(0, 1, 0), d=(-1, 0, 0))
    assert near(shown(actor), actor) == ["a", "b", "d"]
    for at, expected in ((2, ["a", "b"]), (3, ["a", "b", "c"])):
        child = BranchManager().create_branch(name=f"task/{at}", actor=actor, at=at)
        pin_versions(child)
        assert near(shown(actor, f"task/{at}"), actor) == expected


def test_models_and_projects_are_never_mixed(actor: Actor) -> None:
    other = some_actor()
    write(actor, "a")
    write(other, "a")
    embed(actor, a=(1, 0, 0))
    embed(other, "another model", a=(1, 0, 0))
    assert near(shown(actor), actor) == ["a"]
    assert near(shown(actor), actor, model="another model") == []
    assert near(shown(other), other) == []
    assert len(shown(other).search_vectors(ASKED, 5, "another model", other.project_id)) == 1


def test_a_question_of_other_dimensions_finds_nothing(actor: Actor) -> None:
    write(actor, "a")
    embed(actor, a=(1, 0, 0))
    assert near(shown(actor), actor, asked=unit(1, 0)) == []
    assert near(shown(actor, seq=0), actor, asked=unit(1, 0)) == []


def test_vectors_of_other_dimensions_are_left_out(actor: Actor) -> None:
    write(actor, "a", "b")
    embed(actor, a=(1, 0, 0), b=(1, 0))
    assert near(shown(actor), actor) in (["a"], [])


def test_cosines_of_given_rows(actor: Actor) -> None:
    rows = write(actor, "a", "b", "c")
    embed(actor, a=(1, 0, 0), b=(1, 1, 0))
    found = shown(actor).score_cosines([rows[1].pk, rows[2].pk, 7], ASKED, MODEL, actor.project_id)
    assert found == [(rows[1].pk, pytest.approx(0.5**0.5))]


def test_an_erasure_is_followed(actor: Actor) -> None:
    write(actor, "a", "b")
    embed(actor, a=(1, 0, 0), b=(0, 1, 0))
    assert near(shown(actor), actor) == ["a", "b"]
    with transaction.atomic():
        Vector.objects.filter(content_hash=content_hash("a")).delete()
        VectorClock.objects.filter(project_id=actor.project_id).update(epoch=F("epoch") + 1)
    assert near(shown(actor), actor) == ["b"]


# ---- transactions and old views --------------------------------------------------------------------


def test_a_search_in_a_commit_that_is_rolled_back_leaves_nothing(actor: Actor) -> None:
    write(actor, "a")
    embed(actor, a=(1, 0, 0), b=(0, 1, 0), c=(1, 1, 0))
    with suppress(ZeroDivisionError), open_commit(actor, "main", "write") as commit:
        commit.add_rows([fact("b")])
        near(commit.visible_rows(Fact), actor)
        raise ZeroDivisionError
    assert near(shown(actor), actor) == ["a"]
    write(actor, "c")
    assert near(shown(actor), actor) == ["a", "c"]


def test_a_search_in_the_middle_of_a_commit_misses_nothing_later(actor: Actor) -> None:
    write(actor, "a")
    embed(actor, a=(1, 0, 0), b=(0, 1, 0), c=(1, 1, 0))
    with open_commit(actor, "main", "write") as commit:
        commit.add_rows([fact("b")])
        assert near(commit.visible_rows(Fact), actor) == ["a", "b"]
        commit.add_rows([fact("c")])
        assert near(commit.visible_rows(Fact), actor) == ["a", "c", "b"]
    assert near(shown(actor), actor) == ["a", "c", "b"]


def test_a_reader_in_a_snapshot_sees_the_rows_of_its_time(actor: Actor) -> None:
    write(actor, "a", "b")
    embed(actor, a=(1, 0, 0), b=(0, 1, 0), c=(1, 1, 0))
    with get_backend().snapshot():
        rows = shown(actor)
        in_another_thread(lambda: change_and_search(actor))
        assert near(rows, actor) == ["a", "b"]
    assert near(shown(actor), actor) == ["c", "b"]


def change_and_search(actor: Actor) -> None:
    with open_commit(actor, "main", "change") as commit:
        commit.change_row(commit.visible_rows(Fact).get(fact_text="a"), **content_of("c"))
    assert near(shown(actor), actor) == ["c", "b"]


def test_a_reader_in_a_snapshot_loses_no_vector_for_others(actor: Actor) -> None:
    write(actor, "a")
    BranchManager().create_branch(name="task/a", actor=actor)
    write(actor, "b", branch="task/a")
    embed(actor, a=(1, 0, 0))
    with get_backend().snapshot():
        rows = shown(actor, "task/a")
        in_another_thread(lambda: (embed(actor, b=(0, 1, 0)), near(shown(actor), actor)))
        near(rows, actor)
    assert near(shown(actor, "task/a"), actor) == ["a", "b"]


# ---- several vectors at once -----------------------------------------------------------------------


def match(rows: Any, actor: Actor, *asked: np.ndarray, floor: float = 0.5, k: int = 50) -> list[list[str]]:
    text_of = dict(Fact.objects.all_versions().values_list("pk", "fact_text"))
    matched = rows.match_vectors(np.stack(asked), floor, k, MODEL, actor.project_id)
    return [[text_of[rid] for rid, _ in found] for found in matched]


def test_several_vectors_are_matched_down_to_a_floor(actor: Actor) -> None:
    rows = write(actor, "a", "b", "c", "d")
    embed(actor, a=(1, 1, 0), b=(1, 0, 0), c=(0, 1, 0))
    asked = np.stack([ASKED, unit(0, 1, 0), unit(0, 0, 1)])
    found = shown(actor).match_vectors(asked, 0.5, 5, MODEL, actor.project_id)
    assert [[rid for rid, _ in hits] for hits in found] == [
        [rows[1].pk, rows[0].pk],
        [rows[2].pk, rows[0].pk],
        [],
    ]
    assert [score for _, score in found[0]] == pytest.approx([1.0, 0.5**0.5], abs=1e-6)
    assert match(shown(actor), actor, ASKED, k=1) == [["b"]]


def test_filters_starve_no_match(actor: Actor) -> None:
    write(actor, *["close"] * 90)
    write(actor, *["far"] * 5, confidence=0.1)
    embed(actor, close=(1, 0, 0), far=(1, 1, 0))
    rows = shown(actor).filter(confidence__lt=0.5)
    assert match(rows, actor, ASKED, unit(0, 0, 1), k=3) == [["far"] * 3, []]
    assert match(rows, actor, ASKED, floor=0.8, k=3) == [[]]


def test_matches_follow_branches_changes_and_transactions(actor: Actor) -> None:
    write(actor, "a", "b")
    embed(actor, a=(1, 0, 0), b=(1, 1, 0), c=(1, 0, 0))
    BranchManager().create_branch(name="task/one", actor=actor)
    with open_commit(actor, "main", "change") as commit:
        commit.change_row(commit.visible_rows(Fact).get(fact_text="a"), **content_of("c"))
        commit.remove_row(commit.visible_rows(Fact).get(fact_text="b"))
        assert match(commit.visible_rows(Fact), actor, ASKED) == [["c"]]
    assert match(shown(actor), actor, ASKED) == [["c"]]
    assert match(shown(actor, "task/one"), actor, ASKED) == [["a", "b"]]
    assert match(shown(actor, seq=1), actor, ASKED) == [["a", "b"]]
    assert match(shown(actor, seq=0), actor, ASKED) == [[]]


def test_matching_with_other_dimensions_or_nothing_finds_nothing(actor: Actor) -> None:
    write(actor, "a")
    embed(actor, a=(1, 0, 0))
    assert match(shown(actor), actor, unit(1, 0)) == [[]]
    assert match(shown(actor, seq=0), actor, unit(1, 0)) == [[]]
    none = np.empty((0, 3), dtype="f4")
    assert shown(actor).match_vectors(none, 0.5, 5, MODEL, actor.project_id) == []
