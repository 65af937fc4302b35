"""The command line on the local store, in this process: its output and exit status."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from day1site.cli.commands.facts import NONE_YET
from memory.actors import Actor
from memory.db.errors import DatabaseAway
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import ApiKey, Commit, Fact, Project
from tests.command_line import Day1, build_day1

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "01970000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAY1_URL", raising=False)


@pytest.fixture
def day1(project: Project, capsys: pytest.CaptureFixture[str]) -> Day1:
    return build_day1(project, capsys)


@pytest.fixture
def fact(actor: Actor) -> Fact:
    return FactEngine().write_fact(fact_text="Tokens expire — nach 15 Minuten ☕.", actor=actor).fact


def newest() -> Fact:
    return max(Fact.objects.all_versions(), key=lambda fact: fact.uid)


# ---- facts -----------------------------------------------------------------------------------------


def test_a_search_shows_as_many_as_are_asked_for(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(json.dumps({"fact_text": f"A heron in pond {n}."}) for n in range(230)))
    day1("import", str(file))
    for limit, count in ((120, 120), (500, 230)):
        lines = day1("search", "heron", "--limit", str(limit))[1].splitlines()[1:]
        assert (len(lines), len(set(lines))) == (count, count)


def test_an_empty_store_says_how_to_begin(day1: Day1) -> None:
    for words in (("facts",), ("search", "anything")):
        assert day1(*words) == (0, "", f"{NONE_YET}\n")
    assert day1("facts", "--category", "x") == (0, "", "No fact here fits.\n")
    assert day1("branch", "log") == (0, "", "No commit on main yet.\n")
    assert day1("export") == (0, "", "No facts to export.\n")
    assert json.loads(day1("facts", "--format", "json")[1]) == {"results": [], "next": None, "previous": None}


def test_write_fact_stores_every_field_and_says_the_id(day1: Day1) -> None:
    status, out, err = day1(
        "write-fact",
        "Tee ☕",
        "--category",
        "preference",
        "--kind",
        "NOTE",
        "--priority",
        "P1",
        "--confidence",
        "0.5",
        "--tag",
        "a",
        "--tag",
        "b c",
        "--session",
        "s",
        "--agent",
        "g",
        "--task",
        "t",
        "--metadata",
        '{"x": [1]}',
        "--source",
        "book",
        "--valid-until",
        "2030-01-01",
        "--pinned",
    )
    fact = newest()
    assert (status, out, err) == (0, f"{fact.uid}\tstored on main\n", "")
    told = (fact.category, fact.kind, fact.priority, fact.confidence, fact.tags, fact.metadata, fact.source)
    assert told == ("preference", "NOTE", "P1", 0.5, ["a", "b c"], {"x": [1]}, "book")
    assert (fact.session_id, fact.agent_id, fact.task_id, fact.pinned) == ("s", "g", "t", True)
    assert Commit.objects.get().surface == "cli"


def test_secrets_are_taken_out_and_told(day1: Day1) -> None:
    _, _, err = day1("write-fact", "The login is https://me:hunter2@example.com/a", "--tag", "api_key=abcd1")
    assert newest().fact_text == "The login is https://me:[redacted: password]@example.com/a"
    assert newest().tags == ["api_key=[redacted: named secret]"]
    assert err == "2 secrets were not stored: see [redacted: …] in fact_text, tags.\n"
    assert day1("write-fact", "No secret.")[2] == ""


def test_a_dash_reads_standard_input(day1: Day1, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("zwei\nZeilen ü\n".encode())))
    assert day1("write-fact", "-")[0] == 0
    assert newest().fact_text == "zwei\nZeilen ü"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert day1("write-fact", "-") == (1, "", "invalid: The text on standard input is not UTF-8.\n")


def test_search_prints_a_line_per_hit(day1: Day1, fact: Fact, actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    row = f"{fact.uid}\tactive\tgeneral\tTokens expire — nach 15 Minuten ☕."
    assert day1("search", "tokens") == (0, f"score\tid\tstatus\tcategory\tessence\n0.970\t{row}\n", "")
    both = day1("search", "tokens", "--branch", "main", "--branch", "task/*")[1]
    assert both == f"score\tid\tstatus\tcategory\tessence\tbranches\n0.970\t{row}\tmain, task/a\n"
    assert day1("search", "tokens", "--max-tokens", "30")[1] == "- Tokens expire — nach 15 Minuten ☕.\n"
    assert day1("search", "tokens", "--category", "other") == (0, "", "Nothing found.\n")
    assert day1("search", "expire", "--at", "0") == (0, "", "Nothing found.\n")


def test_search_says_that_nothing_is_known_below_the_least_evidence(day1: Day1, fact: Fact) -> None:
    Project.objects.update(least_evidence=0.99)
    nearest = "Nothing is known here on this; nearest: “Tokens expire — nach 15 Minuten ☕.”"
    said = f"{nearest}\n"
    status, out, err = day1("search", "tokens")
    assert (status, str(fact.uid) in out, err) == (0, True, said)
    assert day1("search", "tokens", "--max-tokens", "30") == (0, f"- {nearest}\n", said)
    assert day1("search", "tokens", "--max-tokens", "8")[:2] == (0, "\n")
    assert day1("search", "tokens", "--category", "other")[2] == "Nothing found.\n"
    Project.objects.update(least_evidence=None)
    assert day1("search", "tokens")[2] == ""


def test_facts_are_listed_in_pages_or_all(day1: Day1, actor: Actor) -> None:
    ids = [FactEngine().write_fact(fact_text=f"Fact {i}", actor=actor).fact.uid for i in range(3)]
    lines = [f"{uid}\tactive\tgeneral\tFact {i}" for i, uid in enumerate(ids)]
    status, out, err = day1("facts", "--limit", "2")
    assert (status, out) == (0, "\n".join(["id\tstatus\tcategory\tessence", lines[2], lines[1], ""]))
    cursor = err.split()[4].rstrip(",")
    assert err == f"There are more: --cursor {cursor}, or --all.\n"
    assert day1("facts", "--limit", "2", "--cursor", cursor)[1].splitlines()[1:] == [lines[0]]
    assert day1("facts", "--limit", "2", "--all")[1].splitlines()[1:] == lines[::-1]
    assert len(json.loads(day1("facts", "list", "--all", "--format", "json")[1])["results"]) == 3
    oldest = day1("facts", "--limit", "2", "--ordering", "created_at", "--all")[1]
    assert oldest.splitlines()[1:] == lines
    status, out, err = day1("keys", "list", "--ordering", "colour")
    assert (status, out) == (1, "")
    assert err.startswith("invalid: ordering must be one of -agent_id, -created_at, ")
    assert day1("facts", "--limit", "2", "--ordering=-created_at")[1].splitlines()[1:] == lines[:0:-1]


def test_stored_text_cannot_write_to_the_terminal(day1: Day1, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="red\x1b[31m\ttab\x07 \u202eback", actor=actor)
    assert day1("facts")[1].splitlines()[1].split("\t")[3] == "red\ufffd[31m tab\ufffd \ufffdback"


# ---- branches and keys -----------------------------------------------------------------------------


def test_a_key_opens_until_it_is_revoked(day1: Day1) -> None:
    status, out, err = day1("keys", "create", "ci", "--scope", "propose", "--branch-pattern", "task/*")
    assert (status, err) == (0, "This is the only time that the token is shown.\n")
    actor = get_actor(KeyEngine().verify_token(out.strip()), "rest")
    assert (actor.scopes, actor.branch_patterns) == ({"propose"}, ("task/*",))
    key = ApiKey.objects.get()
    row = day1("keys")[1].splitlines()[1].split("\t")
    assert row[:5] + row[7:] == [str(key.pk), "ci", key.prefix, "propose", "task/*", "open"]
    assert day1("keys", "revoke", str(key.pk)) == (0, f"{key.pk}\trevoked\n", "")
    assert day1("keys")[1].splitlines()[1].split("\t")[7] == "revoked"
    assert json.loads(day1("keys", "create", "b", "--format", "json")[1])["scopes"] == ["write"]


# ---- files -----------------------------------------------------------------------------------------


def test_import_and_export(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    file = tmp_path / "facts.jsonl"
    lines = [
        '{"fact_text": "Té \u2028 1"}',
        "",
        "{bad",
        "?",
        '{"fact_text": "x", "tags": 1}',
        '{"fact_text": "x", "metadata": ' + '{"a": ' * 62 + "1" + "}" * 63,
        '{"fact_text": "two"}',
    ]
    file.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode().replace(b"?", b"\xff"))
    told = (
        "line 3: invalid: The line is not JSON.\nline 4: invalid: The line is not UTF-8.\n"
        "line 5: invalid: tags must be a list of at most 50 texts.\n"
        "line 6: invalid: The line is nested more than 62 deep.\n"
    )
    dry = day1("import", str(file), "--dry-run")
    assert dry == (1, "2 new, 0 known, 4 broken; nothing was written.\n", told)
    assert Commit.objects.count() == 0
    assert day1("import", str(file)) == (1, "2 new, 0 known, 4 broken on main.\n", told)
    assert (Commit.objects.get().message, Commit.objects.get().added) == ("import of facts.jsonl", 2)
    target = tmp_path / "out.jsonl"
    assert day1("export", "--output", str(target)) == (0, "", f"2 facts in {target}.\n")
    assert [json.loads(line)["fact_text"] for line in target.read_text("utf-8").split("\n") if line] == [
        "Té \u2028 1",
        "two",
    ]
    assert day1("export")[1] == target.read_text("utf-8")
    assert day1("import", str(target)) == (0, "0 new, 2 known, 0 broken on main.\n", "")
    BranchManager().create_branch(name="task/a", actor=actor, at=0)
    answer = json.loads(day1("import", str(target), "--branch", "task/a", "--format", "json")[1])
    assert answer == {"new": 2, "known": 0, "broken": 0, "dry_run": False, "errors": []}


def test_a_long_file_is_a_commit_per_thousand_lines(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f'{{"fact_text": "Fact {i}"}}\n' for i in range(2001)))
    assert day1("import", str(file)) == (0, "2001 new, 0 known, 0 broken on main.\n", "")
    assert list(Commit.objects.order_by("seq").values_list("added", flat=True)) == [1000, 1000, 1]


def test_files_that_cannot_be_used(day1: Day1, tmp_path: Path, fact: Fact) -> None:
    gone = tmp_path / "gone.jsonl"
    assert day1("import", str(gone)) == (1, "", f"file_error: {gone}: No such file or directory.\n")
    status, _, err = day1("export", "--output", str(tmp_path / "no" / "x"))
    assert (status, err.split(":")[0]) == (1, "file_error")
    assert list(tmp_path.iterdir()) == []


def test_upkeep(day1: Day1, fact: Fact) -> None:
    assert day1("reindex") == (0, "1 versions indexed.\n", "")
    assert day1("reembed") == (0, "Embedding is off: nothing to do.\n", "")


# ---- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("write-fact", " "), "invalid: fact_text may not be empty."),
        (("write-fact", "x\0y"), "invalid: fact_text holds a NUL character, which no text may."),
        (("write-fact", "x" * 65537), "too_large: fact_text is over the limit of 64 KiB."),
        (("write-fact", "x", "--confidence", "1.2"), "invalid: confidence must be a number from 0 to 1."),
        (("write-fact", "x", "--branch", "no"), "not_found: There is no branch named no."),
        (("search", "x" * 8001), "query_too_long: A query has at most 8000 characters, this one has 8001."),
        (("search", "x", "--limit", "-1"), "invalid: A page has 1 to 100 results, not -1."),
        (("facts", "--cursor", "x"), "invalid: This cursor is not one that Day1 gave."),
        (("facts", "--at", "soon"), "invalid: at must be a seq, the id of a commit or a time in ISO 8601."),
        (("facts", "show", "x"), "invalid: id must be a UUID."),
        (("facts", "restore", NOWHERE), "not_found: Nothing with this id is visible here."),
        (("branch", "create", "main"), "exists: A branch named main exists already."),
        (("branch", "archive", "main"), "conflict: The branch main cannot be archived."),
        (
            ("keys", "create", "x", "--scope", "all"),
            "invalid: scopes must be one of admin, curate, merge, metrics, owner, propose, read, "
            "server, write.",
        ),
        (
            ("--project", "nope", "facts"),
            "not_found: There is no project nope in this store; there is: test.",
        ),
    ],
)
def test_an_error_is_one_line_and_leaves_nothing(day1: Day1, words: tuple[str, ...], said: str) -> None:
    assert day1(*words) == (1, "", said + "\n")
    assert (Commit.objects.count(), ApiKey.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "day1: error: the following arguments are required: COMMAND"),
        (("wirte-fact", "x"), "invalid choice: 'wirte-fact'"),
        (("write-fact", "x", "--metadata", "[1]"), "argument --metadata: not a JSON object: [1]"),
        (("write-fact", "x", "--confidence", "high"), "argument --confidence: invalid float value: 'high'"),
        (("facts", "--status", "gone"), "invalid choice: 'gone'"),
        (("facts", "--branhc", "x"), "unrecognized arguments: --branhc x"),
        (("verify", NOWHERE, "good"), "invalid choice: 'good'"),
        (("search", "x", "--branch", "a*", "--at", "1"), "--at names a point of one branch"),
        (("search", "x", "--category", "\udcff"), "day1: error: category is not UTF-8."),
    ],
)
def test_what_is_not_understood_ends_with_2(day1: Day1, words: tuple[str, ...], said: str) -> None:
    status, out, err = day1(*words)
    assert (status, out) == (2, "")
    assert said in err


def test_trouble_with_the_store_is_one_line(day1: Day1, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **how: Any) -> Any:
        raise ZeroDivisionError("x\ny")

    monkeypatch.setattr("memory.api.operation_views.read_arguments", fail)
    assert day1("facts") == (1, "", "error: Something went wrong: ZeroDivisionError: x y\n")

    def lose(*args: Any, **how: Any) -> Any:
        raise DatabaseAway("no server answers")

    monkeypatch.setattr("memory.api.operation_views.read_arguments", lose)
    assert day1("facts") == (1, "", "store_error: The store cannot be used: no server answers.\n")

    def stop(*args: Any, **how: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("memory.api.operation_views.read_arguments", stop)
    assert day1("facts") == (130, "", "")
