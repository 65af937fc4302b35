"""Whether Codex has the person's trust for the hooks that are written, as its own settings say."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from day1site.cli.connect import jsonc, settings_files
from day1site.cli.connect.jsonc import value_at
from day1site.cli.connect.toml_tables import InvalidToml, parse_toml

DEFAULT_TIMEOUT = 600  # seconds, where a hook names none
ADVICE = "enter /hooks in Codex and trust them"


def check_trust(hooks_file: Path, config_file: Path) -> list[str]:
    """Say which hooks are not run: Codex itself is silent about them."""
    try:
        content = jsonc.loads(settings_files.read_file(hooks_file) or "")
        config = parse_toml(settings_files.read_file(config_file) or "")
    except (jsonc.NotJson, InvalidToml):
        return []  # what cannot be read is told already
    off = [name for name in ("hooks", "codex_hooks") if value_at(config, ("features", name)) is False]
    trouble = [f"{config_file} turns the hooks off: features.{name}" for name in off]
    hashes = hash_hooks(hooks_file, content)
    states = value_at(config, ("hooks", "state"))
    known = states if isinstance(states, dict) else {}
    waiting = [key for key, current in hashes.items() if value_at(known, (key, "trusted_hash")) != current]
    if waiting:
        trouble.append(f"{len(waiting)} of {len(hashes)} hooks wait for trust: {ADVICE}")
    disabled = [key for key in hashes if value_at(known, (key, "enabled")) is False]
    return [*trouble, *([f"{len(disabled)} hooks are turned off in Codex: /hooks"] if disabled else [])]


def hash_hooks(file: Path, content: Any) -> dict[str, str]:
    """Return the hashes of Day1's hooks by the keys that Codex has for them."""
    found = {}
    for event, groups in (value_at(content, ("hooks",)) or {}).items():
        label = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for index, group in enumerate(groups if isinstance(groups, list) else []):
            if settings_files.is_own_hook(group):
                for number, handler in enumerate(group["hooks"]):
                    found[f"{file}:{label}:{index}:{number}"] = hash_hook(label, handler)
    return found


def hash_hook(label: str, handler: dict[str, Any]) -> str:
    """Return the hash of a hook's event and command, as Codex makes it since it asks for trust."""
    plain = {
        "type": "command",
        "command": handler["command"],
        "timeout": handler.get("timeout", DEFAULT_TIMEOUT),
        "async": False,
    }
    text = json.dumps(
        {"event_name": label, "hooks": [plain]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
