"""The names, options, defaults and exit statuses of the command line: a contract, in cli_commands.json."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from day1site.bootstrap import ROOT
from day1site.cli import main
from day1site.cli.errors import UsageError
from tests.site.cli_words import parse_words, walk_commands

CONTRACT = json.loads(Path(__file__).with_name("cli_commands.json").read_text())
COMMON = {"--format", "--project", "--data-dir"}
POLICY = {"policy", "policy list", "policy show", "policy set", "policy delete"}
PROJECT = {"project", "project show", "project set"}
ERASURE = {"erase", "erasures", "erasures list", "erasures show"}
QUESTIONS = {f"questions {name}" for name in "save list delete import export runs".split()} | {
    "questions",
    "eval",
}
VERIFICATION = {f"verification {name}" for name in "batch jobs job summary gate calibration".split()} | {
    "verification"
}
HANDOFF = {"handoff"} | {f"handoff {name}" for name in "create list show accept reject".split()}
INVITATIONS = {"invitations"} | {f"invitations {name}" for name in "create list revoke".split()}
MEMBERS = {"members"} | {f"members {name}" for name in "list add role remove".split()}
TEMPLATE = {"template"} | {
    f"template {action}"
    for action in "create list find show instantiate update diff deprecate outcome".split()
}
QUARANTINES = {"quarantines"} | {f"quarantines {name}" for name in "create list show release".split()}
SCORES = {"scores"} | {f"scores {name}" for name in "judge runs run create list summary".split()}
ANALYTICS = {"analytics"} | {
    f"analytics {action}" for action in "overview session agent trends conversation curation".split()
}
CONSOLIDATE = {"consolidate"} | {
    f"consolidate {action}" for action in "session agent task dreaming runs show accept reject undo".split()
}
BUNDLE = {"bundle"} | {
    f"bundle {action}"
    for action in "create list show export upload import delete key trust trusted distrust".split()
}
CONVERSATIONS = {"cherry-pick"} | {
    f"conversations {name}" for name in "fork compact diff semantic-diff export import".split()
}
REPLAYS = {"replays"} | {
    f"replays {name}"
    for name in "create run list show context cancel complete batch report stop resume".split()
}
AGEING = {"age"} | {f"age {name}" for name in "run runs undo pressure".split()}
ADDED = {
    "check",
    "remember",
    *("instructions", "instructions set", "instructions show", "instructions versions"),
    "salvage",
    *VERIFICATION,
    "completion",
    "context",
    "facts accept",
    "facts refuse",
    "facts pin",
    "facts unpin",
    *AGEING,
    *CONVERSATIONS,
    *REPLAYS,
    *POLICY,
    *PROJECT,
    *ERASURE,
    *QUESTIONS,
    *HANDOFF,
    *INVITATIONS,
    *MEMBERS,
    *QUARANTINES,
    *SCORES,
    *TEMPLATE,
    *BUNDLE,
    *ANALYTICS,
    *CONSOLIDATE,
}  # since the contract was written down
NOT_PARSED = {"up", "test", "celery"}  # every word of theirs is manage.py's
COMMANDS = {" ".join(path): command for path, command in walk_commands() if path}


def describe(command: click.Command) -> dict[str, Any]:
    if isinstance(command, click.Group):
        return {"actions": sorted(command.list_commands(click.Context(command)))}
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = {param.opts[0]: param for param in command.params if isinstance(param, click.Option)}
    assert options.keys() >= COMMON
    return {
        "arguments": [describe_argument(argument) for argument in arguments],
        "options": {flag: describe_option(options[flag]) for flag in sorted(options.keys() - COMMON)},
    }


def describe_argument(argument: click.Argument) -> str:
    words = [f"{argument.metavar}{'' if argument.required else '?'}", *describe_value(argument)]
    return " ".join(words)


def describe_option(option: click.Option) -> str:
    kind = "text" if isinstance(option.type, click.Choice) else option.type.name
    words = [str(option.name), "flag" if option.is_flag else kind]
    words += ["multiple"] if option.multiple else []
    words += ["required"] if option.required else []
    return " ".join([*words, *describe_value(option)])


def describe_value(param: click.Parameter) -> list[str]:
    choices = ["|".join(param.type.choices)] if isinstance(param.type, click.Choice) else []
    default = param.get_default(click.Context(click.Command("x")))
    given = default not in (None, False, "", ()) and "Sentinel" not in type(default).__name__
    return [*choices, *([f"default={json.dumps(default)}"] if given else [])]


@pytest.mark.parametrize("name", sorted(CONTRACT["commands"]))
def test_a_command_has_the_arguments_and_options_of_the_contract(name: str) -> None:
    assert describe(COMMANDS[name]) == CONTRACT["commands"][name]


def test_no_command_is_there_that_the_contract_does_not_know() -> None:
    assert COMMANDS.keys() == CONTRACT["commands"].keys() | ADDED | NOT_PARSED


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


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - NOT_PARSED))
def test_every_command_has_an_example_and_a_line_in_the_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*name.split(), "--help"]) == 0
    assert re.search(r"\nexamples?:\n  \S", capsys.readouterr().out)
    *group, own = name.split()
    assert main([*group, "--help"]) == 0
    about = COMMANDS[name].help
    assert about is not None
    line = re.search(rf"^  {own} +(.+)$", capsys.readouterr().out, re.MULTILINE)
    assert line is not None
    assert about.lower().startswith(line[1].rstrip(".").lower()[:20])


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
    done = subprocess.run(program, env=env, input="{}", capture_output=True, text=True, timeout=60)
    return set(done.stdout.splitlines())


def test_a_hook_imports_neither_click_nor_django(tmp_path: Path) -> None:
    config = str(tmp_path / "none.json")
    modules = modules_of(tmp_path, "hook", "--client", "codex", "--config", config)
    assert "day1site.hooks.client.capture" in modules
    assert modules & {"click", "argparse", "django.conf", "rich"} == {"argparse"} & modules


def test_the_help_imports_no_command(tmp_path: Path) -> None:
    modules = modules_of(tmp_path, "--help")
    assert "day1site.cli.commands" in modules
    assert modules & {"day1site.cli.facts", "django.apps", "rich.console", "tomlkit"} == set()


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
