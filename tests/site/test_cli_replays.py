"""Replays, comparisons, exports and imports on the command line, on the local store."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message, Replay, ReplayBatch
from memory.actors import Actor
from tests.command_line import Day1
from tests.conversations.fake_model import FakeModel, completion

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(settings: Any) -> Iterator[Any]:
    fake = FakeModel()
    fake.server.start()
    fake.server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(fake.answer)
    server = {"replay_model": "other", "replay_base_url": fake.server.url_for("/v1"), "replay_api_key": "k"}
    settings.DAY1 = {**settings.DAY1, **server}
    yield fake
    fake.server.stop()


@pytest.fixture
def talk(actor: Actor, main: Any) -> Conversation:
    row = ConversationEngine().create_conversation(actor=actor, title="Login", session_id="s1")
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The clock."}]
    MessageEngine().write_messages(conversation_id=row.uid, messages=said, actor=actor)
    return row


def test_a_replay_from_its_start_to_its_end(day1: Day1, model: Any, talk: Conversation) -> None:
    point = Message._base_manager.get(conversation_id=talk.uid, sequence_num=1)
    words = (str(talk.uid), str(point.uid), "--model", "third", "--max-steps", "3", "--memory", "main")
    status, out, _ = day1("replays", "create", *words)
    row = Replay.objects.get()
    assert (status, out) == (0, f"{row.pk}\tready on main\n")
    assert (row.model, row.max_steps, row.memory_state) == ("third", 3, {"branch": "main"})
    assert "Why?" in day1("replays", "context", str(row.pk))[1]
    model.next.append(completion("The clock."))
    status, out, _ = day1("replays", "run", str(row.pk), "--max-steps", "4")
    assert (status, "equivalent" in out, model.sent[0]["model"]) == (0, True, "third")
    listed = day1("replays", "list", "--state", "done", "--conversation", str(talk.uid))[1]
    assert listed.splitlines()[1].split("\t")[:4] == [str(row.pk), "done", "third", "1"]
    assert "equivalent" in day1("replays", "show", str(row.pk))[1]
    status, _, err = day1("replays", "cancel", str(row.pk))
    assert (status, err) == (1, "conflict: This replay is done.\n")
    both = (str(talk.uid), str(row.conversation_id))
    assert "equivalent" in day1("conversations", "semantic-diff", *both)[1]
    assert day1("conversations", "diff", *both)[0] == 0


def test_a_batch(day1: Day1, model: Any, talk: Conversation) -> None:
    model.next.append(completion("The clock."))
    status, out, _ = day1("--format", "json", "replays", "batch", "--session", "s1", "--name", "N")
    found = json.loads(out)
    assert (status, found["states"], found["verdicts"]) == (0, {"done": 1}, {"equivalent": 1})
    assert "verdict equivalent" in day1("replays", "report", found["id"])[1]
    assert day1("replays", "stop", found["id"])[0] == 0
    assert day1("replays", "resume", found["id"])[0] == 0


def test_without_a_model(day1: Day1, talk: Conversation) -> None:
    status, _, err = day1("replays", "batch", str(talk.uid))
    assert (status, "DAY1_REPLAY_MODEL" in err) == (0, True)
    status, _, err = day1("replays", "resume", str(ReplayBatch.objects.get().pk))
    assert (status, "DAY1_REPLAY_MODEL" in err) == (1, True)


def test_exported_and_imported(day1: Day1, talk: Conversation, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    status, _, err = day1("conversations", "export", str(talk.uid), str(file))
    assert (status, err) == (0, f"{file}: 2 messages, 0 secrets taken out\n")
    status, out, _ = day1("conversations", "import", str(file))
    made = Conversation._base_manager.exclude(uid=talk.uid).get()
    assert (status, out) == (0, f"{made.uid}\t2 messages on main\n")
    assert day1("conversations", "import", str(file))[1] == f"{made.uid}\twas here already\n"
    text = day1("conversations", "export", str(talk.uid), "--as", "markdown")[1]
    assert text.startswith("# Login\n")
    (tmp_path / "talk.md").write_text(text)
    status, out, _ = day1("conversations", "import", str(tmp_path / "talk.md"))
    assert (status, out.endswith("\t2 messages on main\n")) == (0, True)
    (tmp_path / "talk.txt").write_text(text, encoding="utf-16")  # as Windows writes what is redirected
    assert day1("conversations", "import", str(tmp_path / "talk.txt"))[1].endswith("\twas here already\n")
    (tmp_path / "talk.md").write_text(f"{text}Loose words.")
    status, _, err = day1("conversations", "import", str(tmp_path / "talk.md"))
    assert (status, f"Line {text.count(chr(10)) + 1}:" in err) == (1, True)
    assert day1("conversations", "import", str(tmp_path / "none.md"))[0] == 2
    (tmp_path / "bad.json").write_text('{"format": "x"}')
    assert day1("conversations", "import", str(tmp_path / "bad.json"))[0] == 1
