"""Where items stand: the checks of namespaces and keys, and the facts that stand there."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from memory.db.lineage import EVERYBODY, EndUser
from memory.db.querysets import VersionedQuerySet
from memory.engines.fields.common import KEY_LENGTH, NAMESPACE_LENGTH
from memory.engines.fields.types import METADATA_BYTES
from memory.engines.support import validation as c
from memory.engines.versions.erased import erased_uids
from memory.exceptions import Invalid
from memory.models import Fact
from memory.models.facts import build_item_uid, build_path
from memory.redaction import find_kind
from memory.redaction.json_values import limit_depth, redact_all

_SEGMENTS = c.text_check(NAMESPACE_LENGTH, min_length=1)
_VALUE = c.json_value(METADATA_BYTES)
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_KEY = c.text_check(KEY_LENGTH, min_length=1)


def check_namespace(name: str, value: Any) -> str:
    """Check a namespace: segments with slashes between them. Raises Invalid."""
    for segment in (text := _SEGMENTS(name, value)).split("/"):
        _check_segment(name, segment)
    if holds_secret(text):
        c.refuse_secret(name, text, drawn=False)
    return text


@lru_cache(maxsize=1024)  # many items stand in few namespaces
def holds_secret(namespace: str) -> bool:
    return bool(find_kind(namespace, drawn=False))


def check_prefix(name: str, value: Any) -> str:
    """Check a namespace, or "" for all. Raises Invalid."""
    return "" if value in ("", None) else check_namespace(name, value)


def check_key(name: str, value: Any) -> str:
    """Check a key, which is one segment. Raises Invalid."""
    text = _KEY(name, value)
    if "/" in text:
        raise Invalid("{field} may not hold a slash: what stands before it is the namespace.", field=name)
    _check_segment(name, text)
    c.refuse_secret(name, text, drawn=False)
    return text


def _check_segment(name: str, segment: str) -> None:
    """Check that an address can hold a segment: browsers take dots away, and lines end at line ends."""
    if not segment.strip():
        raise Invalid("{field} may not have an empty segment.", field=name)
    if not segment.strip("."):
        raise Invalid("{field} may not have a segment of dots alone.", field=name)
    if CONTROL.search(segment):
        raise Invalid("{field} may not hold control characters.", field=name)


def check_path(namespace: Any, key: Any) -> str:
    """Return the path of an item. Raises Invalid."""
    return build_path(check_namespace("namespace", namespace), check_key("key", key))


def check_value(key: str, value: Any) -> Any:
    """Check the value of an item: it is stored as it is, or refused; the key says what it is. Raises Invalid,
    TooLarge.
    """
    value = _VALUE("value", value)
    if limit_depth(value) != value:
        raise Invalid("{field} is nested too deeply.", field="value")
    named = {key: value}
    if redact_all(named) != named and not c.secrets_found.are_kept():
        raise Invalid(
            "{field} looks like it holds a secret: it is stored as it is given, or not.", field="value"
        )
    return value


@dataclass
class Places:
    """The facts that stand under paths, and the ids under which the other paths are free."""

    taken: dict[str, Fact] = field(default_factory=dict)
    free: dict[str, UUID] = field(default_factory=dict)

    def get(self, path: str, now: datetime) -> Fact | None:
        """Return what stands there and has not expired."""
        row = self.taken.get(path)
        return None if row is None or is_over(row, now) else row


def is_over(row: Fact, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def find_places(
    rows: VersionedQuerySet[Fact], project_id: UUID, paths: Iterable[str], end_user: EndUser = EVERYBODY
) -> Places:
    """Return what stands under paths of an end user, or of nobody. What was erased keeps its id: the next one
    has another ordinal.
    """
    places, left, ordinal = Places(), list(dict.fromkeys(paths)), 0
    while left:
        uids = {build_item_uid(project_id, path, ordinal, end_user): path for path in left}
        shown = {row.uid: row for row in rows.fetch_by_key("uid", uids)}
        places.taken |= {row.path: row for row in shown.values() if row.path}
        missing = [uid for uid, path in uids.items() if path not in places.taken]
        erased = erased_uids(project_id, missing) if missing else set()
        places.free |= {uids[uid]: uid for uid in missing if uid not in erased}
        left, ordinal = [uids[uid] for uid in missing if uid in erased], ordinal + 1
    return places
