"""``hook``: hand an event to the hook client, or print how a program calls it.

An agent waits for it, so its usual form is understood without click: see ``run_at_once``.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from day1site.hooks.client import capture as client
from day1site.hooks.client import hook
from day1site.settings.first_key import find_file, name_store
from day1site.settings.paths import data_dir, database

DEFAULT_CLIENT = "agent"
FLAGS = {"--client": "client", "--config": "config"}


def run_at_once(words: Sequence[str]) -> bool:
    """Hand over the event where the words are the usual ones; return whether they were."""
    values = {"client": DEFAULT_CLIENT, "config": ""}
    rest = list(words)
    while rest:
        flag = FLAGS.get(rest.pop(0))
        if flag is None or not rest or rest[0].startswith("-") or not is_utf8(rest[0]):
            return False
        values[flag] = rest.pop(0)
    hand_over(values["client"], values["config"])
    return True


def is_utf8(word: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in word)


def hand_over(name: str, config: str) -> None:
    client.main(client_words(name, config))


def client_words(name: str, config: str) -> list[str]:
    return ["--client", name, "--config", config or str(default_config())]


def command_line(name: str, config: str) -> list[str]:
    """Return the words by which a program runs the hook client."""
    return [interpreter(), "-I", "-S", str(Path(hook.__file__).resolve()), *client_words(name, config)]


def default_config() -> Path:
    """Return the client's own file, else the first key of the local store, where there is one."""
    own = Path(client.default_config())
    try:
        if own.exists():
            return own
        folder = data_dir()
        store = name_store(database(os.environ.get("DATABASE_URL"), folder), folder)
        first = find_file(folder, store)
        return first if first.exists() else own
    except (ImproperlyConfigured, OSError):  # DATABASE_URL may be that of the project the agent works in
        return own


def interpreter() -> str:
    """Return the Python that this environment was made with: it outlives the environment."""
    base = str(getattr(sys, "_base_executable", "") or sys.executable)
    return base if os.path.exists(base) else sys.executable
