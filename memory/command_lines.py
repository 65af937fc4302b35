"""Command lines as programs send them: which command one runs, whatever is set around it. No database."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memory.patterns import lazy_pattern

# Tools that run a command line.
COMMANDS = frozenset(
    "Bash bash PowerShell shell local_shell shell_command exec_command run_shell_command".split()
)
NAMES = ("command", "cmd")
# What programs add to a command, worded anew at each call.
ADDED = frozenset(
    """cwd dangerouslyDisableSandbox description dir_path directory explanation is_background justification
    login max_output_tokens prefix_rule run_in_background sandbox_permissions shell timeout timeout_ms tty
    with_escalated_permissions workdir yield_time_ms""".split()
)
FOLDERS = ("workdir", "dir_path", "cwd", "directory")
SHELLS = frozenset("sh bash zsh dash ksh fish".split())
CUT_INPUT = lazy_pattern(r'"(?:command|cmd)"\s*:\s*"((?:[^"\\]|\\.)*)')  # of JSON that was cut

VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s;&|]*)"
ENTERED = lazy_pattern(rf"^(?:cd|pushd)\s+(?P<folder>{VALUE})\s*(?:&&|;)\s*")
IN_SHELL = lazy_pattern(r"^(?:\S*/)?(?:ba|z|da|k)?sh\s+-\w*c\s+(?P<quote>[\"'])(?P<line>.*)(?P=quote)$")
TIMED = r"time|nohup|nice(?:\s+-n\s*-?\d+)?|timeout(?:\s+-\S+)*\s+[\d.]+\w?|stdbuf(?:\s+-\S+)+"
MEASURED = lazy_pattern(rf"^(?:{TIMED})\s+(?=[\w./~$\"'])")  # that changes nothing of what a command does
# What is set before a command, or runs it, and changes nothing of which one it is.
SET = lazy_pattern(
    rf"^(?:(?:export\s+)?\w+={VALUE}\s*(?:&&|;)|set\s+[-+]\S+(?:\s+pipefail)?\s*(?:&&|;)"
    rf"|(?:source|\.|unset|nvm\s+use|conda\s+activate)\s+{VALUE}\s*(?:&&|;)"
    rf"|\w+={VALUE}(?=\s)"
    rf"|(?:env|command|exec|sudo(?:\s+-\w+)*|xvfb-run(?:\s+-a)?|{TIMED})(?=\s+[\w./~$\"'])"
    r"|(?:uv|poetry|pipenv|hatch)\s+run(?=\s)|(?:npx|bunx)(?:\s+-y|\s+--yes)?(?=\s)|(?:pnpm|yarn|bundle)\s+exec(?=\s)"
    r"|python[\d.]*\s+-m(?=\s))\s*"
)
PLACED = lazy_pattern(r"^[\w.@~$/-]*/(?:\.?bin|Scripts)/(?=[\w.-])")
QUOTE = lazy_pattern(r"[\"'\\\t\r\n]")  # without these a line is its words
PYTHON = lazy_pattern(r"^python[\d.]+(?=\s|$)")
SILENCED = lazy_pattern(r"\s*(?:2>&1|2>\s*/dev/null|;)$")
MAX_LOOK_LENGTH = 10_000  # of a line whose commands are told apart
SEPARATORS = frozenset("();<>|&\n`")
COMMENT, ESCAPED = lazy_pattern(r"^\s*#.*$", re.M), lazy_pattern(r"\\[();\n]")
# Programs that only tell how things are, and options with which they write.
LOOKING = frozenset(
    """ack ag awk basename bat cat cd cmp cut date df diff dir dirname du echo fd file find free grep head
    help history hostname id jobs jq less ll ls lsof man md5sum more nl od pgrep ping printenv printf ps pwd
    readlink realpath rg sed sha256sum sleep sort stat tail test top tr tree true type uname uniq wc whereis
    which whoami xxd yq""".split()
)
WRITING = {
    name: lazy_pattern(pattern)
    for name, pattern in {
        "awk": r"inplace|[^>]*\bprintf?\b[^>]*>\s*[\"/(].*",
        "date": r"-s|--set(?:=.*)?",
        "fd": r"-[xX]|--exec(?:-batch)?",
        "find": r"-delete|-fls|-fprint[0f]?",
        "git": r"--output(?:=.*)?",
        "history": r"-[cdw]",
        "less": r"-[oO]",
        "sed": r"-[A-Za-z]*i.*|--in-place.*",
        "sort": r"-[A-Za-z]*o.*|--output.*",
        "tree": r"-o",
        "yq": r"-[A-Za-z]*i|--inplace",
    }.items()
}
MAX_OPERANDS = {"hostname": 0, "uniq": 1, "xxd": 1}  # a further one is written
EXECUTES = frozenset("-exec -execdir -ok -okdir".split())  # of find, before a command
# Programs that run the command behind them, and what may stand between.
RUNNERS = frozenset("command env exec nice nohup stdbuf sudo time timeout xargs xvfb-run".split())
SET_WORD = lazy_pattern(r"\w+=.*", re.S)
RUN_WORD = lazy_pattern(r"-.*|\w+=.*|[\d.]+[smhd]?|\{\}", re.S)
# Tools of many commands, and those that only tell how things are.
TOOLS = frozenset(
    """apt apt-cache brew bun bundle cargo composer conda deno docker docker-compose dotnet flutter gem gh git
    go hatch helm hg kubectl minikube npm nvm oc pip pip3 pipenv pm2 pnpm podman poetry pyenv redis-cli rustup
    supervisorctl svn systemctl terraform tofu uv vagrant yarn""".split()
)
LOOKED = frozenset(
    "blame describe diff get info inspect list log logs ls ls-files outdated ps show status".split()
)
VERSIONS = frozenset("version --version -V -v".split())
CHANGING = frozenset({("go", "get"), ("terraform", "get"), ("tofu", "get"), ("yarn", "version")})


class Typed(NamedTuple):
    """A command line as it was typed, the rest of it behind the folder that it enters, and the folder that it
    or its call names; "" for none.
    """

    whole: str
    line: str
    folder: str


def load_input(raw_input: str) -> Any:
    """Return a stored input as JSON, or as the text that it is."""
    try:
        return json.loads(raw_input)
    except ValueError:
        return raw_input


def read_line(tool: str, call_input: Any) -> str:
    """Return the command line of a call, without a shell around it; "" where it runs none."""
    if isinstance(call_input, str):
        cut = CUT_INPUT.search(call_input)
        text: Any = cut[1] if cut else call_input
        return text if tool in COMMANDS else ""
    name = next((name for name in NAMES if isinstance(call_input, Mapping) and call_input.get(name)), "")
    if not name or (tool not in COMMANDS and not call_input.keys() - {name} <= ADDED):
        return ""
    return join_line(call_input[name])


def join_line(value: Any) -> str:
    """Return a command line given as a text or as a list of words."""
    if isinstance(value, str):
        inner = IN_SHELL.match(value.strip())
        return inner["line"] if inner else value
    words = [str(word) for word in value] if isinstance(value, list) else []
    is_shell = len(words) > 2 and PurePosixPath(words[0]).name in SHELLS and words[1].startswith("-")
    return words[2] if is_shell else shlex.join(words)


def find_call_key(tool: str, raw_input: str) -> str:
    """Return what makes two calls the same: the command that they run, else tool and input."""
    call_input = load_input(raw_input)
    if line := read_line(tool, call_input):
        return f"$ {reduce_line(line)}"
    fields = call_input if isinstance(call_input, Mapping) else {}
    own = {name: value for name, value in fields.items() if name not in ADDED}
    return f"{tool}\n{json.dumps(own, sort_keys=True) if own else raw_input}"


def reduce_line(line: str) -> str:
    """Return the command of a line alone: without folder, variables and programs that only run it."""
    line = " ".join(line.split())
    while (shorter := strip_once(line)) != line:
        line = shorter
    return unquote(PYTHON.sub("python", line))


def strip_once(line: str) -> str:
    line = SILENCED.sub("", line)
    rest = PLACED.sub("", SET.sub("", ENTERED.sub("", line)))
    inner = rest[1:-1].strip() if rest[:1] == "(" and rest[-1:] == ")" and rest.count("(") == 1 else rest
    return inner or line


def unquote(line: str) -> str:
    """Return a line without the quotes of its words."""
    if not QUOTE.search(line):
        return " ".join(filter(None, line.split(" ")))
    try:
        return " ".join(shlex.split(line))
    except ValueError:
        return line


def read_typed(tool: str, call_input: Any) -> Typed:
    """Return the line of a call as it was typed, without what only measures or silences it."""
    line = MEASURED.sub("", SILENCED.sub("", " ".join(read_line(tool, call_input).split())))
    entered = ENTERED.match(line)
    named = (call_input.get(name) for name in FOLDERS) if isinstance(call_input, Mapping) else ()
    folder = entered["folder"] if entered else next((name for name in named if isinstance(name, str)), "")
    return Typed(line, line[entered.end() :] if entered else line, folder.strip("\"'").rstrip("/"))


def only_looks(line: str) -> bool:
    """Return whether a command line tells how things are and changes nothing."""
    try:
        commands = split_commands(line) if len(line) <= MAX_LOOK_LENGTH else None
    except ValueError:  # a quote is open
        return False
    return commands is not None and all(map(is_look, commands))


def split_commands(line: str) -> list[list[str]] | None:
    """Return the words of each command in a line; None where one writes to a file. Raises ValueError."""
    text = ESCAPED.sub(" ", COMMENT.sub("", line))
    lexer = shlex.shlex(text, posix=True, punctuation_chars="".join(SEPARATORS))
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    commands: list[list[str]] = [[]]
    before = ""
    for word in lexer:
        if is_redirect(before):
            if ">" in before and before[-1] != "&" and not word.startswith("/dev/"):
                return None
        elif not SEPARATORS.issuperset(word):
            commands[-1].append(word)
        elif not is_redirect(word):
            commands.append([])
        elif commands[-1] and commands[-1][-1].isdigit():
            commands[-1].pop()  # the number of what is redirected
        before = word
    return commands


def is_redirect(word: str) -> bool:
    return SEPARATORS.issuperset(word) and bool({"<", ">"} & set(word)) and word[-1] != "("


def is_look(words: Sequence[str]) -> bool:
    """Return whether a command only tells how things are."""
    if not words or (words[0] == "command" and words[1:2] in (["-v"], ["-V"])):
        return True
    name, rest = PurePosixPath(words[0]).name, words[1:]
    if name in RUNNERS or SET_WORD.fullmatch(words[0]):
        return is_look(list(dropwhile(RUN_WORD.fullmatch, rest)))
    if name in WRITING and any(map(WRITING[name].fullmatch, rest)):
        return False
    if name == "find" and not EXECUTES.isdisjoint(rest):
        return all(is_look(rest[at + 1 :]) for at, word in enumerate(rest) if word in EXECUTES)
    if name not in LOOKING:
        return is_query(name, rest)
    operands = [word for word in rest if word[:1] != "-" and not word.isdigit()]
    return len(operands) <= MAX_OPERANDS.get(name, len(operands))


def is_query(name: str, rest: Sequence[str]) -> bool:
    """Return whether a tool of many commands is asked for what it knows."""
    if not rest or (name, rest[0]) in CHANGING:
        return False
    if rest[0] in VERSIONS:
        return len(rest) == 1 and (name in TOOLS or rest[0] != "version")
    return name in TOOLS and rest[0] in LOOKED
