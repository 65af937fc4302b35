"""The commands on saved questions, and ``day1 eval``."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import EvalRun, Fact, Question
from memory.models.questions import MAX_QUESTIONS
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = "How long do tokens live?"


@pytest.fixture
def fact(actor: Actor, main: Any) -> Fact:
    return FactEngine().write_fact(fact_text="Tokens live for an hour.", actor=actor).fact


def test_a_file_is_imported(day1: Day1, fact: Fact, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(3)]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    assert day1("questions", "import", str(file)) == (0, "saved 3 questions on main\n", "")
    assert day1("questions", "import", str(file))[1] == "saved 0 questions on main, 3 were there\n"
    assert Question.objects.count() == 3


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("x", "The line is not JSON."),
        ("[]", "A line must hold one JSON object."),
        ('{"text": "a"}', "expected must be a list of ids."),
        ('{"text": "", "expected": ["b"]}', "text is needed."),
        ('{"text": "a", "expected": ["b"], "answer": "c"}', "There is no field named answer."),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(
    day1: Day1,
    fact: Fact,
    tmp_path: Path,
    line: str,
    fault: str,
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"text": "{ASKED}", "expected": ["{fact.uid}"]}}\n\n{line}\n')
    status, out, err = day1("questions", "import", str(file))
    assert (status, out) == (1, "")
    assert err == f"invalid: line 3: {fault} Nothing was saved.\n"
    assert Question.objects.count() == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"expected": ["none"]}, "expected[0] must be a UUID."),
        ({"expected": []}, "expected must be a list of ids."),
        ({"text": "x" * 8001}, "A query has at most 8000 characters, this one has 8001."),
        ({"category": 3}, "category must be a text."),
    ],
)
def test_a_late_line_that_is_none_leaves_nothing_saved(
    day1: Day1, fact: Fact, tmp_path: Path, change: dict[str, Any], fault: str
) -> None:
    good = {"text": ASKED, "expected": [str(fact.uid)]}
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(["", *[json.dumps(good)] * 120, json.dumps({**good, **change})]))
    status, out, err = day1("questions", "import", str(file))
    assert (status, out) == (1, "")
    assert f"line 122: {fault} Nothing was saved." in err
    assert Question.objects.count() == 0


def test_a_file_of_too_many_questions_leaves_nothing_saved(day1: Day1, fact: Fact, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"text": "{ASKED}", "expected": ["{fact.uid}"]}}\n' * (MAX_QUESTIONS + 1))
    status, _, err = day1("questions", "import", str(file))
    assert (status, err) == (1, "invalid: questions needs 1 to 1000 entries. Nothing was saved.\n")
    assert Question.objects.count() == 0
    lines = [json.dumps({"text": f"{ASKED} {n}", "expected": [str(fact.uid)]}) for n in range(MAX_QUESTIONS)]
    file.write_text("\n".join(lines))
    day1("questions", "save", ASKED, "--expect", str(fact.uid))
    status, _, err = day1("questions", "import", str(file))
    assert (status, err) == (
        1,
        "too_large: A project has at most 1000 questions: delete some first. Nothing was saved.\n",
    )


def test_an_eval_compares_and_ends_with_1_where_something_is_lost(
    day1: Day1, actor: Actor, fact: Fact
) -> None:
    day1("questions", "save", ASKED, "--expect", str(fact.uid))
    status, out, _ = day1("eval")
    assert status == 0
    assert "recall@10: 1.000" in out
    BranchManager().create_branch(name="task/a", actor=actor)
    FactEngine().delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
    status, out, _ = day1("eval", "--branch", "task/a", "--against", "main", "--k", "5")
    assert status == 1
    assert "recall@5: 1.000 → 0.000" in out
    assert "lost, gained, moved: 1, 0, 0" in out
    assert f"lost\t{Question.objects.get().pk}\t{ASKED}" in out
    _, out, _ = day1("questions", "runs")
    assert out.splitlines()[1].split("\t")[1:8] == ["task/a", "1", "default", "5", "0", "0", "1"]
    assert EvalRun.objects.count() == 2
