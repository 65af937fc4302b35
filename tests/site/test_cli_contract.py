"""What the command line understands and refuses, its help, and what it imports."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from day1site import __version__
from day1site.bootstrap import ROOT
from day1site.cli import main
from day1site.cli.errors import UsageError
from tests.site.cli_words import parse_words, walk_commands
from tests.waiting import TIMEOUT_SECONDS

CONTRACT = json.loads(Path(__file__).with_name("cli_commands.json").read_text())
NOT_PARSED = {"up", "test", "celery"}  # every word of theirs is manage.py's
COMMANDS = {" ".join(path): command for path, command in walk_commands() if path}


def status_of(line: str) -> int:
    try:
        parse_words(line.split())
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.UsageError, UsageError):
        return 2
    return 0


def test_what_was_understood_and_refused_still_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line for line in CONTRACT["understood"] if status_of(line) != 0] == []
    assert [line for line in CONTRACT["refused"] if status_of(line) != 2] == []


def test_every_command_has_an_example_and_a_line_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in sorted(COMMANDS.keys() - NOT_PARSED):
        assert re.search(r"\nexamples?:\n  \S", read_help(name.split(), capsys)), name
        *group, own = name.split()
        line = re.search(rf"^  {own} +(.+)$", read_help(group, capsys), re.MULTILINE)
        about = COMMANDS[name].help
        assert line is not None, name
        assert about is not None, name
        assert about.lower().startswith(line[1].rstrip(".").lower()[:20])


def read_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*words, "--help"]) == 0
    return capsys.readouterr().out


def test_the_program_says_its_version_and_its_commands_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert [main(words) for words in (["--version"], ["--version", "facts"])] == [0, 0]
    assert capsys.readouterr().out == f"day1 {__version__}\n" * 2
    assert main(["facts", "--version"]) == 2


def test_every_option_has_help() -> None:
    silent = [
        (name, param.name)
        for name, command in COMMANDS.items()
        for param in command.params
        if isinstance(param, click.Option) and not param.help
    ]
    assert silent == []


# ---- what is imported ----------------------------------------------------------------------------------

PRINT_MODULES = "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n'))"


def modules_of(tmp_path: Path, *words: str) -> set[str]:
    """Return the modules that a process of the command line has imported at its end."""
    (tmp_path / "sitecustomize.py").write_text(PRINT_MODULES)
    env = {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "DAY1_DATA_DIR": str(tmp_path / "data")}
    program = [sys.executable, str(ROOT / "day1site" / "cli" / "__main__.py"), *words]
    done = subprocess.run(
        program, env=env, input="{}", capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    return set(done.stdout.splitlines())


def test_a_hook_imports_neither_click_nor_django(tmp_path: Path) -> None:
    config = str(tmp_path / "none.json")
    modules = modules_of(tmp_path, "hook", "--client", "codex", "--config", config)
    assert "day1site.hooks.client.capture" in modules
    assert modules & {"click", "argparse", "django.conf", "rich"} == {"argparse"} & modules


def test_the_help_imports_no_command(tmp_path: Path) -> None:
    modules = modules_of(tmp_path, "--help")
    assert "day1site.cli.registry" in modules
    assert modules & {"day1site.cli.commands.facts", "django.apps", "rich.console", "tomlkit"} == set()


def imports_within(file: Path, package: str) -> set[str]:
    """Return the modules of a package that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if module_file(name).exists() else str(node.module) for name in names}
    return found


def module_file(name: str) -> Path:
    return ROOT / f"{name.replace('.', '/')}.py"


def test_no_file_of_the_command_line_imports_itself_by_way_of_others() -> None:
    files = (ROOT / "day1site" / "cli").rglob("*.py")
    names = {str(file.relative_to(ROOT).with_suffix("")).replace("/", "."): file for file in files}
    left = {name: imports_within(file, "day1site.cli") & names.keys() for name, file in names.items()}
    while leaves := {name for name, uses in left.items() if not uses & left.keys()}:
        left = {name: uses for name, uses in left.items() if name not in leaves}
    assert left == {}


# ---- completion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert f"_DAY1_COMPLETE={shell}_complete" in capsys.readouterr().out
    assert main(["completion", "tcsh"]) == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("day1 fac", {"facts"}),
        ("day1 facts s", {"show", "supersede"}),
        ("day1 facts --min", {"--min-confidence"}),
        ("day1 facts list --status a", {"active", "archived"}),
        ("day1 --format j", {"json"}),
        ("day1 completion z", {"zsh"}),
        ("day1 nothing x", set()),
    ],
)
def test_a_shell_is_given_what_fits(
    line: str, words: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_DAY1_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    assert main([]) == 0
    assert {row.partition(",")[2] for row in capsys.readouterr().out.split()} == words
