"""The commands for conversations, observations and relations: on the local store, and over REST."""

import json
from pathlib import Path

import pytest

from conversations.capture.engine import IngestEngine
from day1site.cli import main
from memory.actors import local_actor
from memory.models import Fact, Observation, Project, RecallLog, Relation, Session
from tests.command_line import Day1, anywhere

pytestmark = pytest.mark.django_db(transaction=True)


def rows(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()[1:]]


@anywhere
def test_observations_are_written_listed_and_shown(day1: Day1) -> None:
    assert day1("write-observation", "Retries hide it ☕.", "--type", "insight", "--session", "s")[0] == 0
    call = ("--tool", "Bash", "--input", "pytest -q", "--output", "Exit code 1")
    status, out, _ = day1("write-observation", *call)
    row = Observation.objects.all_versions().get(tool_name="Bash")
    assert (status, out) == (0, f"{row.uid}\terror stored on main\n")
    assert (row.outcome, row.raw_input) == ("error", "pytest -q")
    assert [cells[5] for cells in rows(day1("observations")[1])] == [row.summary, "Retries hide it ☕."]
    assert [cells[5] for cells in rows(day1("observations", "--type", "insight")[1])] == [
        "Retries hide it ☕."
    ]
    assert [cells[0] for cells in rows(day1("observations", "timeline", "--tool", "Bash")[1])] == [
        str(row.uid)
    ]
    assert day1("observations", "timeline", "--before", "2020-01-01")[2] == "No observation here.\n"
    shown = json.loads(day1("observations", "show", str(row.uid), "--format", "json")[1])
    assert (shown["id"], shown["outcome"]) == (str(row.uid), "error")


def test_an_observation_needs_something_to_say(day1: Day1) -> None:
    status, out, err = day1("write-observation")
    assert (status, out) == (1, "")
    assert err == "invalid: An observation needs a summary or a tool_name.\n"
    assert not Observation.objects.all_versions().exists()


@anywhere
def test_relations_make_a_graph(day1: Day1) -> None:
    assert day1("write-relation", "billing", "depends_on", "postgres")[0] == 0
    assert day1("write-relation", "postgres", "runs_on", "db-1", "--properties", '{"port": 5432}')[0] == 0
    row = Relation.objects.all_versions().get(target_entity="postgres")
    assert (
        day1("write-relation", "Billing", "depends_on", "Postgres")[1]
        == f"{row.uid}\tstated 2 times on main\n"
    )
    assert rows(day1("graph", "billing")[1]) == [
        ["1", "billing", "depends_on", "postgres"],
        ["2", "postgres", "runs_on", "db-1"],
    ]
    assert rows(day1("graph", "billing", "--depth", "1")[1]) == [["1", "billing", "depends_on", "postgres"]]
    assert day1("relations", "close", str(row.uid)) == (0, f"{row.uid}\tclosed on main\n", "")
    assert day1("graph", "billing")[2] == "Nothing is known to be connected to billing.\n"
    assert len(rows(day1("relations")[1])) == 2
    assert [cells[3] for cells in rows(day1("relations", "--open")[1])] == ["db-1"]


def test_a_graph_that_is_too_deep_is_refused(day1: Day1) -> None:
    assert day1("graph", "billing", "--depth", "50") == (
        1,
        "",
        "invalid: depth must be a whole number from 1 to 6.\n",
    )


@anywhere
def test_sessions_begin_and_end_once(day1: Day1) -> None:
    assert day1("sessions", "start", "s1", "--path", "/srv/app", "--agent", "a")[1] == "s1\tbegun\n"
    assert day1("sessions", "start", "s1")[1] == "s1\tactive\n"
    assert [cells[:2] for cells in rows(day1("sessions", "--agent", "a", "--branch", "main")[1])] == [
        ["s1", "active"]
    ]
    assert day1("sessions", "end", "s1", "--summary", "Moved to UTC.")[1] == "s1\tcompleted\n"
    assert "summary: Moved to UTC." in day1("sessions", "context", "s1")[1]
    assert "project_path: /srv/app" in day1("sessions", "show", "s1")[1]
    assert day1("sessions", "end", "nobody") == (1, "", "not_found: There is no session with this id.\n")


def test_a_session_in_a_folder_of_this_machine_is_in_its_repository(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    config = '[remote "origin"]\n\turl = git@github.com:acme/shop.git\n'
    (tmp_path / "shop" / ".git" / "config").write_text(config)
    monkeypatch.chdir(tmp_path / "shop" / "src")
    day1("sessions", "start", "s1", "--path", ".")
    monkeypatch.chdir(tmp_path)
    day1("sessions", "start", "s2", "--path", ".")
    day1("sessions", "start", "s3", "--path", "https://github.com/acme/shop/")
    assert "project_path: github.com/acme/shop" in day1("sessions", "show", "s1")[1]
    assert f"project_path: {tmp_path}" in day1("sessions", "show", "s2")[1]
    listed = rows(day1("sessions", "--repository", "git@github.com:acme/shop.git")[1])
    assert [cells[0] for cells in listed] == ["s3", "s1"]


@anywhere
def test_a_conversation_takes_messages_until_it_is_closed(day1: Day1) -> None:
    status, out, _ = day1("conversations", "start", "--title", "Login", "--session", "s1")
    uid = out.split("\t")[0]
    assert (status, out) == (0, f"{uid}\tbegun on main\n")
    assert day1("messages", "write", uid, "user", "How long?")[1].endswith("\tmessage 1 on main\n")
    assert day1("messages", "write", uid, "assistant", "15 minutes.")[1].endswith("\tmessage 2 on main\n")
    said = rows(day1("messages", "list", uid)[1])
    assert [(cells[0], cells[2], cells[4]) for cells in said] == [
        ("1", "user", "How long?"),
        ("2", "assistant", "15 minutes."),
    ]
    assert [cells[4] for cells in rows(day1("messages", "list", uid, "--role", "user")[1])] == ["How long?"]
    assert "content: 15 minutes." in day1("messages", "show", said[1][1])[1]
    assert [cells[3] for cells in rows(day1("conversations", "--session", "s1")[1])] == ["2"]
    message = said[0][1]
    status, out, _ = day1("conversations", "fork", uid, message, "--memory-branch", "task/again")
    assert (status, out[36:]) == (0, "\tforked on task/again\n")
    status, out, _ = day1("cherry-pick", uid, said[1][1], message, "--title", "Best of")
    other = out.split("\t")[0]
    assert (status, out) == (0, f"{other}\t2 added on main\n")
    copies = rows(day1("messages", "list", other)[1])
    assert [cells[4] for cells in copies] == ["15 minutes.", "How long?"]
    assert day1("cherry-pick", uid, message, "--to", other)[1] == f"{other}\t0 added on main\n"
    assert day1("conversations", "close", uid) == (0, f"{uid}\tcompleted on main\n", "")
    status, _, err = day1("messages", "write", uid, "user", "More?")
    assert (status, err) == (1, "conflict: This conversation is completed and takes no more messages.\n")
    assert len(rows(day1("messages", "list", uid)[1])) == 2


def test_what_the_next_session_in_a_folder_would_be_told(
    day1: Day1, tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    status, out, err = day1("context", "--cwd", str(folder / "src"))
    assert (status, out) == (0, "")
    assert "is in no git repository" in err
    assert "would be told nothing" in err
    (folder / ".git").mkdir()
    day1("write-fact", "Deploys run from main only.", "--category", "decision", "--session", "s0")
    Session.objects.filter(key="s0").update(project_path=str(folder))
    status, out, err = day1("context", "--cwd", str(folder / "src"))
    assert (status, err) == (0, "")
    assert "Deploys run from main only." in out
    answer = json.loads(day1("context", "--cwd", str(folder), "--format", "json")[1])
    assert (answer["branch"], answer["repository"]) == ("main", str(folder))
    assert answer["fact_ids"] == [str(Fact.objects.all_versions().get().uid)]
    assert not RecallLog.objects.exists()
    event = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(folder)}
    told = IngestEngine().ingest(events=[event], actor=local_actor(project.pk), answered=True)
    assert told
    assert told["hookSpecificOutput"]["additionalContext"] == answer["context"]


def test_a_context_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("DAY1_URL", "")
    words = ["context", "--cwd", str(tmp_path)]
    assert main([*words, "--client", "codex"]) == 1
    assert "codex is not connected: day1 connect codex does it." in capsys.readouterr().err
    assert main(["context", "--cwd", str(tmp_path / "none")]) == 2
    assert f"There is no folder {tmp_path / 'none'}." in capsys.readouterr().err
    (tmp_path / "day1").mkdir()
    (tmp_path / "day1" / "codex.json").write_text('{"url": "http://127.0.0.1:9", "key": "day1_x"}')
    assert main(words) == 1
    assert "The server at http://127.0.0.1:9 does not answer" in capsys.readouterr().err
    (tmp_path / "day1" / "codex.json").write_text("{}")
    monkeypatch.setenv("DAY1_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("DAY1_KEY", raising=False)
    assert main(words) == 1
    assert "DAY1_KEY is not" in capsys.readouterr().err
