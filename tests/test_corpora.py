"""Corpora that the benchmarks read, and files that are none."""

import json

import pytest

from bench import corpora, generate_corpus

LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "May 1",
        "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "text": "Hello", "blip_caption": "a dog"}],
        "session_2_date_time": "May 2",
    },
    "qa": [
        {"question": "Who?", "category": 1, "evidence": ["D1:1; D9:9"]},
        {"question": "Never?", "category": 5, "evidence": ["D1:1"]},
        {"question": "Nowhere?", "category": 2, "evidence": []},
    ],
}
REALTALK = {
    "name": {"speaker_1": "Ann"},
    "session_2": [
        {"dia_id": "D2:1", "speaker": "Bo", "clean_text": "Later", "date_time": "3.1.2024, 1:02:03"}
    ],
    "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "clean_text": "Hi", "date_time": "2.1.2024, 1:02:03"}],
    "events_session_1": {},
    "session_1_date_time": "2.1.2024, 1:02:03",
    "qa": [{"question": "When?", "category": 2, "evidence": ["D2:1"]}],
}


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def read(path, name):
    return corpora.read_corpus([path], name)


def refusal(path, name):
    with pytest.raises(corpora.NotACorpus) as caught:
        read(path, name)
    return str(caught.value).removeprefix(f"{path}, ")


def test_locomo(tmp_path):
    (found,) = read(write(tmp_path / "a.json", [LOCOMO]), "locomo")
    assert [turn.text for turn in found.turns] == ["[May 1] Ann: Hello [image: a dog]"]
    assert [(q.text, q.category, q.evidence) for q in found.questions] == [("Who?", 1, {"D1:1"})]


def test_realtalk(tmp_path):
    (found,) = read(write(tmp_path / "Chat_1.json", REALTALK), "realtalk")
    assert (found.sample, found.branch) == ("Chat_1", "experiment/chat_1")
    expected = [
        ("session_1", "[2.1.2024, 1:02:03] Ann: Hi"),
        ("session_2", "[3.1.2024, 1:02:03] Bo: Later"),
    ]
    assert [(turn.session, turn.text) for turn in found.turns] == expected
    assert [q.evidence for q in found.questions] == [{"D2:1"}]


def test_beam(tmp_path):
    turns = [
        {"role": "user", "id": 0, "time_anchor": "May-1", "content": "How? ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "So."},
    ]
    questions: dict = {name: [] for name in corpora.BEAM_CATEGORIES}
    questions["knowledge_update"] = [{"question": "Q", "source_chat_ids": {"old": [0], "new": 1}}]
    questions["abstention"] = [{"question": "None"}]
    folder = tmp_path / "7"
    (folder / "probing_questions").mkdir(parents=True)
    write(folder / corpora.QUESTIONS, questions)
    (found,) = read(write(folder / "chat.json", [{"turns": [turns]}]), "beam")
    assert found.sample == "beam-7"
    assert [turn.text for turn in found.turns] == ["[May-1] user: How?", "[May-1] assistant: So."]
    assert [(q.text, q.category, q.evidence) for q in found.questions] == [("Q", 3, {"0", "1"})]


def test_the_generated_corpus_is_the_same_each_time_and_names_evidence_that_exists():
    rows = list(generate_corpus.write_sample(1, 1))
    assert rows == list(generate_corpus.write_sample(1, 1))
    ids = {row["id"] for row in rows if "id" in row}
    questions = [row for row in rows if "question" in row]
    assert {row["category"] for row in questions} == {1, 2, 3, 4, 5, 6}
    assert all(set(row["evidence"]) <= ids and row["evidence"] for row in questions)
    assert len({row["question"] for row in questions}) == len(questions)


def test_chinese_facts_are_asked_in_three_ways():
    rows = list(generate_corpus.write_chinese(1))
    assert rows == list(generate_corpus.write_chinese(1))
    ids = [row["id"] for row in rows if "id" in row]
    questions = [row for row in rows if "question" in row]
    assert len(ids) == 40
    assert sorted((row["category"], *row["evidence"]) for row in questions) == sorted(
        (category, one) for category in (5, 7, 8) for one in ids
    )
    assert {5, 7, 8} <= set(corpora.GENERATED_CATEGORIES)


def test_generated(tmp_path):
    rows = list(generate_corpus.write_sample(1, 2))
    path = write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in rows))
    (found,) = read(path, "generated")
    assert len(found.turns) + len(found.questions) == len(rows)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("locomo", "", "line 1: it is no JSON: Expecting value."),
        (
            "locomo",
            "[\n{},\n{,}]",
            "line 3: it is no JSON: Expecting property name enclosed in double quotes.",
        ),
        ("locomo", '\n\n{"qa": []}', "line 3: a list of conversations is expected."),
        ("locomo", f"[\n{json.dumps(LOCOMO)},\n{{}}\n]", "line 3: conversation is missing."),
        ("locomo", "[7]", "line 1: it has another form: 'int' object is not subscriptable."),
        ("realtalk", "{}", "line 1: qa is missing."),
        ("realtalk", "[]", "line 1: it has another form: list indices must be integers or slices, not str."),
        ("beam", "[{}]", "line 1: turns is missing."),
        ("generated", '{"id": "1"', "line 1: it is no JSON: Expecting ',' delimiter."),
        (
            "generated",
            '{"question": "Q", "category": 1, "evidence": [], "sample": "a"}\n{}',
            "line 2: id is missing.",
        ),
        ("generated", "\n", "line 1: it is no JSON: Expecting value."),
    ],
)
def test_a_file_that_is_no_corpus_is_refused_with_the_line(tmp_path, name, text, reason):
    assert refusal(write(tmp_path / "a.json", text), name) == reason


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"[\n\n\xff]")
    assert refusal(path, "locomo") == "line 3: it is no text in UTF-8."


def test_a_missing_file(tmp_path):
    assert refusal(tmp_path / "no.json", "locomo") == "line 1: No such file or directory."
