"""Atomic files: present whole or not at all, and readable by their owner only."""

import hashlib
import os
import tempfile
from pathlib import Path

from memory.file_locks import replace_file
from memory.processes import IS_WINDOWS


def create_draft(path: Path) -> Path:
    """Create an empty draft file in the target's folder."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    os.close(handle)
    return Path(name)


def list_drafts(path: Path) -> list[Path]:
    """Return the drafts that killed processes left for a path."""
    return list(path.parent.glob(f".{path.name}.*"))


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish_file(finished: Path, path: Path, *, replace: bool = False) -> None:
    """Publish a draft under its name. Raises FileExistsError without ``replace`` if the name is taken."""
    if replace:
        replace_file(finished, path)
    else:
        os.link(finished, path)
    fsync_dir(path.parent)


def write_file(path: Path, text: str) -> None:
    """Write a small file whole, in the place of the one before; a disk that is full keeps nothing of it."""
    draft = create_draft(path)
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        publish_file(draft, path, replace=True)
    finally:
        draft.unlink(missing_ok=True)


def fsync_dir(folder: Path) -> None:
    """Sync a folder, so that its entries survive a power cut; Windows opens none, and writes them itself."""
    if IS_WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
