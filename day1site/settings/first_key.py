"""The file with the credentials of a store's first start: each store of a data directory has its own."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from day1site.settings.paths import STORE_FILE

FILE = "first-key.json"


def name_store(database: Mapping[str, Any], folder: Path) -> str:
    """Return the name of a store, as its file tells it: a path, in the data directory from there, or an
    address.
    """
    name = str(database["NAME"])
    if host := database.get("HOST"):
        return f"{host}:{database['PORT']}/{name}"
    path = Path(name).absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def find_file(folder: Path, store: str) -> Path:
    """Return the file of a store: the plain name, unless that is another store's. It may not be there."""
    plain = folder / FILE
    own = plain.with_name(f"first-key-{_shorten(store)}.json")
    if own.exists() or not plain.exists():
        return own if own.exists() else plain
    # A file from before stores were named is that of the usual store, where there is one.
    usual = STORE_FILE if (folder / STORE_FILE).exists() else store
    return plain if read_file(plain).get("store", usual) == store else own


def read_file(file: Path) -> dict[str, Any]:
    """Return the content of the file; {} where its owner has removed it."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _shorten(store: str) -> str:
    """Return a name that is that of no other store."""
    word = re.sub(r"[^A-Za-z0-9_]+", "-", Path(store).stem)[:40]
    return f"{word}-{hashlib.sha256(store.encode()).hexdigest()[:6]}"
