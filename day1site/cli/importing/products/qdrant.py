"""Qdrant on this machine, which others keep their memories in: SQLite, with a pickle for each point."""

import base64
import io
import pickle
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from day1site.cli.importing.products.sqlite_files import Store
from memory.texts import clean_value


class Plain:
    """Stands for every class in a pickle: none of them is made, and none of their code runs."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state


class PlainUnpickler(pickle.Unpickler):
    """Reader of a pickle that loads nothing by its name."""

    def find_class(self, module: str, name: str) -> Any:
        return Plain


def read_points(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the payload of each point; one that cannot be read is reported."""
    store.require("points", "id", "point")
    for number, row in enumerate(store.list_rows("SELECT id, point FROM points"), 1):
        try:
            found = find_id(row["id"]), clean_value(find_payload(load_plain(row["point"])))
        except Exception as error:
            store.report.breaks(store.path, number, f"is no point of Qdrant: {error}")
            continue
        yield found


def load_plain(raw: bytes) -> Any:
    return PlainUnpickler(io.BytesIO(raw)).load()


def find_payload(point: Any) -> dict[str, Any]:
    state = getattr(point, "state", None)
    fields = state.get("__dict__", state) if isinstance(state, dict) else {}
    return dict(fields["payload"] or {})


def find_id(key: str) -> str:
    """Return the id of a point, of which Qdrant keeps a pickle in letters."""
    uid = load_plain(base64.b64decode(key, validate=True))
    if isinstance(uid, Plain):  # a UUID that was no text
        uid = UUID(int=uid.state["int"])
    return str(uid)
