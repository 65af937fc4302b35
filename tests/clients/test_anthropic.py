"""Anthropic's memory tool on Day1, with its real package and a scripted model's server."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("anthropic.lib.tools", reason="Anthropic's package is not installed")

from anthropic.lib.tools import ToolError

from day1_client import Day1
from day1_client.anthropic import AsyncDay1MemoryTool, Day1MemoryTool, parse
from tests.adapters.test_memory_tool import CASES, Files, Refused
from tests.amounts import take_share
from tests.clients.conftest import play
from tests.clients.serving import ScriptedModel, memory, port, served  # noqa: F401  fixtures
from tests.memory.api.client import Api

pytestmark = [pytest.mark.nightly, pytest.mark.django_db(transaction=True)]


class Played(Files):
    """The cases' files, whose commands go through the tool as a model gives them."""

    def __init__(self, memory: Day1) -> None:  # noqa: F811
        super().__init__(Api(memory.sender.target.key))
        self.tool = Day1MemoryTool(memory)

    def run(self, command: str, **fields: Any) -> str:
        try:
            return str(self.tool.call({"command": command, **fields}))
        except ToolError as error:
            raise Refused(str(error)) from error

    def view(self, path: str, lines: tuple[int, int] | None = None) -> str:
        header, _, shown = self.run("view", path=path, view_range=lines).partition("\n")
        if "up to 2 levels deep" not in header:
            return shown
        return "\n".join(line.split("\t")[1].rstrip("/") for line in shown.split("\n"))

    def create(self, path: str, text: str) -> None:
        self.run("create", path=path, file_text=text)

    def str_replace(self, path: str, old: str, new: str) -> None:
        self.run("str_replace", path=path, old_str=old, new_str=new)

    def insert(self, path: str, line: int, text: str) -> None:
        self.run("insert", path=path, insert_line=line, insert_text=text)

    def delete(self, path: str) -> None:
        self.run("delete", path=path)

    def rename(self, path: str, target: str) -> None:
        self.run("rename", old_path=path, new_path=target)

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        self.tool.files.edit(parse(path), change)


@pytest.mark.parametrize("play", take_share(CASES, 6), ids=lambda play: play.__name__)
def test_the_files_of_the_tool(play: Callable[[Files], None], memory: Day1) -> None:  # noqa: F811
    play(Played(memory))


def message(*content: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of the Messages API."""
    stop = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
    fixed = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        **fixed,
    }


def use(number: int, **command: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": "memory", "input": command}


SCRIPT = [
    message(use(1, command="view", path="/memories")),
    message(use(2, command="create", path="/memories/coffee.md", file_text="Coffee: white.")),
    message(use(3, command="str_replace", path="/memories/coffee.md", old_str="white", new_str="black")),
    message({"type": "text", "text": "I will remember it."}),
]


def test_the_page_begins_with_what_runs(
    memory: Day1,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedModel(*SCRIPT) as model:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url_for(""))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none")
        play("docs/integrations.md", "## Anthropic's memory tool")
    assert capsys.readouterr().out == "I will remember it.\n['Coffee: black.', 'Coffee: white.']\n"
    assert model.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [one["messages"][-1]["content"][0]["content"] for one in model.asked[1:]]
    assert results == [
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "0B\t/memories",
        "File created successfully at: /memories/coffee.md",
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     1\tCoffee: black.",
    ]


def run(tool: Day1MemoryTool, command: str, **fields: Any) -> str:
    return str(tool.call({"command": command, **fields}))


def test_what_was_done_is_undone_also_of_what_is_gone(memory: Day1) -> None:  # noqa: F811
    tool = Day1MemoryTool(memory)
    for path in ("x/a.md", "x/b.md"):
        run(tool, "create", path=f"/memories/{path}", file_text=path)
    run(tool, "rename", old_path="/memories/x", new_path="/memories/y")
    tool.undo("/memories/x/a.md")  # one commit moved both
    assert "/memories/x/b.md" in run(tool, "view", path="/memories/x")
    run(tool, "delete", path="/memories/x")
    assert tool.history("/memories/x/a.md")[0]["deleted"] is True
    tool.undo("/memories/x/a.md")
    assert run(tool, "view", path="/memories/x/b.md").endswith("     1\tx/b.md")
    with pytest.raises(ToolError, match="does not exist"):
        tool.undo("/memories/never.md")


def test_what_a_model_changed_waits_for_a_review(memory: Day1) -> None:  # noqa: F811
    memory.branches.create("agent/notes")
    tool = Day1MemoryTool(memory.on(branch="agent/notes"))
    run(tool, "create", path="/memories/a.md", file_text="Found out.")
    request = tool.review("What I found out")
    assert (request["source"], request["target"], request["state"]) == ("agent/notes", "main", "open")
    with pytest.raises(ToolError, match="does not exist"):
        run(Day1MemoryTool(memory), "view", path="/memories/a.md")
    memory.merge_requests.merge(request["id"], force=True)
    assert "Found out." in run(Day1MemoryTool(memory), "view", path="/memories/a.md")


def test_the_words_are_those_of_the_sdk(memory: Day1) -> None:  # noqa: F811
    tool = Day1MemoryTool(memory)
    run(tool, "create", path="/memories/x/a.md", file_text="one\ntwo\none")
    run(tool, "create", path="/memories/x/.hidden", file_text="h" * 2000)
    run(tool, "create", path="/memories/big.md", file_text="b" * 1536)
    table: list[tuple[str, dict[str, Any], str]] = [
        ("view", {"path": "/memories/x/a.md", "view_range": [2, -1]}, "     2\ttwo\n     3\tone"),
        (
            "view",
            {"path": "/memories"},
            "1.5K\t/memories\n1.5K\t/memories/big.md\n11B\t/memories/x/\n11B\t/memories/x/a.md",
        ),
        (
            "insert",
            {"path": "/memories/big.md", "insert_line": 1, "insert_text": "x"},
            "The file /memories/big.md has been edited.",
        ),
        ("delete", {"path": "/memories/big.md"}, "Successfully deleted /memories/big.md"),
        (
            "rename",
            {"old_path": "/memories/x/a.md", "new_path": "/memories/b.md"},
            "Successfully renamed /memories/x/a.md to /memories/b.md",
        ),
    ]
    for command, fields, told in table:
        assert run(tool, command, **fields).endswith(told), command
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("create", {"path": "/memories/b.md", "file_text": ""}, "File /memories/b.md already exists"),
        (
            "view",
            {"path": "/memories/no"},
            "The path /memories/no does not exist. Please provide a valid path.",
        ),
        (
            "str_replace",
            {"path": "/memories/b.md", "old_str": "no", "new_str": ""},
            "No replacement was performed, old_str `no` did not appear verbatim in /memories/b.md.",
        ),
        (
            "str_replace",
            {"path": "/memories/b.md", "old_str": "one", "new_str": ""},
            "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 3."
            " Please ensure it is unique",
        ),
        (
            "str_replace",
            {"path": "/memories/x", "old_str": "a", "new_str": ""},
            "The path /memories/x is not a file.",
        ),
        (
            "insert",
            {"path": "/memories/b.md", "insert_line": 9, "insert_text": ""},
            "Invalid `insert_line` parameter: 9. It should be within the range [0, 3].",
        ),
        ("delete", {"path": "/memories"}, "Cannot delete the /memories directory itself"),
        (
            "rename",
            {"old_path": "/memories/b.md", "new_path": "/memories/x"},
            "The destination /memories/x already exists",
        ),
    ]
    for command, fields, told in refused:
        with pytest.raises(ToolError) as caught:
            run(tool, command, **fields)
        assert str(caught.value) == told


def test_a_server_that_is_away_is_told_to_the_model() -> None:
    tool = AsyncDay1MemoryTool(Day1("http://127.0.0.1:1", "day1_a_b", retries=0))
    with pytest.raises(ToolError, match="does not answer"):
        asyncio.run(tool.call({"command": "view", "path": "/memories"}))


def test_what_is_awaited_is_the_same(memory: Day1) -> None:  # noqa: F811
    tool = AsyncDay1MemoryTool(memory)
    made = asyncio.run(tool.call({"command": "create", "path": "/memories/a.md", "file_text": "a"}))
    assert made == "File created successfully at: /memories/a.md"
    assert [version["value"] for version in tool.tool.history("/memories/a.md")] == ["a"]
