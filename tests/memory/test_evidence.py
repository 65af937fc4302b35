"""Evidence: an absolute number of what a question and a text have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.search.candidates import embed_query
from memory.engines.search.speakers import find_named, find_speaker
from memory.evidence import Expectation, Likeness, expect_answer, list_names, rate_evidence
from memory.providers.embedding import get_provider

UNIT = st.floats(0, 1)


@given(UNIT, UNIT, UNIT, UNIT, st.none() | UNIT)
def test_evidence_never_falls_when_the_likeness_grows(share, cosine, words, more, others):
    expected = Expectation(0.0, others)
    before = rate_evidence(Likeness(share, cosine, words), expected)
    assert 0 < before < 1
    for other in ((max(share, more), cosine, words), (share, max(cosine, more), words)):
        assert rate_evidence(Likeness(*other), expected) >= before
    assert rate_evidence(Likeness(share, cosine, max(words, more)), expected) >= before
    assert rate_evidence(Likeness(share, cosine, words), Expectation(-1.0, others)) < before


def test_where_a_question_names_who_speaks_the_share_of_others_takes_evidence_away():
    found = [
        rate_evidence(Likeness(1.0, 0.9, 0.9), Expectation(0.0, others)) for others in (None, 0.0, 0.5, 1.0)
    ]
    assert found == [pytest.approx(value, abs=1e-4) for value in (0.9995, 0.9507, 0.6128, 0.115)]


def test_words_alone_decide_without_vectors():
    found = [rate_evidence(Likeness(share)) for share in (0.0, 0.5, 1.0)]
    assert found == [pytest.approx(value, abs=1e-4) for value in (0.018, 0.2689, 0.8808)]
    assert rate_evidence(Likeness(0.5), Expectation(3.0, 1.0)) == found[1]


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("Who signs off releases?", 200, -0.8),
        ("In what ways do releases fail?", 200, 0.0),
        ("releases", 200, 0.0),
        ("Wann endet der Vertrag?", 200, 0.0),
        ("When did I move?", 200, 0.2),
        ("How do I bake bread?", 200, -0.8),
        ("What is my locker number?", 32, 1.6),
        ("releases", 1, 2.1),
        ("releases", 0, 2.1),
    ],
)
def test_a_kind_of_question_and_a_small_memory_let_expect_more_or_less(question, texts, expected):
    assert expect_answer(question, texts) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Anna buy in New York on 5 May?", ["Anna", "New", "York"]),
        ("Who painted the Mona Lisa?", ["Mona", "Lisa"]),
        ("When did I see it, and what's I'm to do on Monday?", []),
        ("Welchen Dienst nutzt das Projekt?", []),
        ("Anna", []),
    ],
)
def test_names_of_an_english_question_are_its_words_in_capitals(question, names):
    assert list_names(question) == names


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Apa kabar hari ini?", True),
        ("Vielen lieben Dank, du bist der Beste!", True),
        ("Hôm nay trời nóng quá trời luôn", True),
        ("Who has to look at the payout batch?", False),
        ("add pagination to the endpoint", False),
        ("kubectl", False),
        ("Мама мыла раму", True),
        ("", False),
    ],
)
def test_a_query_whose_words_the_model_does_not_know_is_foreign(settings, text, foreign):
    settings.DAY1 = {"embedder": "minilm"}
    assert embed_query(text, get_provider()).is_foreign is foreign


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
