"""A store with one of everything, copies of its file, and ways to damage one."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

from memory.actors import Actor, local_actor
from memory.engines.audit.trail import seal_entries
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.databases import forget_permissions
from tests.memory.erasure.helpers import write_everything
from tests.up_process import migrated_store

PAGE_BYTES = 4096
Damage = Callable[[Path], None]


def find_actor() -> Actor:
    """Return who may do everything in the only project of a store."""
    return local_actor(Project.objects.get().pk)


def fill_store(actor: Actor) -> dict[str, Any]:
    """Write every kind of memory, versions on two branches, and facts on several pages; seal and embed."""
    facts = FactEngine()
    made = write_everything(actor)
    texts = [f"Fact {number} of a long list. {'x' * 900}" for number in range(30)]
    facts.write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
    BranchManager().create_branch(name="side", actor=actor)
    for branch, priority in (("main", "P1"), ("side", "P2"), ("main", "P4")):
        facts.update_fact(
            fact_id=made["fact"].uid, updates={"priority": priority}, branch_name=branch, actor=actor
        )
    EmbeddingEngine().reembed_all(actor.project_id)
    EmbeddingEngine().want_missing(actor.project_id)  # as the start of a server does
    seal_entries(Project.objects.get(pk=actor.project_id))
    return made


def copy_store(target: Path) -> Path:
    """Copy the store of this process to a file."""
    own = str(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(own)) as store, closing(sqlite3.connect(target)) as copy:
        store.backup(copy)
    return target


@contextmanager
def used_store(path: Path) -> Iterator[None]:
    """Have this process use another file as its store."""
    connection.close()
    own = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = str(path)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own


@contextmanager
def new_store(path: Path) -> Iterator[None]:
    """Have this process use a new store in a file, which has the tables that a command would make."""
    shutil.copy(migrated_store(), path)
    forget_permissions(str(path))
    with used_store(path):
        yield


def use_copy(original: Path, path: Path, keep: str = "none") -> Path:
    """Put a copy in the place of a store and of what stands beside it, but for a file that ends so."""
    for file in path.parent.glob(f"{path.name}*"):
        if not file.name.endswith(keep):
            file.unlink()
    shutil.copy(original, path)
    return path


# ---- damage ----------------------------------------------------------------------------------------


def run_sql(*statements: str) -> Damage:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            for statement in statements:
                assert database.execute(statement).rowcount in (1, -1), statement  # -1: of no rows
            database.commit()

    return change


def overwrite_page(name: str, kind: str = "leaf") -> Damage:
    """Overwrite the first page of a table or index with bytes that are none of a page."""

    def overwrite(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path"
            (page,) = database.execute(sql, [name, kind]).fetchone()
        with path.open("r+b") as file:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(b"\xff" * PAGE_BYTES)

    return overwrite


def both(*damages: Damage) -> Damage:
    def damage(path: Path) -> None:
        for one in damages:
            one(path)

    return damage


def truncate(path: Path, share: float = 0.75) -> None:
    os.truncate(path, int(path.stat().st_size // PAGE_BYTES * share) * PAGE_BYTES)


def overwrite_bytes(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 8)
