"""Evidence: an absolute number of what a question and a text have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.search.speakers import find_named, find_speaker
from memory.evidence import Likeness, rate_evidence

UNIT = st.floats(0, 1)


@given(UNIT, UNIT, UNIT, UNIT)
def test_evidence_never_falls_when_the_likeness_grows(share, cosine, words, more):
    before = rate_evidence(Likeness(share, cosine, words))
    assert 0 < before < 1
    for other in ((max(share, more), cosine, words), (share, max(cosine, more), words)):
        assert rate_evidence(Likeness(*other)) >= before
    assert rate_evidence(Likeness(share, cosine, max(words, more))) >= before
    assert rate_evidence(Likeness(share, cosine, words, by_other=True)) < before


def test_words_alone_decide_without_vectors():
    found = [rate_evidence(Likeness(share)) for share in (0.0, 0.5, 1.0)]
    assert found == [pytest.approx(value, abs=1e-4) for value in (0.018, 0.2689, 0.8808)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("[8 May, 2023] Anna Maria: Hello", "anna maria"),
        ("Bo: yes", "bo"),
        ("李娜：你好 ", ""),
        ("See https://a.b", ""),
        ("no name here", ""),
        ("[a] user: hi", "user"),
    ],
)
def test_the_speaker_is_the_name_before_the_first_colon(text, speaker):
    assert find_speaker(text) == speaker


def test_a_speaker_is_named_as_a_word_and_a_role_never():
    known = {"anna", "bo", "user", "李娜", ""}
    assert find_named(known, "What did Anna's user borrow?") == {"anna"}
    assert find_named(known, "李娜说了什么？") == {"李娜"}
