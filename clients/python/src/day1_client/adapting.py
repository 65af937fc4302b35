"""What the adapters share: whose memory it is, what a session holds, and what is recalled for a prompt."""

from __future__ import annotations

import asyncio
import base64
import functools
import hashlib
import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast
from uuid import uuid4

from day1_client import Day1
from day1_client.codes import Conflict
from day1_client.types import RememberedMessageInput

MAX_QUERY_LENGTH = 8_000  # characters; the end of a long prompt is what it asks
MAX_PIECE_LENGTH = 250_000  # characters of a message, of at most 1 MiB whatever they are
MAX_MESSAGES = 100  # that one request takes
MAX_NAME_LENGTH = 200
MAX_SAID = 5  # messages in a recalled text
MAX_SAID_LENGTH = 500  # characters of one of them
CHARACTERS_A_TOKEN = 4
MAX_TRIES = 5
BATCH_SIZE = 500  # calls on items, all or none of them done
DIGEST_LENGTH = 32
DIGEST_WEIGHT = 1e4  # beside the bytes of a text: vectors of two texts are far apart
Answer = TypeVar("Answer")
Whose = Mapping[str, Any]


async def in_thread(call: Callable[..., Answer], *args: Any, **options: Any) -> Answer:
    """Run a call of the client beside the event loop: a framework may begin a new loop for each run."""
    return await asyncio.to_thread(call, *args, **options)


def awaited(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that is awaited: it runs beside the event loop."""

    @functools.wraps(method)
    async def call(*args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(method, *args, **options)

    return call


def whose(user_id: str | None, app_id: str | None = None) -> dict[str, Any]:
    """Return the arguments that name an end user; none for the memory of everybody.

    Raises ValueError for a name that could be read as nobody's or as that of several.
    """
    named = {"user_id": user_id, "app_id": app_id}
    for field, name in named.items():
        if name is not None and (not name or "," in name or len(name) > MAX_NAME_LENGTH):
            raise ValueError(
                f"{field} has 1 to {MAX_NAME_LENGTH} characters and no comma, not {name[:50]!r}."
            )
    return {field: name for field, name in named.items() if name is not None}


def whose_is(user_id: str | Callable[[Any], str] | None, app_id: str | None, run: object) -> dict[str, Any]:
    """Return the arguments that name the end user of a run, whom ``user_id`` may find from it.

    Raises ValueError where it finds nobody: that is no call about everybody.
    """
    if not callable(user_id):
        return whose(user_id, app_id)
    return whose(user_id(run) or "", app_id)


def name_session(session_id: str) -> str:
    """Return a session's name as Day1 takes it: the same, or a digest where it is too long or has a comma."""
    fits = session_id and len(session_id) <= MAX_NAME_LENGTH - 80 and session_id.isprintable()
    if fits and "," not in session_id and session_id == session_id.strip():
        return session_id
    return "session-" + digest(session_id)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_session(row: Any) -> str:
    """Return the name that an end user gave the session of a row: the user stands before it there."""
    name: str = row["session_id"]
    return name.partition("/")[2] if row["user_id"] or row["app_id"] else name


def clean(text: str) -> str:
    """Return a text without NUL and lone surrogates, which cannot be stored."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def clean_json(value: Any) -> Any:
    """Return a value whose texts, names in objects included, can be stored."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(name)): clean_json(one) for name, one in value.items()}
    return [clean_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def to_json(value: Any) -> str:
    """Return a value as JSON; what JSON has no form for, such as bytes, as its representation."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def message(role: str, text: str, key: str = "", **fields: Any) -> list[dict[str, Any]]:
    """Return a message as Day1 takes it, in pieces where it is long; by its key it is known as stored."""
    text = clean(text)
    pieces = [text[at : at + MAX_PIECE_LENGTH] for at in range(0, len(text), MAX_PIECE_LENGTH)]
    fields["metadata"] = clean_json({**fields.get("metadata", {}), "key": key or uuid4().hex})
    return [{"role": role, "content": piece, **fields} for piece in pieces if piece.strip()]


def append(
    memory: Day1,
    messages: Sequence[dict[str, Any]],
    session_id: str,
    *,
    read_first: bool = False,
    **said: Any,
) -> None:
    """Add to a session what it does not hold yet, and learn from it; messages with the same key are one.

    Two that add at once are told apart by the key of the first: the later one looks again.
    """
    session, messages = name_session(session_id), list(messages)
    read = read_first
    for tries in range(MAX_TRIES):
        if read:
            known = known_keys(memory, session, said)
            messages = [one for one in messages if one["metadata"]["key"] not in known]
        if not messages:
            return
        try:
            while messages:
                memory.messages.remember(
                    cast("list[RememberedMessageInput]", messages[:MAX_MESSAGES]),
                    session_id=session,
                    **said,
                    idempotency_key=mark(memory, messages, session, said),
                )
                messages = messages[MAX_MESSAGES:]
        except Conflict:
            read = True
            if tries + 1 == MAX_TRIES:
                raise


def mark(memory: Day1, messages: Sequence[dict[str, Any]], session: str, said: Mapping[str, Any]) -> str:
    """Return the Idempotency-Key of a request, by its first message."""
    named, key = {**memory.sender.target.defaults, **said}, messages[0]["metadata"]["key"]
    return digest(repr((sorted(named.items()), session, key)))


def known_keys(memory: Day1, session: str, said: Mapping[str, Any]) -> set[Any]:
    """Return the keys of what a session holds, what was deleted of it included."""
    owner = {name: said[name] for name in ("user_id", "app_id") if name in said}
    keys = {
        row["metadata"].get("key") for row in memory.messages.deleted(session_id=session, limit=100, **owner)
    }
    keys |= {row["metadata"].get("key") for row in list_messages(memory, session, owner)}
    return keys - {None}


def list_messages(memory: Day1, session: str, owner: Whose) -> Iterator[Any]:
    """Yield what a session holds, in its order."""
    talks = list(memory.conversations.list(session_id=session, limit=100, **owner))
    for talk in reversed(talks):  # they come newest first
        yield from memory.conversations.messages(talk["id"], limit=100, **owner)


@dataclass(frozen=True)
class Hit:
    """A fact, or a message of an earlier session."""

    id: str
    text: str
    role: str  # of a message; empty for a fact
    at: str
    evidence: float
    metadata: dict[str, Any]


def find(memory: Day1, query: str, limit: int, owner: Whose) -> list[Hit]:
    """Return what is known on a query, the likeliest first: what was said, and facts beside it.

    Of a message and a fact with the same text it is the message, which says who said it.
    """
    if not (query := shorten(query)):
        return []
    found = [*find_said(memory, query, limit, owner), *find_facts(memory, query, limit, owner)]
    texts: dict[str, Hit] = {}
    for hit in found:
        texts.setdefault(hit.text, hit)
    return list(islice(sorted(texts.values(), key=lambda hit: -hit.evidence), limit))


def find_facts(memory: Day1, query: str, limit: int, owner: Whose) -> Iterator[Hit]:
    answer = memory.facts.search(query, limit=min(limit, 100), **owner)
    for hit in answer["results"] if answer["known"] else ():
        fact = hit["fact"]
        yield Hit(fact["id"], fact["fact_text"], "", fact["created_at"], hit["evidence"], fact["metadata"])


def find_said(memory: Day1, query: str, limit: int, owner: Whose, session: str = "") -> Iterator[Hit]:
    """Yield what was said in other sessions than this one, which a prompt holds already."""
    said = memory.messages.search(query, limit=min(limit, 100), role=["user", "assistant"], **owner)
    for hit in said["results"] if said["known"] else ():
        row = hit["message"]
        if session and session in (row["session_id"], read_session(row)):
            continue
        at = row["said_at"] or row["created_at"]
        yield Hit(row["id"], row["content"], row["role"], at, hit["evidence"], row["metadata"])


def recall(memory: Day1, query: str, max_tokens: int, owner: Whose, session_id: str = "") -> str:
    """Return what is known on a query as lines for a prompt, within a budget of tokens; "" if nothing is."""
    session = name_session(session_id) if session_id else ""
    if not (query := shorten(query)):
        return ""
    facts = memory.facts.search(query, max_tokens=max_tokens, **owner)
    lines = (facts["context"] or "").splitlines() if facts["known"] else []
    left = max_tokens * CHARACTERS_A_TOKEN - sum(map(len, lines))
    for hit in find_said(memory, query, MAX_SAID, owner, session):
        if hit.text.rstrip().endswith("?"):
            continue  # what was asked once tells nothing
        line = f"- {hit.role} said on {hit.at[:10]}: {' '.join(hit.text.split())[:MAX_SAID_LENGTH]}"
        if len(line) <= left and not any(hit.text in known for known in lines):
            lines.append(line)
            left -= len(line)
    return "\n".join(lines)


def shorten(query: str) -> str:
    return clean(query).strip()[-MAX_QUERY_LENGTH:]


# ---- names and vectors -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemTree:
    """Items of one owner below a namespace. Between the slashes of a path may stand any text."""

    memory: Day1
    namespace: str
    owner: Whose

    def locate(self, path: str | None) -> str:
        """Return the namespace of a path; no path is the top."""
        return "/".join([self.namespace, *(quote(part) for part in (path or "").split("/") if part)])

    def list_rows(self, path: str | None) -> Iterator[Any]:
        """Yield the items of a path and of all below it."""
        return iter(self.memory.items.list(prefix=self.locate(path), limit=100, **self.owner))

    def list_paths(self, path: str | None) -> list[str]:
        """Return the paths right below a path."""
        above = self.locate(path)
        depth = above.count("/") + 2
        found = self.memory.items.namespaces(prefix=above, depth=depth, limit=1000, **self.owner)
        below = (one.removeprefix(self.namespace) for one in found["namespaces"] if one != above)
        return ["/".join(map(unquote, one.split("/"))) for one in below]

    def tag(self, key: str) -> str:
        """Return the tag by which an item is found in whatever path."""
        return "item:" + digest(f"{self.namespace}/{key}")[:32]

    def find_rows(self, key: str) -> Iterator[Any]:
        """Yield the items that have the tag of a key."""
        return iter(self.memory.facts.list(namespace=self.namespace, tags=self.tag(key), **self.owner))

    def search_rows(self, query: str, path: str | None, limit: int) -> Iterator[tuple[Any, float]]:
        """Yield the items of a path that a query finds, the likeliest first, with their evidence."""
        if query := shorten(query):
            place = self.locate(path)
            answer = self.memory.facts.search(query, namespace=place, limit=min(limit, 100), **self.owner)
            yield from ((hit["fact"], hit["evidence"]) for hit in answer["results"])

    def write(self, calls: Sequence[Any]) -> None:
        """Put and delete items, up to 500 at a time all or none; searches find them then."""
        for at in range(0, len(calls), BATCH_SIZE):
            self.memory.items.batch(list(calls[at : at + BATCH_SIZE]), wait="indexed", **self.owner)


def forget(row: Any) -> Any:
    """Return the call that deletes an item."""
    return {"op": "delete", "namespace": row["namespace"], "key": row["key"]}


def quote(part: str) -> str:
    """Return a text as a segment of a namespace: without slashes, control characters, and dots alone."""
    quoted = "".join(f"%{ord(one):02X}" if one in "%/" or is_control(one) else one for one in part)
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


def unquote(part: str) -> str:
    """Return the text that ``quote`` made a segment of."""
    head, *rest = part.split("%")
    return head + "".join(chr(int(one[:2], 16)) + one[2:] for one in rest)


def is_control(one: str) -> bool:
    return ord(one) < 32 or 127 <= ord(one) < 160


def pack_vector(vector: Sequence[float]) -> str:
    """Return a vector as text, in a fifth of the space of JSON."""
    return base64.b64encode(array("f", vector).tobytes()).decode()


def unpack_vector(text: str) -> list[float]:
    return array("f", base64.b64decode(text)).tolist()


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Return how alike two vectors are; one without numbers is like none. Raises ValueError."""
    if left and right and len(left) != len(right):
        raise ValueError(f"Vectors of {len(left)} and {len(right)} numbers are of two models.")
    size = math.sqrt(sum(one * one for one in left) * sum(one * one for one in right))
    return sum(one * other for one, other in zip(left, right, strict=False)) / size if size else 0.0


def write_text(text: str) -> list[float]:
    """Return a text in the form of a vector, where only a vector is handed on; ``read_text`` reads it."""
    data = text.encode()
    return [*mark_bytes(data), *map(float, data)]


def read_text(vector: Sequence[float]) -> str | None:
    """Return the text that a vector is the form of, None for a vector of a model."""
    try:
        data = bytes(map(int, vector[DIGEST_LENGTH:]))
    except (ValueError, OverflowError):
        return None
    return data.decode() if list(vector[:DIGEST_LENGTH]) == mark_bytes(data) else None


def mark_bytes(data: bytes) -> list[float]:
    return [(byte - 127.5) * DIGEST_WEIGHT for byte in hashlib.sha256(data).digest()]
