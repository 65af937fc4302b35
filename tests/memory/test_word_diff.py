"""Word differences: exact where cheap, coarse otherwise, with a bound on the work."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.http import HttpRequest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.support.word_diff import MAX_CELLS, WordBudget, compare_words

EQUAL_WORDS = "a " * 999
ALMOST_EQUAL_WORDS = ("a " * 3 + "c ") * 249

texts = st.lists(st.sampled_from(["a", "b", "c", " ", "  ", "\n", ".", "字", "é"]), max_size=30).map("".join)


class TooMuchWork(Exception):
    """Error for a call that takes more steps than it may."""


def count_steps(work: Callable[[], Any], maximum: int) -> int:
    """Return how many lines of Python a call runs. Raises TooMuchWork beyond the maximum."""
    steps = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        if steps > maximum:
            raise TooMuchWork(f"more than {maximum} lines")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("one two", "one two", [("same", "one two")]),
        ("", "one", [("added", "one")]),
        ("one", "", [("removed", "one")]),
        ("one two", "one six", [("same", "one "), ("removed", "two"), ("added", "six")]),
        (
            "Port 80 is open now",
            "Port 8080 is not open",
            [
                ("same", "Port "),
                ("removed", "80 "),
                ("added", "8080 "),
                ("same", "is "),
                ("removed", "open now"),
                ("added", "not open"),
            ],
        ),
        ("八十。", "八一。", [("same", "八"), ("removed", "十"), ("added", "一"), ("same", "。")]),
    ],
)
def test_pieces(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert compare_words(old, new).pieces == expected


@given(texts, texts)
def test_the_pieces_are_both_texts(old: str, new: str) -> None:
    for budget in (WordBudget(), WordBudget(characters=0)):
        found = compare_words(old, new, budget)
        assert "".join(text for kind, text in found.pieces if kind != "added") == old
        assert "".join(text for kind, text in found.pieces if kind != "removed") == new
        assert all(text for _, text in found.pieces)
        assert old != new or {kind for kind, _ in found.pieces} <= {"same"}


def test_words_that_repeat_take_few_steps() -> None:
    def compare() -> None:
        assert not compare_words(EQUAL_WORDS, ALMOST_EQUAL_WORDS).is_coarse

    assert count_steps(compare, maximum=10_000) > 0


def test_a_small_change_of_a_long_text_is_exact() -> None:
    before, after = "word " * 5_000, " end" * 5_000
    found = compare_words(f"{before}old{after}", f"{before}new{after}", WordBudget(characters=100))
    assert not found.is_coarse
    assert [piece for piece in found.pieces if piece[0] != "same"] == [("removed", "old"), ("added", "new")]


def test_texts_beyond_the_bound_are_told_as_a_whole() -> None:
    budget = WordBudget(words=1_000_000)
    old, new = "begin " + "a " * 5_000 + "end", "begin " + "b " * 5_000 + "end"
    assert MAX_CELLS < 5_000 * 5_000
    found = compare_words(old, new, budget)
    assert found.is_coarse
    assert found.pieces == [
        ("same", "begin "),
        ("removed", "a " * 4_999 + "a"),
        ("added", "b " * 4_999 + "b"),
        ("same", " end"),
    ]
    assert budget.cells == WordBudget().cells


def test_a_page_has_one_budget() -> None:
    """Spend the budget on a hundred hostile differences; later ones are coarse."""
    budget = WordBudget()
    found = [compare_words(f"x{n} {EQUAL_WORDS}", f"{ALMOST_EQUAL_WORDS}{n}", budget) for n in range(100)]
    exact = [one for one in found if not one.is_coarse]
    assert 10 <= len(exact) < 50
    assert sum(len(one.pieces) for one in found) <= WordBudget().words + 100 * 4
    assert min(budget.characters, budget.words, budget.cells) >= 0


def rendered(page: Context, old: str, new: str) -> str:
    page["old"], page["new"] = old, new
    return Template("{% load words %}{% words_changed old new %}").render(page)


def test_the_mark_up_is_escaped_and_says_what_is_coarse() -> None:
    page = Context({"request": HttpRequest()})
    html = rendered(page, "a <b> c & e", "a <i> c & 'd'")
    assert html == "a &lt;<del>b</del><ins>i</ins>&gt; c &amp; <del>e</del><ins>&#x27;d&#x27;</ins>"
    long = rendered(page, "<x> " * 30_000, "<y> " * 30_000)
    assert long.endswith('<span class="quiet">(too long to compare word by word)</span>')
    assert "<x>" not in long


def test_code_in_which_words_changed_is_shown_as_code() -> None:
    page = Context({"request": HttpRequest()})
    assert rendered(page, "Run `make -j4` now.", "Run `make -j2` now.") == (
        "Run <code>make -<del>j4</del><ins>j2</ins></code> now."
    )
    assert rendered(page, "A ` is <b>.", "The ` is <b>.") == "<del>A</del><ins>The</ins> ` is &lt;b&gt;."


def test_the_differences_of_a_page_share_its_budget() -> None:
    page = Context({"request": HttpRequest()})
    coarse = ["too long" in rendered(page, EQUAL_WORDS, ALMOST_EQUAL_WORDS) for _ in range(40)]
    assert (coarse[0], coarse[-1]) == (False, True)
    assert "too long" not in rendered(Context({"request": HttpRequest()}), EQUAL_WORDS, ALMOST_EQUAL_WORDS)
