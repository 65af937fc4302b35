"""Regular expressions that are compiled where they are first used."""

import re

import pytest

from memory.patterns import lazy_pattern


def test_it_answers_as_the_compiled_one_does() -> None:
    lazy, eager = lazy_pattern(r"(?P<word>a+)", re.I), re.compile(r"(?P<word>a+)", re.I)
    for _ in range(2):  # the second time what was kept answers
        assert [match["word"] for match in lazy.finditer("xAa-a")] == ["Aa", "a"]
        assert (lazy.sub("b", "xAa"), lazy.fullmatch("xa"), lazy.split("1a2")) == (
            "xb",
            None,
            ["1", "a", "2"],
        )
        assert (lazy.pattern, lazy.flags, lazy.groupindex) == (eager.pattern, eager.flags, eager.groupindex)


def test_one_that_is_none_is_told_where_it_is_used() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("a")
