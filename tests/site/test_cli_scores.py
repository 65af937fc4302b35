"""Scores on the command line: on the local store, in the shapes of the REST API."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from memory.actors import Actor
from tests.command_line import Day1
from tests.curation.fake_judge import FakeJudge, rating

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judge(settings: Any) -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        settings.DAY1 = {**settings.DAY1, **server.settings()}
        yield server


@pytest.fixture
def talk(actor: Actor, main: Any) -> Conversation:
    row = ConversationEngine().create_conversation(actor=actor)
    said = {"role": "user", "content": "Hello."}
    MessageEngine().write_message(conversation_id=row.uid, actor=actor, **said)
    return row


def test_a_judge_and_a_person(day1: Day1, talk: Conversation, judge: FakeJudge) -> None:
    judge.say(rating(0.8, reason="Brief.", names=["tone"]))
    uid = str(talk.uid)
    assert day1("scores") == (0, "", "No conversation was rated yet.\n")
    status, out, _ = day1("scores", "judge", uid, "--dimension", "tone: is it friendly?", "--votes", "1")
    assert status == 0
    assert "tone\t0.8\tBrief." in out
    status, out, _ = day1(
        "scores", "create", "conversation", uid, "tone", "0.4", "--scorer", "ann", "--explanation", "Cold."
    )
    assert (status, out.split("\t")[1]) == (0, "tone 0.4 by ann\n")
    status, out, _ = day1("scores", "list", "conversation", uid, "--method", "human")
    assert (status, [line.split("\t")[1:5] for line in out.splitlines()[1:]]) == (
        0,
        [["tone", "0.4", "human", "ann"]],
    )
    status, out, _ = day1("scores", "summary", "conversation", uid)
    assert (status, out.splitlines()[1].split("\t")) == (0, ["tone", "2", "0.6", "0.4", "0.8"])
    found = json.loads(day1("--format", "json", "scores", "runs", "--state", "done")[1])
    (row,) = found["results"] if isinstance(found, dict) else found
    assert "Brief." in day1("scores", "run", row["id"])[1]


def test_without_a_judge_it_is_no_judgement(day1: Day1, talk: Conversation) -> None:
    status, out, err = day1("scores", "judge", str(talk.uid), "--dimension", "tone")
    assert (status, "rated by" in out, "nobody" in out) == (0, True, True)
    assert "No judgement: each dimension has 0.5." in err


def test_what_is_refused(day1: Day1, talk: Conversation) -> None:
    assert day1("scores", "create", "branch", str(talk.uid), "tone", "0.4")[0] == 2
    assert day1("scores", "create", "conversation", str(talk.uid), "tone", "2")[0] == 1
    assert day1("scores", "judge", str(talk.uid), "--votes", "10")[0] == 1
