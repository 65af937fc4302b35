"""The files of Anthropic's memory tool, played over REST: each is an item, its folders are the namespace."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest

from tests.memory.api.client import Api

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = "/memories"


class Refused(Exception):
    pass


class Files:
    def __init__(self, api: Api) -> None:
        self.api = api

    # ---- commands ------------------------------------------------------------------------------

    def view(self, path: str, lines: tuple[int, int] | None = None) -> str:
        parts = split(path)
        if len(parts) > 1 and (row := self.read(parts)):
            numbered = list(enumerate(row["value"].split("\n"), 1))
            first, last = lines or (1, len(numbered))
            return "\n".join(
                f"{n:6}\t{line}" for n, line in numbered if first <= n <= (last, 10**9)[last < 0]
            )
        found = self.list_below(parts)
        if not found and len(parts) > 1:
            raise Refused(f"{path} does not exist")
        depth = len(parts) + 2
        below = {tuple(one[:end]) for one in found for end in range(len(parts), min(len(one), depth) + 1)}
        return "\n".join("/" + "/".join(one) for one in sorted(below | {tuple(parts)}))

    def create(self, path: str, text: str) -> None:
        parts = self.find_place(path)
        answer = self.api("PUT", self.locate(parts), {"value": text, "only_new": True})
        if answer.status_code != 201:
            raise Refused(f"{path}: {answer.json()['code']}")

    def str_replace(self, path: str, old: str, new: str) -> None:
        def replace(text: str) -> str:
            if text.count(old) != 1:
                raise Refused(f"{old!r} stands there {text.count(old)} times")
            return text.replace(old, new)

        self.edit(path, replace)

    def insert(self, path: str, line: int, text: str) -> None:
        def insert_line(content: str) -> str:
            rows = content.splitlines(keepends=True)
            if not 0 <= line <= len(rows):
                raise Refused(f"{line} is no line from 0 to {len(rows)}")
            if line and not rows[line - 1].endswith("\n"):
                rows[line - 1] += "\n"
            written = "".join([*rows[:line], text.removesuffix("\n") + "\n", *rows[line:]])
            return written.removesuffix("\n") + "\n"

        self.edit(path, insert_line)

    def delete(self, path: str) -> None:
        parts = split(path)
        if len(parts) == 1:
            raise Refused("the root stays")
        self.batch([{"op": "delete", **place(one)} for one in self.list_files(parts, path)])

    def rename(self, path: str, target: str) -> None:
        """Move a file, or all below a folder, in one commit; nothing is moved onto what is there."""
        parts, other = split(path), self.find_place(target)
        if self.list_below(other):
            raise Refused(f"{target} is a folder")
        calls: list[dict[str, Any]] = []
        for one in self.list_files(parts, path):
            row = self.read(one)
            calls.append({"op": "delete", **place(one), "expected_version": row["version"]})
            moved = place([*other, *one[len(parts) :]])
            calls.append({"op": "put", **moved, "value": row["value"], "only_new": True})
        self.batch(calls)

    # ---- pieces --------------------------------------------------------------------------------

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change a file, whoever else does so meanwhile."""
        parts = split(path)
        while True:
            answer = self.api.get(self.locate(parts))
            if answer.status_code != 200:
                raise Refused(f"{path} does not exist")
            body = {"value": change(answer.json()["value"])}
            written = self.api("PUT", self.locate(parts), body, If_Match=answer["ETag"])
            if written.status_code == 200:
                return
            if written.json()["code"] != "stale_version":
                raise Refused(written.json()["code"])

    def find_place(self, path: str) -> list[str]:
        """Return where a file may stand: neither is a folder there, nor a file where it needs a folder."""
        parts = split(path)
        if len(parts) < 2 or self.list_below(parts):
            raise Refused(f"{path} is a folder")
        if any(self.read(parts[:end]) for end in range(2, len(parts))):
            raise Refused(f"{path} is below a file")
        return parts

    def list_files(self, parts: list[str], path: str) -> list[list[str]]:
        found = self.list_below(parts) or ([parts] if self.read(parts) else [])
        if not found:
            raise Refused(f"{path} does not exist")
        return found

    def list_below(self, parts: list[str]) -> list[list[str]]:
        found, cursor = [], ""
        while cursor is not None:
            page = self.api.get(f"/items?prefix={quote('/'.join(parts))}&limit=100&cursor={cursor}").json()
            found += [[*row["namespace"].split("/"), row["key"]] for row in page["results"]]
            cursor = page["next"]
        return found

    def read(self, parts: list[str]) -> Any:
        answer = self.api.get(self.locate(parts))
        return answer.json() if answer.status_code == 200 else None

    def batch(self, calls: list[dict[str, Any]]) -> None:
        answer = self.api.post("/items/batch", {"calls": calls})
        if answer.status_code != 200:
            raise Refused(answer.json()["code"])

    @staticmethod
    def locate(parts: list[str]) -> str:
        return f"/items/{quote('/'.join(parts))}"

    def texts(self) -> dict[str, str]:
        return {"/".join(one): self.read(one)["value"] for one in self.list_below(split(ROOT))}


def split(path: str) -> list[str]:
    parts = path.split("/")[1:]
    if not f"{path}/".startswith(f"{ROOT}/") or any(not one.strip(". ") or "%" in one for one in parts):
        raise Refused(f"{path} is not below {ROOT}")
    return parts


def place(parts: list[str]) -> dict[str, str]:
    return {"namespace": "/".join(parts[:-1]), "key": parts[-1]}


CASES: list[Callable[[Files], None]] = []


def case(play: Callable[[Files], None]) -> Callable[[Files], None]:
    CASES.append(play)
    return play


def refuses(do: Callable[..., Any], *values: Any) -> None:
    with pytest.raises(Refused):
        do(*values)


@case
def a_file_is_created(files: Files) -> None:
    files.create("/memories/a.md", "Hello.")
    assert files.texts() == {"memories/a.md": "Hello."}


@case
def a_file_is_created_in_folders_that_nobody_made(files: Files) -> None:
    files.create("/memories/x/y z/ä.md", "")
    assert files.texts() == {"memories/x/y z/ä.md": ""}


@case
def what_is_there_is_not_created_again(files: Files) -> None:
    files.create("/memories/a.md", "First.")
    refuses(files.create, "/memories/a.md", "Second.")
    assert files.texts() == {"memories/a.md": "First."}


@case
def a_file_is_no_folder_and_a_folder_no_file(files: Files) -> None:
    files.create("/memories/a/b.md", "b")
    refuses(files.create, "/memories/a", "a")
    refuses(files.create, "/memories/a/b.md/c.md", "c")
    assert files.texts() == {"memories/a/b.md": "b"}


@case
def a_file_over_the_limit_is_refused(files: Files) -> None:
    files.create("/memories/most.md", "x" * 60_000)
    refuses(files.create, "/memories/over.md", "line\n" * 20_000)
    refuses(files.str_replace, "/memories/most.md", "x" * 60_000, "y" * 70_000)
    assert files.texts() == {"memories/most.md": "x" * 60_000}


@case
def a_file_is_viewed_with_its_lines(files: Files) -> None:
    files.create("/memories/a.md", "one\ntwo\n\nfour")
    assert files.view("/memories/a.md") == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"


@case
def some_lines_are_viewed(files: Files) -> None:
    files.create("/memories/a.md", "\n".join("abcde"))
    assert files.view("/memories/a.md", (2, 4)) == "     2\tb\n     3\tc\n     4\td"
    assert files.view("/memories/a.md", (4, -1)) == "     4\td\n     5\te"
    assert files.view("/memories/a.md", (9, 12)) == ""


@case
def a_folder_is_viewed_two_levels_deep(files: Files) -> None:
    for path in ("a.md", "x/b.md", "x/y/c.md", "x/y/z/d.md"):
        files.create(f"/memories/{path}", "")
    assert files.view("/memories/x").splitlines() == [
        "/memories/x",
        "/memories/x/b.md",
        "/memories/x/y",
        "/memories/x/y/c.md",
        "/memories/x/y/z",
    ]


@case
def the_root_is_viewed_when_it_is_empty(files: Files) -> None:
    assert files.view("/memories") == "/memories"


@case
def a_large_folder_is_viewed_whole(files: Files) -> None:
    calls = [
        {"op": "put", "namespace": "memories/x", "key": f"f{n:03}.md", "value": "t", "embed": False}
        for n in range(250)
    ]
    files.batch(calls)
    shown = files.view("/memories/x").splitlines()
    assert (len(shown), shown[1], shown[-1]) == (251, "/memories/x/f000.md", "/memories/x/f249.md")


@case
def what_is_not_there_is_not_viewed(files: Files) -> None:
    files.create("/memories/a.md", "")
    for path in ("/memories/b.md", "/memories/a.mdx", "/memories/a", "/memories/a.md/b"):
        refuses(files.view, path)


@case
def a_text_is_replaced(files: Files) -> None:
    files.create("/memories/a.md", "one\nold\nthree")
    files.str_replace("/memories/a.md", "old", "new")
    files.str_replace("/memories/a.md", "\nthree", "")
    assert files.texts() == {"memories/a.md": "one\nnew"}


@case
def a_text_that_is_not_there_is_not_replaced(files: Files) -> None:
    files.create("/memories/a.md", "Hello.")
    refuses(files.str_replace, "/memories/a.md", "hello", "Bye")
    assert files.texts() == {"memories/a.md": "Hello."}


@case
def a_text_that_is_there_twice_is_not_replaced(files: Files) -> None:
    files.create("/memories/a.md", "a\nb\na")
    refuses(files.str_replace, "/memories/a.md", "a", "c")
    assert files.texts() == {"memories/a.md": "a\nb\na"}


@case
def nothing_is_replaced_in_what_is_not_there(files: Files) -> None:
    refuses(files.str_replace, "/memories/a.md", "a", "b")
    files.create("/memories/x/a.md", "a")
    refuses(files.str_replace, "/memories/x", "a", "b")
    assert files.texts() == {"memories/x/a.md": "a"}


@case
def line_ends_stay_as_they_are(files: Files) -> None:
    files.create("/memories/a.md", "one\r\ntwo\r\nthree\r\n")
    files.str_replace("/memories/a.md", "two", "TWO")
    files.insert("/memories/a.md", 1, "new")
    assert files.texts() == {"memories/a.md": "one\r\nnew\nTWO\r\nthree\r\n"}


@case
def a_line_is_inserted(files: Files) -> None:
    files.create("/memories/a.md", "one\ntwo\n")
    files.insert("/memories/a.md", 1, "between\n")
    assert files.texts() == {"memories/a.md": "one\nbetween\ntwo\n"}


@case
def a_line_is_inserted_before_the_first(files: Files) -> None:
    files.create("/memories/a.md", "one")
    files.insert("/memories/a.md", 0, "zero")
    assert files.texts() == {"memories/a.md": "zero\none\n"}


@case
def a_line_is_inserted_behind_the_last(files: Files) -> None:
    files.create("/memories/a.md", "one\ntwo")
    files.insert("/memories/a.md", 2, "three")
    assert files.texts() == {"memories/a.md": "one\ntwo\nthree\n"}


@case
def no_line_is_inserted_where_none_can_be(files: Files) -> None:
    files.create("/memories/a.md", "one\ntwo")
    for line in (3, -1):
        refuses(files.insert, "/memories/a.md", line, "x")
    refuses(files.insert, "/memories/b.md", 0, "x")
    assert files.texts() == {"memories/a.md": "one\ntwo"}


@case
def an_edit_is_not_lost_to_another_one(files: Files) -> None:
    files.create("/memories/a.md", "one")
    seen: list[str] = []

    def change(text: str) -> str:
        if not seen:
            files.insert("/memories/a.md", 1, "theirs")
        seen.append(text)
        return f"{text.rstrip()}\nmine"

    files.edit("/memories/a.md", change)
    assert (files.texts(), len(seen)) == ({"memories/a.md": "one\ntheirs\nmine"}, 2)


@case
def a_file_is_deleted(files: Files) -> None:
    for name in ("a.md", "b.md"):
        files.create(f"/memories/{name}", name)
    files.delete("/memories/a.md")
    assert files.texts() == {"memories/b.md": "b.md"}
    files.create("/memories/a.md", "again")
    assert files.texts()["memories/a.md"] == "again"


@case
def a_folder_is_deleted_with_all_below_it(files: Files) -> None:
    for path in ("x/a.md", "x/y/b.md", "xy/c.md"):
        files.create(f"/memories/{path}", "")
    files.delete("/memories/x")
    assert list(files.texts()) == ["memories/xy/c.md"]


@case
def neither_the_root_is_deleted_nor_what_is_not_there(files: Files) -> None:
    files.create("/memories/a.md", "")
    for path in ("/memories", "/memories/b.md", "/memories/a.md/b"):
        refuses(files.delete, path)
    assert list(files.texts()) == ["memories/a.md"]


@case
def a_file_is_renamed_also_into_another_folder(files: Files) -> None:
    files.create("/memories/a.md", "text")
    for old, new in pairwise(("a.md", "b.md", "x/y/c.md")):
        files.rename(f"/memories/{old}", f"/memories/{new}")
        assert files.texts() == {f"memories/{new}": "text"}


@case
def a_folder_is_renamed_with_all_below_it(files: Files) -> None:
    for path in ("x/a.md", "x/y/b.md"):
        files.create(f"/memories/{path}", path)
    files.rename("/memories/x", "/memories/z/w")
    assert files.texts() == {"memories/z/w/a.md": "x/a.md", "memories/z/w/y/b.md": "x/y/b.md"}


@case
def nothing_is_renamed_onto_what_is_there(files: Files) -> None:
    for path in ("a.md", "b.md", "x/c.md"):
        files.create(f"/memories/{path}", path)
    for old, new in (("a.md", "b.md"), ("a.md", "x"), ("none.md", "d.md"), ("a.md", "b.md/e.md")):
        refuses(files.rename, f"/memories/{old}", f"/memories/{new}")
    assert files.texts() == {f"memories/{path}": path for path in ("a.md", "b.md", "x/c.md")}


OUTSIDE = """/etc/passwd /memories/../etc/passwd /memories/x/../../y /memoriesx/a memories/a
/memories/%2e%2e/a /memories//a /memories/./a""".split()


@case
def no_path_leads_out_of_the_root(files: Files) -> None:
    for path in OUTSIDE:
        refuses(files.create, path, "x")
        refuses(files.view, path)
        refuses(files.delete, path)
    # The API itself takes no such name, whatever a program forgets.
    for namespace, key in (("memories/..", "a"), ("memories", ".."), ("memories//x", "a")):
        call = {"op": "put", "namespace": namespace, "key": key, "value": "x"}
        refuses(files.batch, [call])
    assert files.api.get("/items").json()["results"] == []


@pytest.mark.parametrize("play", CASES, ids=lambda play: play.__name__)
def test_files_of_memory(play: Callable[[Files], None], api: Api) -> None:
    play(Files(api))


def test_as_many_cases_as_promised() -> None:
    assert len(CASES) == 28
