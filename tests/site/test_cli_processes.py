"""The command line as users run it: the script, pipes and signals; and against a real server."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from day1site.bootstrap import ROOT, Environment
from day1site.cli import main
from tests import databases
from tests.systems import needs_proc
from tests.waiting import TIMEOUT_SECONDS, wait_until

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a user with a data directory of their own."""
    ours = ("DAY1_", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    data = str(tmp_path_factory.mktemp("cli") / "data")
    kept |= databases.of(data)
    return {**kept, "DAY1_DATA_DIR": data, "DAY1_NO_BOOTSTRAP": "1", "DAY1_EMBEDDER": "off"}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ``day1`` as `up` does, in a folder whose name needs quoting."""
    root = tmp_path_factory.mktemp("it's a folder")
    (root / "day1site").symlink_to(ROOT / "day1site")
    environment = Environment(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    environment.python.chmod(0o755)
    environment.write_launcher()
    return environment.launcher


@pytest.fixture(scope="module")
def day1(script: Path, env: dict[str, str]) -> Run:
    def run(*words: str, **more: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [script, *words], env={**env, **more}, capture_output=True, timeout=TIMEOUT_SECONDS
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@pytest.fixture(scope="module")
def first(day1: Run, env: dict[str, str]) -> str:
    """Write a first fact, which creates the store; return its id."""
    data = env["DAY1_DATA_DIR"]
    missing = (
        f"no_store: There is no store in {data}. If it should be there, look at --data-dir and DAY1_DATA_DIR;"
        " a first write-fact or import makes one, and so does `up`.\n"
    )
    assert day1("facts") == (1, "", missing)
    assert not Path(data, "day1.sqlite3").exists()
    status, out, err = day1("write-fact", "Der Tee ☕ steht in der Küche.", "--tag", "tee")
    assert (
        err
        == f"Made a store in {data}; user, password and key for the server are in {data}/first-key.json.\n"
    )
    assert (status, out.split("\t")[1]) == (0, "stored on main\n")
    return out.split("\t")[0]


@pytest.fixture(scope="module")
def server(env: dict[str, str], first: str) -> Iterator[dict[str, str]]:
    """Yield DAY1_URL and DAY1_KEY of a server on the same store."""
    with running(env) as url:
        key = json.loads(Path(env["DAY1_DATA_DIR"], "first-key.json").read_text())["key"]
        yield {"DAY1_URL": url, "DAY1_KEY": key}


@contextmanager
def running(env: dict[str, str]) -> Iterator[str]:
    words = [sys.executable, str(ROOT / "manage.py"), "up", "--port", "0", "--no-worker"]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(iter(process.stdout.readline, "  Ctrl-C stops it.\n"))
            address = re.search(r"Web +(\S+?)/?\n", said)
            assert address is not None, said
            yield address[1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(TIMEOUT_SECONDS)


@pytest.fixture
def remote(
    server: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return the command line in this process, on the server."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


# ---- processes ---------------------------------------------------------------------------------------


def test_manage_py_starts_no_django_for_it(env: dict[str, str], tmp_path: Path) -> None:
    noting = "import atexit, sys; atexit.register(lambda: print('django.apps' in sys.modules))"
    (tmp_path / "sitecustomize.py").write_text(noting)
    words = [sys.executable, str(ROOT / "manage.py"), "day1", "facts", "--help"]
    done = subprocess.run(
        words, env={**env, "PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=TIMEOUT_SECONDS
    )
    out = done.stdout.decode()
    assert (done.returncode, out.startswith("usage: day1 facts"), out.splitlines()[-1]) == (0, True, "False")


@pytest.mark.slow
def test_the_commands_of_manage_py_by_day1(day1: Run) -> None:
    for words, text in ((("up", "--help"), "--no-worker"), (("test", "--version"), "pytest ")):
        status, out, _ = day1(*words)
        assert (status, text in out) == (0, True), words


def test_a_removal_has_what_it_needs(day1: Run, first: str) -> None:
    """A command starts a part of Django only: the logins of a member are in another."""
    status, _out, told = day1("members", "remove", "nobody")
    assert (status, told) == (1, "not_found: Nobody of the name nobody is a member of this project.\n")


def test_usage_ends_with_2_before_anything_is_started(day1: Run) -> None:
    started = processor_time()
    status, out, err = day1("serach", "tea")
    assert (status, out) == (2, "")
    assert "invalid choice: 'serach'" in err
    assert processor_time() - started < 1


def processor_time() -> float:
    """Return the seconds of all child processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


@needs_proc
@pytest.mark.slow
def test_ctrl_c_is_quiet(script: Path, env: dict[str, str]) -> None:
    words = [script, "write-fact", "-"]
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=-1, stderr=-1) as process:
        wait_for_reader(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"")


def wait_for_reader(pid: int) -> None:
    """Wait until a process reads its input. Needs /proc."""
    wait_until(lambda: "pipe_read" in Path(f"/proc/{pid}/wchan").read_text())


def test_a_reader_that_goes_away_is_no_error(script: Path, env: dict[str, str], first: str) -> None:
    with subprocess.Popen([script, "export"], env=env, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(TIMEOUT_SECONDS)) == (b"", 141)


@pytest.mark.slow
@databases.only_on_sqlite
def test_a_backup_is_a_data_directory_again(
    day1: Run, env: dict[str, str], first: str, tmp_path: Path
) -> None:
    """manage.py carries a command out as the script does."""
    (tmp_path / "again").mkdir()
    copy = tmp_path / "again" / "day1.sqlite3"
    status, out, _ = day1("backup", str(copy))
    assert (status, out.endswith(f"  {copy}\n")) == (0, True)
    status, out, _ = day1("--data-dir", str(tmp_path / "again"), "facts")
    assert (status, out.splitlines()[-1].split("\t")[0]) == (0, first)
    words = [sys.executable, str(ROOT / "manage.py"), "day1", "facts", f"--data-dir={tmp_path / 'again'}"]
    done = subprocess.run(
        words, capture_output=True, env={**env, "DAY1_DATA_DIR": "/nowhere"}, timeout=TIMEOUT_SECONDS
    )
    assert (done.returncode, done.stdout.decode()) == (0, out)


@pytest.mark.slow
@databases.only_on_sqlite
def test_a_backup_is_proved_by_a_restore(day1: Run, first: str, tmp_path: Path) -> None:
    """Keep the older ones when the new one is no good; check a copy also where the store itself is gone."""
    status, out, _ = day1("backup", str(tmp_path / "backups"), "--keep", "1", "--verify")
    (made,) = (tmp_path / "backups").iterdir()
    assert (status, out.splitlines()[1].partition(": ")[0]) == (0, f"{made} can be gone back to")
    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 2])
    words = ("--data-dir", str(tmp_path / "nowhere"), "backup", str(made), "--verify")
    status, out, error = day1(*words)
    assert (status, out.startswith(f"{made} is no good: ")) == (1, True)
    assert "Traceback" not in error
    assert list((tmp_path / "backups").iterdir()) == [made]


# ---- on a server -------------------------------------------------------------------------------------


def test_local_and_server_answer_the_same(remote: Run, day1: Run, first: str) -> None:
    words = ("search", "küche", "--branch", "main", "--format", "json")
    assert without_use(json.loads(remote(*words)[1])) == without_use(json.loads(day1(*words)[1]))


def without_use(answer: dict) -> dict:
    """Return the response without the fields that change from call to call."""
    for row in [answer, *(hit.get("fact", hit) for hit in answer.get("results", []))]:
        for name in ("access_count", "last_accessed_at", "took_ms"):
            row.pop(name, None)
    return json.loads(re.sub(r'("(?:recency|score)": \d\.\d{4})\d+', r"\1", json.dumps(answer)))


def test_every_command_works_on_a_server(remote: Run) -> None:
    status, out, err = remote(
        "write-fact", "Über REST, geschrieben", "--tag", "a b", "--pinned", "--session", "s"
    )
    one = out.split("\t")[0]
    assert (status, out, err) == (0, f"{one}\tstored on main\n", "")
    again = remote("write-fact", "über rest, geschrieben", "--session", "t")
    assert again == (0, f"{one}\tknown already on main, confirmed once\n", "")
    assert remote("facts", "--tag", "a b", "--limit", "1")[1].splitlines()[1].split("\t")[0] == one
    assert remote("why", one, "geschrieben", "--tag", "x")[1].startswith("filtered: ")
    assert remote("facts", "archive", one) == (0, f"{one}\tarchived on main\n", "")
    assert remote("search", "geschrieben") == (0, "", "Nothing found.\n")
    assert one in remote("search", "geschrieben", "--include", "archived", "--include", "expired")[1]
    assert remote("facts", "restore", one) == (0, f"{one}\trestored on main\n", "")
    stale = remote("verify", one, "verified", "--expected-version", "1")
    assert (stale[0], stale[2].split(":")[0]) == (1, "stale_version")
    assert remote("verify", one, "verified", "--reason", "ok", "--expected-version", "3") == (
        0,
        f"{one}\tverified on main\n",
        "",
    )
    two = remote("facts", "supersede", one, "Neuer Text")[1].split("\t")[0]
    assert remote("facts", "delete", two) == (0, f"{two}\tdeleted on main\n", "")
    assert [row.split("\t")[2] for row in remote("facts", "history", two)[1].splitlines()[1:]] == [
        "deleted",
        "active",
    ]
    assert remote("branch", "create", "task/a/b", "--at", "1")[:2] == (0, "task/a/b\tmade from main at 1\n")
    assert remote("branch", "archive", "task/a/b") == (0, "task/a/b\tarchived\n", "")
    assert remote("branch", "restore", "task/a/b") == (0, "task/a/b\trestored\n", "")
    assert "task/a/b" in remote("search", "tee", "--branch", "task/*")[1]
    assert remote("keys", "create", "k", "--scope", "read")[1].startswith("day1_")
    key = remote("keys")[1].splitlines()[1].split("\t")[0]
    assert remote("keys", "revoke", key) == (0, f"{key}\trevoked\n", "")


def test_import_and_export_over_rest(remote: Run, tmp_path: Path) -> None:
    ids = [f"01970000-0000-7000-8000-00000000000{n}" for n in range(4)]
    lines = [
        {
            "id": ids[0],
            "fact_text": "kind",
            "parent_id": ids[1],
            "links": [{"to_id": ids[2], "link_type": "BRIDGE"}],
        },
        {"id": ids[1], "fact_text": "parent", "status": "superseded", "tags": ["x"]},
        {"fact_text": "bad", "confidence": 2},
        {"id": ids[2], "fact_text": "linked", "status": "created", "metadata": {"é": 1}},
        {"id": ids[3], "fact_text": "done", "kind": "TASK", "status": "done"},
        {"fact_text": "geheim", "visibility": "private"},
        {"fact_text": "x", "what": 1},
    ]
    file, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    remote("branch", "create", "import/a", "--at", "0")
    into = ("--branch", "import/a")
    unknown = "line 7: unknown_field: There is no field named what.\n"
    assert remote("import", str(file), *into, "--dry-run")[2] == unknown
    told = f"line 3: invalid: confidence must be a number from 0 to 1.\n{unknown}"
    assert remote("import", str(file), *into) == (1, "5 new, 0 known, 2 broken on import/a.\n", told)
    assert remote("import", str(file), *into)[1] == "0 new, 5 known, 2 broken on import/a.\n"
    assert remote("export", *into, "--output", str(target)) == (0, "", f"4 facts in {target}.\n")
    found = {fact["fact_text"]: fact for fact in map(json.loads, target.read_text().splitlines())}
    assert {text: fact["status"] for text, fact in found.items()} == {
        "kind": "active",
        "parent": "archived",
        "linked": "created",
        "done": "done",
    }
    assert found["kind"]["parent_id"] == found["parent"]["id"]
    assert found["kind"]["links"] == [{"to_id": found["linked"]["id"], "link_type": "BRIDGE", "weight": 1.0}]
    assert "geheim" in remote("export", *into, "--include-private")[1]


def test_errors_of_a_server_are_its_own_words(remote: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "01970000-0000-7000-8000-00000000000a"
    assert remote("facts", "show", missing) == (1, "", "not_found: Nothing with this id is visible here.\n")
    assert (
        remote("write-fact", "x", "--confidence", "2")[2]
        == "invalid: confidence must be a number from 0 to 1.\n"
    )
    assert remote("reembed")[2] == (
        "local_only: `day1 reembed` works on the server's own machine: run it there, without DAY1_URL.\n"
    )
    status, _, err = remote("--project", "other", "facts")
    assert (status, "on a server the key decides" in err) == (2, True)
    monkeypatch.setenv("DAY1_KEY", "day1_wrong")
    assert remote("facts") == (1, "", "unauthenticated: A valid API key is needed.\n")
    monkeypatch.delenv("DAY1_KEY")
    told = "unauthenticated: DAY1_URL is set, but DAY1_KEY is not: both are needed.\n"
    assert remote("facts") == (1, "", told)


def test_a_server_that_is_not_there(remote: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAY1_URL", "http://127.0.0.1:9")
    told = "unreachable: The server at http://127.0.0.1:9 does not answer: Connection refused.\n"
    assert remote("facts") == (1, "", told)
    monkeypatch.setenv("DAY1_URL", "ftp://x")
    assert remote("facts")[0] == 2


@pytest.mark.slow
def test_a_local_write_while_the_server_runs(remote: Run, day1: Run) -> None:
    one = day1("write-fact", "Beside the running server.")[1].split("\t")[0]
    assert remote("facts", "--limit", "1")[1].splitlines()[1].split("\t")[0] == one
