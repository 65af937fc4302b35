"""Files that are there whole or not at all, readable by their owner only."""

import hashlib
import os
import tempfile
from pathlib import Path


def draft(path: Path) -> Path:
    """An empty file beside the place that it is for."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    os.close(handle)
    return Path(name)


def drafts(path: Path) -> list[Path]:
    """What processes that were killed have left of drafts for a place."""
    return list(path.parent.glob(f".{path.name}.*"))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(finished: Path, path: Path, *, replace: bool = False) -> None:
    """Give a draft its name. Without ``replace``, FileExistsError for one that came in the meantime."""
    if replace:
        os.replace(finished, path)
    else:
        os.link(finished, path)
    keep_names(path.parent)


def keep_names(folder: Path) -> None:
    """What the folder lists outlives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
