"""Commands that worked in several sessions: how a project is built, tested and run. No database access.

What looks, moves files, keeps versions or installs one thing is no such command, and neither is code that is
given on the line: they are of the moment.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

from memory.command_lines import COMMANDS, load_input, read_line
from memory.models import Observation

MIN_LENGTH, MAX_LENGTH = 4, 120  # characters
MAX_TYPED = 500  # with what shortens its output
QUOTES = "\"'"
TEXT = "This works here: `{}`."

# A folder to begin with, and what only shortens the output.
ENTERED = re.compile(r"^cd\s+(?P<folder>\"[^\"]+\"|'[^']+'|\S+)\s*(?:&&|;)\s*")
SHORTENED = re.compile(
    r"\s*(?:2>&1|>\s*/dev/null|\|\s*(?:tail|head|grep|cat|less|wc)\b[^|;&]*|;\s*echo\s[^|;&]*|\|\|\s*true)\s*$"
)
JOINED = re.compile(r"[|;&<>`]|\$\(|\$\{|\[redacted")
HIDING = re.compile(r"[|;]")  # what follows ends well whatever the command did
# Places of one machine, and names of one moment.
PASSING = re.compile(r"(?:^|[\s=:])(?:/tmp/|/var/tmp/|~)|\b\d{5,}\b|[0-9a-f]{12,}")
ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
WRAPPERS = frozenset("time nice env sudo command exec stdbuf timeout xvfb-run".split())
NO_WORK = frozenset(
    """ack ag alias apk apt apt-get awk base64 basename bat brew cal cat cd chmod chown clear cmp code comm
    cp crontab curl cut date df diff dig dir dirname dnf du echo emacs env exit export false fd file
    find free Get-ChildItem Get-Content gh git glab grep gunzip gzip head help hg history host
    hostname htop http id ifconfig info ip jj journalctl jq kill killall la less ll ln locate ls
    lsof man md5sum mkdir mongosh more mv mysql nano netstat nslookup od open pacman pgrep ping
    pkill popd printenv printf ps psql pushd pwd readlink realpath redis-cli rg rm rmdir rsync scp
    screen sed Select-String seq service set Set-Location sha256sum sleep snap sort source sqlite3
    ss ssh stat strings svn systemctl tail tar tee test tmux top touch tr tree true type uname uniq
    unset unzip uptime vi vim wait wc wget whereis which whoami xargs xdg-open xxd xz yes yq yum
    zip""".split()
)
INTERPRETERS = frozenset(
    "python python3 py node deno bun ruby perl php bash sh zsh fish pwsh lua Rscript".split()
)
INLINE = frozenset("-c -e -r -p -pe -ne --eval --print -Command -".split())
INSTALLERS = frozenset("pip pip3 npm pnpm yarn cargo go gem bundle composer poetry uv conda mamba".split())
ASKING = frozenset("--help -h --version -V".split())
LOOKS = frozenset(  # what tells how things are, whatever the program
    """ls list ps log logs get describe show status info view version images freeze outdated help search
    inspect diff config which why tree top events explain""".split()
)
INSTALLS = frozenset("install i add get remove uninstall update upgrade require".split())
WHOLE = frozenset("-r -e . --requirement --editable".split())  # of the project itself


class Run(NamedTuple):
    """A run of a command that ended well; ``is_sure`` where it was the command itself that did."""

    uid: UUID
    is_sure: bool


Commands = Mapping[str, Sequence[Run]]


def read_command(call: Observation, repository: str) -> str:
    """Return a command that does work of the project and succeeded, as it is remembered; "" for any other."""
    if call.tool_name not in COMMANDS or call.outcome != Observation.Outcome.SUCCESS:
        return ""
    line = read_line(call.tool_name, load_input(call.raw_input))
    return clean_command(line, repository) if len(line) <= MAX_TYPED else ""


def clean_command(line: str, repository: str = "") -> str:
    """Return the command without what only shortens its output; "" where it does no work of the project."""
    if len(line.strip().splitlines()) != 1:
        return ""
    line = enter_root(shorten(" ".join(line.split())), repository)
    entered = ENTERED.match(line)
    rest = line[entered.end() :] if entered else line
    if entered and entered["folder"].strip(QUOTES).startswith(("/", "~", "..")):
        return ""  # a place that has this name on one machine alone
    is_plain = MIN_LENGTH <= len(line) <= MAX_LENGTH and not JOINED.search(rest) and not PASSING.search(line)
    return line if is_plain and does_work(split_line(rest)) else ""


def shorten(line: str) -> str:
    """Return a command without what only shortens its output."""
    while (shorter := SHORTENED.sub("", line)) != line:
        line = shorter
    return line


def enter_root(line: str, repository: str) -> str:
    """Return a command without the step into the repository's own folder, which it begins in anyway."""
    entered = ENTERED.match(line)
    name = PurePosixPath(repository).name
    is_root = entered and name and PurePosixPath(entered["folder"].strip(QUOTES)).name == name
    return line[entered.end() :] if entered and is_root else line


def split_line(line: str) -> list[str]:
    """Return the words of a command, without variables that are set for it and programs that only wrap it."""
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    while words and (ASSIGNED.match(words[0]) or words[0] in WRAPPERS or words[0][:1] in "-0123456789"):
        words = words[1:]
    return words


def does_work(words: Sequence[str]) -> bool:
    """Return whether a command builds, tests or runs something of the project."""
    if not words:
        return False
    program, arguments = PurePosixPath(words[0]).name, words[1:]
    is_asking = not ASKING.isdisjoint(arguments) or (arguments and arguments[0] in LOOKS)
    if program in NO_WORK or is_asking:
        return False
    if program in INTERPRETERS:
        return bool(arguments) and INLINE.isdisjoint(arguments)
    if program in INSTALLERS and arguments and arguments[0] in INSTALLS:
        return len(arguments) == 1 or not WHOLE.isdisjoint(arguments)
    return True


def list_commands(calls: Iterable[Observation], repository: str) -> Commands:
    """Return the commands that worked, each with its runs in their order."""
    found: dict[str, list[Run]] = {}
    for call in calls:
        if command := read_command(call, repository):
            is_sure = not HIDING.search(read_line(call.tool_name, load_input(call.raw_input)))
            found.setdefault(command, []).append(Run(call.uid, is_sure))
    return found


def choose_repeated(uses: Iterable[Commands], min_sessions: int, min_runs: int) -> dict[str, list[UUID]]:
    """Return the commands that worked in so many sessions and so often, and once for sure, each with its last
    run in each.

    ``uses`` has the commands of each session.
    """
    runs: dict[str, list[Sequence[Run]]] = {}
    for commands in uses:
        for command, own in commands.items():
            runs.setdefault(command, []).append(own)
    return {
        command: [own[-1].uid for own in several]
        for command, several in runs.items()
        if len(several) >= min_sessions and sum(map(len, several)) >= min_runs and is_sure(several)
    }


def is_sure(several: Iterable[Sequence[Run]]) -> bool:
    """Return whether one of the runs of some sessions was a success that nothing hides."""
    return any(run.is_sure for own in several for run in own)
