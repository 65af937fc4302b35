"""What the adapters share: an append that stores once, recall for a prompt, whose memory it is."""

import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("httpx", reason="httpx is not installed")

from day1_client import Day1
from day1_client.adapting import (
    MAX_PIECE_LENGTH,
    append,
    clean_json,
    cosine,
    find,
    message,
    name_session,
    pack_vector,
    quote,
    read_text,
    recall,
    unpack_vector,
    unquote,
    whose,
    whose_is,
    write_text,
)
from tests.frameworks.environments import CLIENT

MAX_LINES = 150
FRAMEWORK = re.compile(r'^with needs\("(.+)"\):\n    from (\w+)', re.MULTILINE)
ADAPTERS = {
    path: found
    for path in sorted((CLIENT / "src" / "day1_client").glob("*.py"))
    if (found := FRAMEWORK.search(path.read_text(encoding="utf-8")))
}
ADA, BOB = {"user_id": "ada"}, {"user_id": "bob"}


def said(memory: Day1, session: str, **owner: str) -> list[str]:
    """Return what a session holds, in its order."""
    talks = memory.conversations.list(session_id=session, **owner)
    return [row["content"] for talk in talks for row in memory.conversations.messages(talk["id"])]


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [row for number in numbers for row in message("user", f"Line {number}.", f"key-{number}")]


def test_what_is_added_again_is_stored_once(memory: Day1) -> None:
    append(memory, rows(1, 2), "s1", read_first=True, **ADA)
    append(memory, rows(1, 2), "s1", **ADA)  # the same request
    append(memory, rows(1, 2, 3), "s1", **ADA)  # another one that begins with the same
    append(memory, rows(1, 2, 3, 4), "s1", read_first=True, **ADA)
    assert said(memory, "s1", **ADA) == ["Line 1.", "Line 2.", "Line 3.", "Line 4."]
    append(memory, rows(1), "s1", **BOB)
    assert (said(memory, "s1", **BOB), len(said(memory, "s1", **ADA))) == (["Line 1."], 4)


def test_two_that_add_at_once_store_each_line_once(memory: Day1) -> None:
    with ThreadPoolExecutor() as pool:
        given = [rows(1, 2), rows(1, 2, 3), rows(1, 2, 3, 4)]
        list(pool.map(lambda one: append(memory, one, "s1", read_first=True, **ADA), given))
    assert said(memory, "s1", **ADA) == ["Line 1.", "Line 2.", "Line 3.", "Line 4."]


def test_what_has_no_key_of_its_own_is_stored_once_too(memory: Day1) -> None:
    said_once = [*message("user", "Hello."), *message("assistant", "Hello.")]
    for _ in range(2):  # as by one who did not get the answer
        append(memory, said_once, "s1", read_first=True, **ADA)
    assert said(memory, "s1", **ADA) == ["Hello.", "Hello."]


def test_what_was_deleted_does_not_come_back(memory: Day1) -> None:
    append(memory, rows(1, 2), "s1", **ADA)
    [first, _second] = memory.messages.search("Line", **ADA)["results"]
    memory.messages.delete(first["message"]["id"], **ADA)
    left = said(memory, "s1", **ADA)
    append(memory, rows(1, 2, 3), "s1", read_first=True, **ADA)
    assert said(memory, "s1", **ADA) == [*left, "Line 3."]


def test_a_long_text_is_stored_in_pieces_and_what_cannot_be_stored_is_a_mark(memory: Day1) -> None:
    text = "é" * (MAX_PIECE_LENGTH * 2) + "\0\ud800 end"
    append(memory, message("user", text, "long"), "s1", **ADA)
    pieces = said(memory, "s1", **ADA)
    assert ([len(one) for one in pieces], "".join(pieces)) == (
        [MAX_PIECE_LENGTH, MAX_PIECE_LENGTH, 6],
        "é" * (MAX_PIECE_LENGTH * 2) + "\ufffd? end",
    )
    assert message("user", " \n") == []
    assert clean_json({"a\0": ["\ud800", 1, None, ("b",)]}) == {"a\ufffd": ["?", 1, None, ["b"]]}


def test_recall_tells_facts_and_what_was_said_in_other_sessions_of_one_person(memory: Day1) -> None:
    memory.remember("Ada sails on Sundays.", **ADA)
    append(memory, message("assistant", "The boat of Ada lies in the harbour."), "s1", **ADA)
    append(memory, message("user", "Where does the boat of Ada lie?"), "s1", **ADA)
    append(memory, message("assistant", "The boat needs paint."), "s2", **ADA)
    memory.remember("Bob has a boat called Rosinante.", **BOB)
    found = recall(memory, "Where does the boat of Ada lie?", 800, ADA, "s2").splitlines()
    assert [line.partition(": ")[2] for line in found if "said" in line] == [
        "The boat of Ada lies in the harbour."
    ]
    append(memory, message("assistant", "The anchor is of iron."), "a/s3", **ADA)
    append(memory, message("assistant", "The anchor is new."), "s3", **ADA)
    assert "iron" in recall(memory, "anchor", 800, ADA, "s3")  # another session, of which the end is the same
    assert "iron" not in recall(memory, "anchor", 800, ADA, "a/s3")
    assert recall(memory, "boat", 1, ADA) == ""
    assert (recall(memory, " \n", 800, ADA), find(memory, "", 5, ADA)) == ("", [])
    hits = find(memory, "x" * 20_000 + " When does Ada sail?", 1, ADA)
    assert [(hit.text, hit.role) for hit in hits] == [("Ada sails on Sundays.", "")]
    append(memory, message("user", "Ada sails on Sundays."), "s4", **ADA)
    hits = find(memory, "When does Ada sail?", 1, ADA)
    assert [(hit.text, hit.role) for hit in hits] == [("Ada sails on Sundays.", "user")]
    assert "Rosinante" not in recall(memory, "Rosinante", 800, ADA)
    assert recall(memory, "Rosinante", 800, BOB) == "- Bob has a boat called Rosinante."


@pytest.mark.parametrize("name", ["", "ada,bob", "a" * 201])
def test_a_name_that_could_mean_several_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"1 to 200 characters and no comma"):
        whose(name)
    with pytest.raises(ValueError, match=r"app_id has"):
        whose("ada", name)
    with pytest.raises(ValueError, match=r"user_id has"):
        whose_is(lambda _run: name, None, None)
    assert (whose(None), whose("ada", "shop")) == ({}, {"user_id": "ada", "app_id": "shop"})


def test_a_run_without_a_user_is_not_about_everybody() -> None:
    users: dict[str, str] = {"run": "ada"}
    assert whose_is(users.get, "shop", "run") == {"user_id": "ada", "app_id": "shop"}
    with pytest.raises(ValueError, match=r"user_id has"):
        whose_is(users.get, "shop", "another")
    assert whose_is(None, None, "run") == {}


def test_names_of_sessions_and_scopes_and_vectors_come_back() -> None:
    assert [name_session(name) for name in ("s-1", "ü/1")] == ["s-1", "ü/1"]
    strange = ["", "a,b", "a" * 121, " a", "a\n"]
    assert len({name_session(name) for name in strange}) == len(strange)
    assert all(name_session(name).startswith("session-") for name in strange)
    parts = ["a", "a/b", "50%", "..", "ä\x7f\n", "%2F"]
    assert [unquote(quote(part)) for part in parts] == parts
    assert not any(set(quote(part)) & {"/", "\n", "\x7f"} or quote(part) == ".." for part in parts)
    assert unpack_vector(pack_vector([0.5, -1.0])) == [0.5, -1.0]
    for text in ("", "Zwölf \N{BIRD}", "x" * 5_000):
        assert read_text(write_text(text)) == text
    one, other = write_text("a" * 60_000), write_text("b" * 60_000)
    assert abs(cosine(one, other)) < 0.6 < cosine(one, write_text("a" * 60_000))
    assert [read_text(one) for one in ([0.1] * 40, [float("nan")] * 40, [float("inf")] * 40, [])] == [
        None
    ] * 4
    assert (cosine([1, 0], [2, 0]), cosine([1, 0], [0, 1]), cosine([], [1])) == (1, 0, 0)


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.stem)
def test_an_adapter_is_small_and_says_which_extra_brings_its_framework(
    path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra, framework = ADAPTERS[path].groups()
    for name in {framework, *(one for one in sys.modules if one.partition(".")[0] == framework)}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"day1_client.{path.stem}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=re.escape(f"pip install -U 'day1-client[{extra}]'")):
        import_module(f"day1_client.{path.stem}")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_each_extra_has_an_adapter_and_each_adapter_an_extra() -> None:
    extras = tomllib.loads((CLIENT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {found[1] for found in ADAPTERS.values()} == {*extras["optional-dependencies"]}
