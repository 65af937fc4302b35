"""WordPiece tokens; the expected numbers come from tokenizers.BertWordPieceTokenizer."""

import pytest

from memory.providers.wordpiece import VOCABULARY, WordPiece


@pytest.fixture(scope="module")
def words() -> WordPiece:
    return WordPiece.load()


REFERENCE = {
    "Hello, World!": [7592, 1010, 2088, 999],
    "[8 May 2023] Caroline: I went to a LGBTQ support group yesterday": [
        1031,
        1022,
        2089,
        16798,
        2509,
        1033,
        7981,
        1024,
        1045,
        2253,
        2000,
        1037,
        12010,
        4160,
        2490,
        2177,
        7483,
    ],
    "unaffable embeddings": [14477, 20961, 3468, 7861, 8270, 4667, 2015],
    "don't e-mail user@example.com: $3.50 <b>x^2</b> `a|b~c`": [
        2123,
        1005,
        1056,
        1041,
        1011,
        5653,
        5310,
        1030,
        2742,
        1012,
        4012,
        1024,
        1002,
        1017,
        1012,
        2753,
        1026,
        1038,
        1028,
        1060,
        1034,
        1016,
        1026,
        1013,
        1038,
        1028,
        1036,
        1037,
        1064,
        1038,
        1066,
        1039,
        1036,
    ],
    "na\xefve caf\xe9 \xc5ngstr\xf6m": [15743, 7668, 17076, 15687],
    "cafe\u0301 A\u030a": [7668, 1037],
    "\u0130stanbul \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 STRASSE stra\xdfe": [
        9960,
        1169,
        29722,
        29735,
        29733,
        29733,
        29723,
        29735,
        29733,
        2358,
        8180,
        3366,
        2358,
        27807,
    ],
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \u4e2d\u6587\u6df7\u5408text": [
        1864,
        1876,
        1950,
        1671,
        30239,
        30227,
        30233,
        30240,
        1746,
        1861,
        100,
        1792,
        3793,
    ],
    "\ud55c\uad6d\uc5b4 \ubb38\uc7a5": [
        1469,
        30006,
        30021,
        29991,
        30014,
        30020,
        29999,
        30008,
        1459,
        30014,
        30021,
        30000,
        30006,
        30025,
    ],
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u202b\u0645\u0631\u062d\u0628\u0627\u202c": [
        1266,
        29799,
        29792,
        29800,
        1259,
        29792,
        29799,
        29800,
        1295,
        17149,
        29820,
        29816,
        25573,
    ],
    "ok \U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 fine": [7929, 100, 100, 2986],
    "a\x00b\x07c\u200bd\ufeffe\xa0f\u3000g\u2028h": [5925, 3207, 1042, 1043, 1044],
    "\u2018quoted\u2019 \u2014 \u201cdash\u201d\u2026 \xa7\xb6": [
        1520,
        9339,
        1521,
        1517,
        1523,
        11454,
        1524,
        1529,
        1073,
        1086,
    ],
    "\ufb01ne \u2460 \xbd \uff21\uff22": [1984, 2638, 100, 1092, 100],
    "def f(x_1): return x_1**2": [
        13366,
        1042,
        1006,
        1060,
        1035,
        1015,
        1007,
        1024,
        2709,
        1060,
        1035,
        1015,
        1008,
        1008,
        1016,
    ],
    "\u0915\u094d\u0937\u0947\u0924\u094d\u0930": [1315, 29873, 29859, 29869],
    "un\xadbroken soft": [29505, 3730],
    "a\u0378b": [100],
}


@pytest.mark.parametrize("text", REFERENCE, ids=ascii)
def test_pieces_equal_the_reference(words, text):
    assert words.ids(text) == REFERENCE[text]


def test_special_tokens_have_berts_numbers(words):
    assert (words.pad, words.unknown, words.start, words.end) == (0, 100, 101, 102)


@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]"])
def test_a_mark_inside_a_text_is_plain_characters(words, mark):
    pieces = words.ids(f"before {mark} after")
    assert pieces[:2] == words.ids("before [")
    assert not {words.pad, words.start, words.end, words.unknown, 103} & set(pieces)


@pytest.mark.parametrize("text", ["", " \t\r\n", "\0", "\u200b\u200d\ufeff", "\ufffd", "\u0301"])
def test_text_without_any_letter_has_no_pieces(words, text):
    assert words.ids(text) == []


def test_half_a_character_is_dropped(words):
    assert words.ids("mem\ud800ory") == words.ids("memory")


def test_nul_and_control_characters_join_what_they_separate(words):
    assert words.ids("mem\0o\x07ry\u200d") == words.ids("memory")


def test_a_word_of_100_characters_is_cut_and_one_of_101_is_unknown(words):
    assert words.unknown not in words.ids("a" * 100)
    assert words.ids("a" * 101) == [words.unknown]
    assert words.ids("x" * 5000) == [words.unknown]


def test_length_counts_after_accents_are_gone(words):
    assert words.ids("e\u0301" * 100) == words.ids("e" * 100)


def test_a_changed_vocabulary_is_refused(tmp_path, monkeypatch):
    changed = tmp_path / "vocab.txt"
    changed.write_bytes(VOCABULARY.read_bytes().replace(b"\nmemory\n", b"\nmammary\n"))
    monkeypatch.setattr("memory.providers.wordpiece.VOCABULARY", changed)
    with pytest.raises(ValueError, match="sha256 differs"):
        WordPiece.load(changed)


def test_another_vocabulary_must_have_the_special_tokens(tmp_path):
    own = tmp_path / "vocab.txt"
    own.write_text("[PAD]\n[UNK]\n[CLS]\nhello\n")
    with pytest.raises(ValueError, match=r"has no \[SEP\]"):
        WordPiece.load(own)
    own.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nhel\n##lo\n")
    assert WordPiece.load(own).ids("Hello help") == [4, 5, 1]
