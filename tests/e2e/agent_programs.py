"""Real programs of agents in a home of their own, connected to a server, with a scripted model."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.e2e.scripted_model import ScriptedModel
from tests.up_process import ROOT, Up, environment
from tests.waiting import TIMEOUT_SECONDS

# Where the programs are. They take minutes: nobody tries them by chance.
FOLDER = os.environ.get("DAY1_AGENT_PROGRAMS", "")
FENCED = re.compile(r"<day1-memory>.*?</day1-memory>", re.S)
OUTAGE = "<day1-memory>Day1: memory is off"
FOREIGN = re.compile(r"ANTHROPIC|OPENAI|GEMINI|GOOGLE|CLAUDE|CODEX|OPENCODE|XDG_|DAY1|PWD$|HOME$")


class Program:
    """One program: ``name`` is what it is called in a shell, ``connects_as`` at ``day1 connect``."""

    name = connects_as = ""
    words: Sequence[str] = ()
    again: Sequence[str] = ()  # the words that go on with the last session

    def __init__(self, server: Up, model: ScriptedModel, home: Path, folder: Path) -> None:
        self.server, self.model, self.home, self.folder = server, model, home, folder
        kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        path = os.pathsep.join((FOLDER, kept["PATH"]))
        self.url = model.server.url_for("").rstrip("/")
        self.env = {**kept, "PATH": path, "HOME": str(home), "PWD": str(folder), **self.variables()}
        for file, text in self.settings().items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(text)
        self.connect()

    @classmethod
    def is_installed(cls) -> bool:
        return bool(FOLDER and shutil.which(cls.name, path=FOLDER))

    def variables(self) -> dict[str, str]:
        return {}

    def settings(self) -> dict[str, str]:
        """Return the files that a person has before: their places in the home, and their texts."""
        return {}

    def connect(self) -> None:
        words = [sys.executable, str(ROOT / "manage.py"), "day1", "connect", self.connects_as]
        env = environment(DAY1_DATA_DIR=str(self.server.folder), HOME=str(self.home))
        subprocess.run([*words, "--url", self.server.first["url"]], env=env, capture_output=True, check=True)

    def start(self, prompt: str, again: bool = False) -> subprocess.Popen[str]:
        """Start it with a prompt, or go on with its last session."""
        words = [self.name, *self.words, *(self.again if again else ()), *self.prompt_words(prompt)]
        return subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def prompt_words(self, prompt: str) -> Sequence[str]:
        return [prompt]

    def say(self, prompt: str, again: bool = False) -> list[str]:
        """Give it a prompt; return the contexts that its model was then told, in the order of requests."""
        before = len(self.model.requests)
        with self.start(prompt, again) as process:
            try:
                output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
            finally:
                process.kill()
        assert process.returncode == 0, output
        assert self.model.requests[before:], output
        return list_contexts(self.model.requests[-1])


class Claude(Program):
    name, connects_as = "claude", "claude-code"
    words, again = ("-p", "--dangerously-skip-permissions"), ("-c",)

    def variables(self) -> dict[str, str]:
        key = {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "none"}
        return key | {"IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"}


class Codex(Program):
    name = connects_as = "codex"
    words, again = ("exec", "--dangerously-bypass-hook-trust"), ("resume", "--last")

    def variables(self) -> dict[str, str]:
        return {"MODEL_KEY": "none"}

    def settings(self) -> dict[str, str]:
        listed = subprocess.run([self.name, "debug", "models"], env=self.env, capture_output=True, text=True)
        models = re.findall(r'"slug":"([^"]+)"', listed.stdout)
        model = next((slug for slug in models if slug.startswith("gpt-5.5")), "gpt-5")  # without code mode
        return {
            ".codex/config.toml": (
                f'model = "{model}"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
                'sandbox_mode = "danger-full-access"\n[model_providers.scripted]\nname = "Scripted"\n'
                f'base_url = "{self.url}/v1"\nenv_key = "MODEL_KEY"\nwire_api = "responses"\n'
                f'[projects."{self.folder}"]\ntrust_level = "trusted"\n'
            )
        }


class Gemini(Program):
    name = connects_as = "gemini"
    words, again = ("-m", "gemini-2.5-pro", "--yolo"), ("--resume", "latest")

    def variables(self) -> dict[str, str]:
        key = {"GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_API_KEY": "none"}
        return key | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def settings(self) -> dict[str, str]:
        return {".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'}

    def prompt_words(self, prompt: str) -> Sequence[str]:
        return ["-p", prompt]


class Opencode(Program):
    name = connects_as = "opencode"
    words, again = ("run", "--auto"), ("-c",)

    def variables(self) -> dict[str, str]:
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def settings(self) -> dict[str, str]:
        model = {"name": "Scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
        options = {"baseURL": f"{self.url}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "models": {"scripted": model}, "options": options}
        settings = {"model": "scripted/scripted", "provider": {"scripted": provider}}
        return {".config/opencode/opencode.json": json.dumps(settings)}


def list_contexts(request: Any) -> list[str]:
    """Return what Day1 told in a request of a model: the system's part first, then the talk's.

    That a prompt had no answer in time, on a busy machine, is left out.
    """
    texts = [html.unescape(text) for text in list_texts(request)]
    found = [one for text in texts for one in FENCED.findall(text)]
    return [one for one in found if not one.startswith(OUTAGE)]


def list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
        for part in parts:
            yield from list_texts(part)
