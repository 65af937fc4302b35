"""What a connected program's way back needs: its key, its files as they were, where its hooks look."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from day1site.cli.connect import settings_files
from day1site.cli.connect.clients import Server
from day1site.cli.errors import CliError
from day1site.mcp_profiles import DEFAULT, MEMORY

State = dict[str, Any]


def config_file(program: str) -> Path:
    """Return what the program's hooks read: address and key, its owner's alone; the spool stands by it."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "day1" / f"{program}.json"


def state_file(program: str) -> Path:
    return config_file(program).with_suffix(".connected.json")


def load_state(program: str) -> State:
    text = settings_files.read_file(state_file(program))
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError:
        raise CliError("invalid", f"{state_file(program)} is not JSON.") from None


def load_server(program: str, state: State) -> Server:
    """Return what a program was connected to."""
    url, key = (str(state.get(name, "")) for name in ("url", "key"))
    return Server(url, key, config_file(program), find_profile(state))


def find_profile(state: State) -> str:
    """Return the profile of a connection. Before ``core`` the default was noted as the profile ``all``."""
    before = MEMORY if state.get("profile") == MEMORY else DEFAULT
    return str(state.get("listed", before))


def save_state(program: str, state: State) -> None:
    settings_files.write_file(state_file(program), json.dumps(state, indent=2))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
