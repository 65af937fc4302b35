"""The index tokens of version spans: few tokens cover everything open at a seq."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from memory.db.index_tokens import point_tokens, span_tokens

HEAD = 40


def named(branch: int, span: tuple[int, int], seq: int, head: int, searchable: bool = True) -> bool:
    """Return whether a query at a point matches the tokens of a span."""
    asked = point_tokens(branch, seq, head, searchable)
    return any(token.startswith(start) for token in span_tokens(1, *span, True).split() for start in asked)


def test_every_span_around_a_seq_is_named() -> None:
    for span in combinations(range(HEAD + 1), 2):
        for seq in range(span[0], span[1]):
            assert named(1, span, seq, HEAD), (span, seq)


def test_few_others_are_named() -> None:
    """Limit false matches: each is checked, so too many only cost time."""
    spans, seqs = list(combinations(range(1, HEAD + 1), 2)), range(HEAD + 1)
    around = sum(first <= seq < last for first, last in spans for seq in seqs)
    assert sum(named(1, span, seq, HEAD) for span in spans for seq in seqs) <= 1.3 * around


@given(st.lists(st.integers(0, 2**61), min_size=3, max_size=3, unique=True))
def test_spans_of_any_length(numbers: list[int]) -> None:
    first, seq, last = sorted(numbers)
    assert named(1, (first, last), seq, last)
    assert named(1, (first, last), first, last)
    assert named(1, (first, last), last - 1, last + 1)
    assert len(point_tokens(1, seq, last, True)) <= 63


@given(st.integers(2, 200), st.integers(0, HEAD))
def test_other_branches_and_states_are_never_named(branch: int, seq: int) -> None:
    for span in ((seq, seq + 1), (0, HEAD + 1)):
        assert not named(branch, span, seq, HEAD + 1)
        assert not named(1, span, seq, HEAD + 1, searchable=False)
