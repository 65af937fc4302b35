"""How an answer of a model on a statement and earlier ones is read; whatever is in doubt is unsure."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from conversations.engines.consolidation.judging import build_question, parse_verdicts
from conversations.engines.consolidation.revised import Statement
from memory.models import Fact

TEXTS = (
    "WeasyPrint renders the invoices.",
    "Puppeteer renders invoices.",
    "发票用英文。",
    "No work on Fridays.",
)
NEWER, *EARLIER = (Statement(Fact(rid=1), text, datetime(2026, 1, 2, tzinfo=UTC), True) for text in TEXTS)
QUESTION = build_question(NEWER, EARLIER)
UNSURE = {"s1": "unsure", "s2": "unsure", "s3": "unsure"}


def entry(verdict: Any, subject: Any = "invoices", later: Any = "n", earlier: Any = "s1") -> dict[str, Any]:
    return {"later": later, "earlier": earlier, "verdict": verdict, "subject": subject}


def read(*entries: Any) -> dict[str, str]:
    return parse_verdicts(json.dumps({"verdicts": list(entries)}), QUESTION)


def test_each_earlier_statement_has_a_verdict() -> None:
    found = read(entry("replaces"), entry("narrows", "发票", earlier="s2"), entry("other", "", earlier="s3"))
    assert found == {"s1": "replaces", "s2": "narrows", "s3": "other"}


def test_words_around_an_answer_and_a_verdict_given_twice_change_nothing() -> None:
    text = json.dumps({"verdicts": [entry("same", "the Invoices!"), entry("same")]})
    assert parse_verdicts(f"Here you are:\n```json\n{text}\n```", QUESTION) == {**UNSURE, "s1": "same"}


@pytest.mark.parametrize(
    "entries",
    [
        [entry("replaces"), entry("other")],
        [entry("replaces"), entry("replaces", later="s1", earlier="n")],
        [entry("replaces", later="s1", earlier="n")],
        [entry("replaces", "the opening hours")],
        [entry("narrows", "")],
        [entry("same", None)],
        [entry("supersedes")],
        [entry(["replaces"])],
    ],
)
def test_what_an_entry_leaves_in_doubt_is_unsure_by_itself(entries: list[Any]) -> None:
    assert read(entry("other", earlier="s3"), *entries) == {**UNSURE, "s3": "other"}


@pytest.mark.parametrize(
    "stray",
    [
        entry("replaces", earlier="s4"),
        entry("replaces", later="s1", earlier="s2"),
        entry("replaces", earlier="n"),
        entry("replaces", earlier=["s1"]),
        "replaces",
        None,
    ],
)
def test_an_entry_about_no_pair_of_the_question_makes_all_unsure(stray: Any) -> None:
    assert read(entry("replaces"), stray) == UNSURE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The newer statement clearly replaces s1.",
        '{"verdicts": {"s1": "replaces"}}',
        json.dumps({"verdicts": [entry("replaces")]}) * 2,
        json.dumps({"verdicts": [entry("replaces")]})[:-2],
    ],
)
def test_an_answer_of_another_form_makes_all_unsure(text: str) -> None:
    assert parse_verdicts(text, QUESTION) == UNSURE
