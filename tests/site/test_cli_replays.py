"""Replays, comparisons, exports and imports on the command line, on the local store."""

from pathlib import Path
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from memory.actors import Actor
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def talk(actor: Actor, main: Any) -> Conversation:
    row = ConversationEngine().create_conversation(actor=actor, title="Login", session_id="s1")
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The clock."}]
    MessageEngine().write_messages(conversation_id=row.uid, messages=said, actor=actor)
    return row


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
