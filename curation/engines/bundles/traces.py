"""Erasure in bundles: documents are written without what was erased, hashed and, if ours, signed anew."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from curation.engines.bundles.document import list_messages
from curation.engines.bundles.engine import seal_bundle
from curation.engines.bundles.keys import sign_document
from curation.models import Bundle
from curation.models.bundles import derive_uid
from memory.engines.erasure.traces import Traces, change_rows
from memory.engines.versions.erased import as_uuid, erased_uids
from memory.exceptions import Conflict

COLUMNS = ("bundle_data", "size", "counts", "sha256", "signature", "public_key")


class BundleTraces:
    """The bundles of a project, as rows in which an erasure looks for texts."""

    def erase_traces(self, traces: Traces) -> int:
        """Write every document anew that has something of what is erased; return how many had."""
        rows = Bundle.stored.filter(project=traces.project_id)
        return change_rows(rows, COLUMNS, lambda row: redact_bundle(traces, row))


def redact_bundle(traces: Traces, row: Bundle) -> list[Any]:
    """Return the values of the columns without what is erased."""
    data = json.loads(row.bundle_data)
    content = redact_content(traces, data["content"])
    about = {name: traces.redact_value(data[name]) for name in ("description",) if name in data}
    if content == data["content"] and about.items() <= data.items():
        return [getattr(row, name) for name in COLUMNS]
    data = {name: value for name, value in data.items() if name not in ("sha256", "signature")}
    data |= {"content": content, **about}
    sealed = Bundle()
    seal_bundle(sealed, data, sign_again(traces.project_id, row, data))
    return [getattr(sealed, name) for name in COLUMNS]


def sign_again(project_id: UUID, row: Bundle, data: dict[str, Any]) -> dict[str, str] | None:
    """Return a new signature of a bundle that the project signed; another's cannot be made anew."""
    if not row.signature or row.origin != Bundle.Origin.CREATED:
        return None
    try:
        return sign_document(project_id, data)
    except Conflict:
        return None


def redact_content(traces: Traces, content: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the content without erased memories, and without the texts of them in others."""
    gone = find_gone(traces.project_id, content)
    kept = {
        kind: [drop_messages(item, gone) for item in items if not is_gone(item, gone)]
        for kind, items in content.items()
    }
    redacted: dict[str, list[Any]] = traces.redact_value(kept)
    return redacted


def drop_messages(item: Any, gone: set[UUID]) -> Any:
    """Return an item without those of its messages that are erased."""
    if not list_messages(item):
        return item
    return {**item, "messages": [one for one in item["messages"] if not is_gone(one, gone)]}


def find_gone(project_id: UUID, content: Mapping[str, list[Any]]) -> set[UUID]:
    """Return the ids of a document that were erased, in it or where they were imported."""
    uids = {uid for items in content.values() for item in items for uid in list_ids(item)}
    copies = {derive_uid(project_id, uid): uid for uid in uids}
    erased = erased_uids(project_id, [*uids, *copies], sources=True)
    return {copies.get(uid, uid) for uid in erased}


def list_ids(item: Any) -> list[UUID]:
    """Return the ids of an item and of its messages."""
    parts = [one for one in (item, *list_messages(item)) if isinstance(one, Mapping)]
    return [uid for part in parts if (uid := as_uuid(str(part.get("id"))))]


def is_gone(item: Any, gone: set[UUID]) -> bool:
    """Return whether an item is erased, or an edge with an erased end, however its ids are spelled."""
    names = ("id", "from_id", "to_id") if isinstance(item, Mapping) else ()
    return any(as_uuid(str(item.get(name))) in gone for name in names)
