"""What every reader of a product makes of its files: memories, and relations between entities."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import (
    MIB,
    Report,
    find_files,
    is_readable,
    lines,
    make_storable_object,
)
from day1site.cli.errors import CliError

MAX_ID = 500  # characters, as the server takes it
MAX_LENGTHS = {"kind": 100, "author": 200, "session": 200, "origin": 500}
MAX_JSON_BYTES = 512 * MIB  # of a file that is one value: it is read as a whole
Row = Mapping[str, Any]
# Fields by which a file of one value is told from that of another product, for a refusal that helps.
MARKS = (
    ("letta", {"agents", "blocks"}),
    ("letta", {"agent_type", "core_memory"}),
    ("graphiti", {"episodes", "entity_edges"}),
    ("zep", {"edges", "nodes"}),
    ("mcp-memory", {"entityType"}),
    ("mcp-memory", {"relationType"}),
    ("chatgpt", {"mapping"}),
    ("claude", {"chat_messages"}),
    ("mem0", {"memory", "hash"}),
    ("mem0", {"results"}),
)


@dataclass
class Memory:
    """One memory, as its product has it; times are ISO 8601 or empty. ``group`` is what it belongs to, where
    that is neither its session nor its origin.
    """

    id: str
    text: str
    kind: str = ""
    created: str = ""
    updated: str = ""
    author: str = ""
    session: str = ""
    origin: str = ""
    user: str = ""
    app: str = ""
    tags: Iterable[str] = ()
    confidence: float | None = None
    valid_from: str = ""
    valid_until: str = ""
    expires: str = ""
    ended: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)  # type and id of the other
    group: str = ""

    def __post_init__(self) -> None:
        self.id = shorten_id(str(self.id))
        self.links = [(kind, shorten_id(end)) for kind, end in self.links]

    def get_group(self) -> str:
        return self.group or self.session or self.origin

    def as_record(self) -> dict[str, Any]:
        """Return it as a request has it, without what is empty. Its metadata names what cannot stand as it
        was: links, of another type or to a memory on another branch, and what is too long for its field.
        """
        names = {"created": "created_at", "updated": "updated_at", "expires": "expires_at"}
        names |= {"user": "user_id", "app": "app_id"}
        own = {name: value for name, value in vars(self).items() if name not in ("links", "group")}
        values = {names.get(name, name): value for name, value in own.items()}
        long = {name: text for name, most in MAX_LENGTHS.items() if len(text := values[name]) > most}
        links = [f"{kind} {end}" for kind, end in self.links]
        values["metadata"] = {**long, **({"links": links} if links else {}), **self.metadata}
        values |= {name: text[: MAX_LENGTHS[name]] for name, text in long.items()}
        values["tags"] = list(dict.fromkeys(tag[:100] for tag in map(str, self.tags) if tag.strip()))
        return {"id": self.id, "text": self.text} | {
            name: value for name, value in values.items() if value not in ("", None, [], {}, False)
        }


def shorten_id(uid: str) -> str:
    """Return an id that a request may have: of a long one its beginning and a digest of the whole."""
    if len(uid) <= MAX_ID:
        return uid
    digest = sha256(uid.encode("utf-8", "replace")).hexdigest()
    return f"{uid[: MAX_ID - len(digest)]}{digest}"


@dataclass
class Relation:
    """An edge between two entities."""

    source: str
    type: str
    target: str
    valid_from: str = ""
    valid_until: str = ""

    def as_record(self) -> dict[str, Any]:
        names = ("source_entity", "relation_type", "target_entity", "valid_from", "valid_until")
        values = (self.source, self.type, self.target, self.valid_from, self.valid_until)
        return {name: value for name, value in zip(names, values, strict=True) if value}


Found = Iterator[Memory | Relation]


def refuse_product(path: Path, product: str, likeness: str = "") -> CliError:
    """Return the refusal of a file that is not of a product, with what it looks like."""
    hint = f" It looks like {likeness}: day1 import-from {likeness}." if likeness else ""
    return CliError("invalid", f"{path.name} is no store of {product}.{hint}")


def find_stores(path: Path, product: str, *patterns: str) -> list[Path]:
    """Return the file itself, or those of a folder that match. Raises CliError where there are none."""
    files = [file for file in find_files(path, *patterns) if file.is_file()]
    if not files:
        reason = f"has no {' or '.join(patterns)}" if path.is_dir() else "is no file"
        raise CliError("invalid", f"{path.name} is no store of {product}: it {reason}.")
    return files


def read_stores(files: Sequence[Path], report: Report, read: Callable[[Path], Found]) -> Found:
    """Yield what a reader finds in each file. One of several that is refused is named, and the rest read."""
    for file in files:
        try:
            yield from read(file)
        except CliError as error:
            if len(files) == 1:
                raise
            report.breaks(file, 0, error.text)


def guess_product(value: Any) -> str:
    """Return whose file a value of JSON looks like; "" where nobody's."""
    first = value[0] if isinstance(value, list) and value else value
    names = first.keys() if isinstance(first, Mapping) else set()
    return next((product for product, marks in MARKS if marks <= names), "")


def read_json(path: Path, report: Report) -> Any:
    """Return the value of a file; None, with a report, where there is none."""
    if path.is_file() and (size := path.stat().st_size) > MAX_JSON_BYTES:
        most, size = MAX_JSON_BYTES // MIB, size // MIB
        raise CliError(
            "too_large", f"{path.name} has {size} MiB: one value of JSON is read up to {most} MiB."
        )
    if not is_readable(path, report):
        return None
    try:
        raw = path.read_bytes()
        report.empty = report.empty and not raw.strip()
        value = json.loads(raw.decode("utf-8-sig")) if raw.strip() else None
    except UnicodeDecodeError:
        return report.breaks(path, 0, "is not UTF-8")
    except RecursionError:
        return report.breaks(path, 0, "is nested too deeply")
    except ValueError as error:
        return report.breaks(path, getattr(error, "lineno", 0), "is not JSON, or ends half way")
    return value


def read_jsonl(path: Path, report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, of any length; a broken line is reported."""
    return lines(path, report, max_bytes=math.inf)


def list_objects(
    value: Any, path: Path, report: Report, name: str = ""
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list; what is none is reported with its number."""
    for number, one in enumerate(value if isinstance(value, list) else (), 1):
        if isinstance(one, Mapping):
            yield number, make_storable_object(dict(one), path, number, report)
        else:
            report.breaks(path, number, f"{name or 'an entry'} is no object".strip())


def read_text(row: Row, *names: str) -> str:
    """Return the first of some fields that holds a text."""
    found = (row.get(name) for name in names)
    return next((one for one in found if isinstance(one, str) and one.strip()), "")


def decode_json(value: Any) -> Any:
    """Return the value of a text that holds JSON; another text, and what is none, as it is."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_list(value: Any) -> list[str]:
    """Return a list of texts, also from JSON or a text with commas."""
    value = decode_json(value)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    return [str(one) for one in value if one] if isinstance(value, list) else []


def read_object(value: Any) -> dict[str, Any]:
    """Return an object, also from JSON; empty where it is none."""
    value = decode_json(value)
    return dict(value) if isinstance(value, Mapping) else {}


def without(row: Row, *names: str) -> dict[str, Any]:
    """Return the other fields of a row, without those that are empty."""
    return {
        name: value for name, value in row.items() if name not in names and value not in (None, "", [], {})
    }
