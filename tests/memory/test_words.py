"""Keywords of a query, and the patterns by which MatrixOne finds them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.db.index_tokens import search_phrases, space_characters
from memory.db.matrixone.boolean_patterns import build_pattern, list_phrases, list_ranges
from memory.models.hashes import judged_hash, norm_hash, normalise_text
from memory.word_forms import fold_text
from memory.words import MAX_KEYWORDS, STOP_WORDS, extract_keywords


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", []),
        (" \n", []),
        ("?!", []),
        ("___", []),
        ("\x00", []),
        ("😀 ❤️", ["😀", "❤"]),
        ("What is the API key?", ["api", "key"]),
        ("what is the", ["what", "is", "the"]),
        ("the The THE", ["the"]),
        ("auth_token", ["auth_token", "auth", "token"]),
        ("_private_", ["_private_", "private"]),
        ("Cat cat CAT dog", ["cat", "dog"]),
        ("don't", ["don", "t"]),
        ("e\u0301t\u00e9", ["été"]),
        ("a\x00b cats", ["b", "cats"]),
        ("日本語 test", ["日本语", "test"]),
        ("數據庫", ["数据库"]),
        ("ﾃﾞｰﾀ ＡＰＩ", ["データ", "api"]),
        ("ที่ไหน", ["ที่ไหน"]),
        ("हिन्दी २०", ["हिन्दी", "20"]),
        ("שָׁלוֹם", ["שלום"]),
        ("10.5 %", ["10", "5"]),
        ('foo:bar -baz "q"', ["foo", "bar", "baz", "q"]),
    ],
)
def test_keywords(query, expected):
    assert extract_keywords(query) == expected


def test_only_the_first_words_of_a_long_query():
    assert extract_keywords(" ".join(f"w{i}" for i in range(900))) == [f"w{i}" for i in range(MAX_KEYWORDS)]


@given(st.text(max_size=300))
def test_words_are_plain_and_told_once(query):
    found = extract_keywords(query)
    assert len(found) == len(set(found)) <= MAX_KEYWORDS
    for word in found:
        assert word.strip("_")
        assert "\x00" not in word
        assert word in fold_text(query.replace("\x00", " "))
    if any(word not in STOP_WORDS for word in found):
        assert not set(found) & STOP_WORDS or "_" in query


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", ["plain"]),
        ("nul\x00byte", ["nul byte"]),
        ("京", ["京"]),
        ("东京都", ["东 京", "京 都"]),
        ("ab东京", ["ab", "东 京"]),
        ("ที่ไหน", ["ที่ ไ", "ไ ห", "ห น"]),
        ("តូក្យូ", ["តូ ក្យូ"]),
        ("데이터가", ["데 이", "이 터", "터 가"]),
        ("базы", ["баз"]),
        ("والبيانات", ["بيان"]),
        ("בטוקיו", ["טוקיו"]),
        ("", []),
    ],
)
def test_phrases(word, expected):
    assert search_phrases(word) == expected


def test_a_text_as_it_is_indexed():
    assert space_characters("ab東京\x00c").split() == ["ab", "东", "京", "c"]
    assert space_characters("ｱﾋﾟ 😀🇩🇪").split() == ["ア", "ピ", "u1f600q", "u1f1e91f1eaq"]
    assert space_characters("Crème, Łódź") == "Crème, Łódź"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("  A\u00a0B\n\tC ", "a b c"), ("Straße", "strasse"), ("ＡＢ ﬁ", "ab fi"), ("e\u0301", "é")],
)
def test_the_normal_form(text, expected):
    assert normalise_text(text) == expected
    assert norm_hash(text) == norm_hash(expected)


def test_what_a_verdict_is_on_cannot_be_shifted_between_fields():
    assert judged_hash("ab", "c", "d") != judged_hash("a", "bc", "d")
    assert judged_hash("1:a", "b", "") != judged_hash("", "1:a", "b")


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (["deploying"], "deploy*"),
        (["cities", "boxes"], "cities boxes"),
        (["go", "run"], "go run"),
        (["auth_token"], "auth_token"),
        (["c++", "*", '"', "(", "", "_", "\x00"], "c"),
        (["near(amber birch)"], "near.amber.birch"),
        (["连接池"], "连接 連接 接池"),
        (["x" * 30], "x" * 23 + "*"),
        (["amber", "amber"], "amber*"),
    ],
)
def test_words_become_patterns_of_matrixone_without_operators(words: list[str], pattern: str) -> None:
    assert build_pattern(list_phrases(words)) == pattern


def test_known_forms_join_a_pattern_unless_a_prefix_finds_them():
    assert build_pattern(["run", "deploy"], ["run", "runs", "deployed", "x.y"]) == "run deploy* runs"


@pytest.mark.parametrize(
    ("phrase", "ranges"),
    [
        ("hoping", [("hop", True)]),
        ("city", [("cit", True)]),
        ("c", [("c", False)]),
        ("2023", [("2023", False)]),
        ("auth_token", []),
        ("连 接", [("连接", True), ("連接", True)]),
    ],
)
def test_where_forms_of_a_phrase_are_looked_for(phrase: str, ranges: list) -> None:
    assert list_ranges(phrase) == ranges
