"""Keyword search at a past point, for which closed versions have an index of their own."""

from typing import Any

import pytest
from django.db import connection

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.commits import open_commit
from memory.engines.versions.pinned_versions import pin_versions, unpin
from memory.models import Branch, Fact
from tests.contract.test_keyword_contract import HARMLESS, NARROW, K, change, found, shown
from tests.memory.test_branches import content_of, some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)
OTHERS = [f"something else {n}" for n in range(20)]  # a word in most texts has little weight


@pytest.fixture(autouse=True)
def never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Force the use of the index: few rows would be read directly."""
    monkeypatch.setattr("memory.db.sqlite.search_index.FEW", 0)


@pytest.fixture
def actor() -> Actor:
    return some_actor()


def remove(actor: Actor, text: str, branch: str = "main") -> None:
    with open_commit(actor, branch, "remove") as commit:
        commit.remove_row(commit.visible_rows(Fact).get(fact_text=text))


def test_changed_removed_and_later_texts_are_told_apart(actor: Actor) -> None:
    write(actor, "amber stays", "amber changes", "amber goes", "birch")
    change(actor, "amber changes", **content_of("amber has changed"))
    remove(actor, "amber goes")
    write(actor, "amber comes")
    assert sorted(found(shown(actor, seq=1), "amber")) == ["amber changes", "amber goes", "amber stays"]
    assert sorted(found(shown(actor, seq=2), "amber")) == ["amber goes", "amber has changed", "amber stays"]
    assert sorted(found(shown(actor, seq=3), "amber")) == ["amber has changed", "amber stays"]
    assert found(shown(actor, seq=0), "amber") == []


def test_an_open_and_a_closed_text_are_ranked_alike(actor: Actor) -> None:
    """Give every closed text the word, and few open ones: counted separately it would have no weight
    there.
    """
    write(actor, *OTHERS, "amber open", "amber shut", "amber with many other words that make it long")
    change(actor, "amber shut", **content_of("amber has changed"))
    best, _ = shown(actor, seq=1).match_words(["amber"], K)
    scores = dict(zip(found(shown(actor, seq=1), "amber"), (score for _, score in best), strict=True))
    assert scores["amber shut"] == pytest.approx(scores["amber open"], rel=0.15)
    assert min(scores, key=scores.__getitem__) == "amber with many other words that make it long"
    assert (
        scores["amber open"] == dict(shown(actor, seq=2).match_words(["amber"], K)[0])[best_of(best, scores)]
    )


def best_of(best: Any, scores: dict[str, float]) -> int:
    """Return the row id of the open text."""
    return next(rid for rid, score in best if score == scores["amber open"])


def test_a_rare_word_outweighs_a_common_one_among_closed_texts(actor: Actor) -> None:
    """Write both words equally often among the closed texts."""
    write(actor, *[f"birch {n}" for n in range(20)], "amber open", *OTHERS * 2)
    write(actor, "amber shut", "birch shut")
    change(actor, "amber shut", **content_of("nothing"))
    change(actor, "birch shut", **content_of("nothing"))
    best = found(shown(actor, seq=2), "amber", "birch")
    assert set(best[:2]) == {"amber open", "amber shut"}
    assert "birch shut" in best[2:]


def test_the_best_are_taken_from_both(actor: Actor) -> None:
    write(actor, *OTHERS, *[f"amber {'and more ' * n}" for n in range(2 * K)])
    for n in range(0, 2 * K, 2):
        change(actor, f"amber {'and more ' * n}", **content_of("birch"))
    rows = shown(actor, seq=1)
    every = found(rows, "amber")
    assert len(every) == 2 * K
    assert found(rows, "amber", k=K) == every[:K]


@pytest.mark.parametrize("field", NARROW)
def test_k_results_whenever_k_exist_under_a_filter(actor: Actor, field: str) -> None:
    write(actor, *[f"amber {'amber ' * 4}{n}" for n in range(30)])
    texts = [f"amber {'among many other words ' * 8}{n}" for n in range(K)]
    write(actor, *texts, **{field: NARROW[field]})
    for text in texts[::2]:
        change(actor, text, **{field: "other", **content_of("birch")})
    rows = shown(actor, seq=2)
    for some in (rows.filter_indexed(**{field: NARROW[field]}), rows.filter(**{field: NARROW[field]})):
        assert sorted(found(some, "amber")) == sorted(texts)
        assert len(some.match_words(["amber"], K)[0]) == K


def test_what_was_searchable_then(actor: Actor) -> None:
    write(actor, "amber one", "amber two")
    change(actor, "amber one", status="archived")
    change(actor, "amber one", status="active")
    assert sorted(found(shown(actor, seq=1).searchable(), "amber")) == ["amber one", "amber two"]
    assert found(shown(actor, seq=2).searchable(), "amber") == ["amber two"]
    assert sorted(found(shown(actor, seq=2), "amber")) == ["amber one", "amber two"]


def test_also_gives_the_scores_of_both(actor: Actor) -> None:
    rows = write(actor, *OTHERS, "amber one", "amber two and more", "birch")[-3:]
    change(actor, "amber two and more", **content_of("cedar"))
    best, also = shown(actor, seq=1).match_words(["amber"], 1, also=[row.pk for row in rows])
    every, _ = shown(actor, seq=1).match_words(["amber"], K)
    assert best == every[:1]
    assert sorted(also) == sorted(every)
    assert {rid for rid, _ in also} == {rows[0].pk, rows[1].pk}


@pytest.mark.parametrize("word", HARMLESS, ids=range(len(HARMLESS)))
def test_any_word_is_only_a_word(actor: Actor, word: str) -> None:
    write(actor, "birch", "cedar birch")
    change(actor, "birch", **content_of("delta"))
    assert found(shown(actor, seq=1), word) == []
    assert sorted(found(shown(actor, seq=1), "birch", word)) == ["birch", "cedar birch"]


def test_five_hundred_words_are_a_question(actor: Actor) -> None:
    write(actor, "word7 and more")
    change(actor, "word7 and more", **content_of("nothing"))
    assert found(shown(actor, seq=1), *[f"word{n}" for n in range(500)]) == ["word7 and more"]


def test_a_part_of_a_chinese_sentence_is_found(actor: Actor) -> None:
    write(actor, "数据库连接池的大小是二十")
    change(actor, "数据库连接池的大小是二十", **content_of("nothing"))
    assert found(shown(actor, seq=1), "连接池") == ["数据库连接池的大小是二十"]
    assert found(shown(actor, seq=1), "接连") == []


# ---- branches --------------------------------------------------------------------------------------


def test_the_past_of_a_child_and_of_its_parent(actor: Actor) -> None:
    write(actor, "amber one", "amber two")
    BranchManager().create_branch(name="task/a", actor=actor)
    change(actor, "amber one", **content_of("birch"))
    write(actor, "amber own", branch="task/a")
    change(actor, "amber own", "task/a", **content_of("birch own"))
    remove(actor, "amber two", "task/a")
    assert sorted(found(shown(actor, "task/a", 0), "amber")) == ["amber one", "amber two"]
    assert sorted(found(shown(actor, "task/a", 1), "amber")) == ["amber one", "amber own", "amber two"]
    assert sorted(found(shown(actor, "task/a", 2), "amber")) == ["amber one", "amber two"]
    assert found(shown(actor, "task/a"), "amber") == ["amber one"]
    assert sorted(found(shown(actor, seq=1), "amber")) == ["amber one", "amber two"]


@pytest.mark.parametrize("held", [False, True])
def test_what_is_held_for_a_branch_is_found_once(actor: Actor, held: bool) -> None:
    write(actor, "amber one")
    change(actor, "amber one", **content_of("birch"))
    child = BranchManager().create_branch(name="task/a", actor=actor, at=1)
    write(actor, "cedar", branch="task/a")
    assert pin_versions(child) == 1 if held else True
    assert found(shown(actor, "task/a", 0), "amber") == ["amber one"]
    assert found(shown(actor, seq=1), "amber") == ["amber one"]


def test_an_archived_branch_of_an_empty_one(actor: Actor) -> None:
    """Search a branch without writes: closed versions of other branches do not count."""
    other = some_actor()
    write(other, "amber theirs")
    change(other, "amber theirs", **content_of("birch"))
    child = BranchManager().create_branch(name="task/a", actor=actor)
    BranchManager().archive_branch(name="task/a", actor=actor)
    unpin(Branch.objects.get(pk=child.pk))
    assert not Branch.objects.get(pk=child.pk).indexed
    assert shown(actor, "task/a").match_words(["amber"], K) == ([], [])


def test_another_project_is_never_reached(actor: Actor) -> None:
    other = some_actor()
    write(other, "amber theirs")
    change(other, "amber theirs", **content_of("birch"))
    write(actor, "amber ours")
    change(actor, "amber ours", **content_of("birch"))
    assert found(shown(actor, seq=1), "amber") == ["amber ours"]
    assert found(shown(other, seq=1), "amber") == ["amber theirs"]


# ---- in step with the rows -------------------------------------------------------------------------


def closed_rows() -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rowid, text, tok FROM memory_fact_fts_closed ORDER BY rowid")
        return cursor.fetchall()
