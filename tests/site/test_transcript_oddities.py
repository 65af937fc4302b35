"""Transcripts that are unusual or hostile: every part of them that can be stored is, and nothing else."""

from typing import Any

import pytest

from tests.site.test_import_claude_code import Transcript, text
from tests.site.test_transcript_gaps import SAID, event, listed, live, said, send, talk, written

pytestmark = pytest.mark.django_db(transaction=True)


def test_gaps_in_two_conversations_of_a_session_are_filled_in_each(api: Any) -> None:
    events = live()
    first, second = [events[0], *events[2:4]], [events[4], *events[6:]]
    send(api, event("SessionStart", 0, source="startup"), *first, event("SessionEnd", 6))
    send(api, event("SessionStart", 7, source="resume"), *second)
    send(api, written(talk()))
    assert said(api) == SAID
    assert [number for number, _, _ in listed(api)] == [1, 2, 3, 4] * 2
    send(api, written(talk()))
    assert said(api) == SAID


def test_lines_of_an_answer_that_are_repeated_count_once(api: Any) -> None:
    lines = ["Cents were floats.\n\nThey are integers now.", "The tests pass."]
    spoken = Transcript().user("u1", "Why?")
    for number in range(600):
        spoken.answer(f"a{number}", "m1", text(lines[number % 2]))
    send(api, written(spoken))
    assert said(api) == [("user", "Why?"), ("assistant", "\n\n".join(lines))]
