"""The commands for conversations, observations and relations: on the local store, and over REST."""

import json
from pathlib import Path

import pytest

from conversations.capture.engine import IngestEngine
from day1site.cli import main
from memory.actors import local_actor
from memory.models import Fact, Project, RecallLog, Session
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def rows(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()[1:]]


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
