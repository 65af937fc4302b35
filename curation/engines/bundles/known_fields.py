"""The fields of a document that this version knows; what else an upload holds is dropped and named."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from curation.engines.bundles.document import PARTS, SEALS, Document, compute_sha256, list_sealed
from curation.engines.bundles.reading import (
    FACT_FIELDS,
    FORK_FIELDS,
    LINK_FIELDS,
    MESSAGE_FIELDS,
    RELATION_FIELDS,
    VERDICT_FIELDS,
)

HEAD_FIELDS = frozenset(
    "format schema_version name version description source_branch only_verified created_at counts content"
    " sha256 signature".split()
)
SIGNATURE_FIELDS = frozenset(("algorithm", "public_key", "value"))
ITEM_FIELDS = {
    "facts": frozenset(("id", *FACT_FIELDS, *VERDICT_FIELDS)),
    "conversations": frozenset(("id", "title", "model", "created_at", *FORK_FIELDS, "messages")),
    "messages": frozenset(("id", *MESSAGE_FIELDS)),
    "links": frozenset(("id", *LINK_FIELDS)),
    "relations": frozenset(("id", *RELATION_FIELDS)),
}
MAX_NAMED, NAME_LENGTH = 20, 80  # fields that an answer names, and characters of each


class Pruning:
    """Values without what nobody knows, and the names of that."""

    def __init__(self) -> None:
        self.dropped: set[str] = set()

    def keep_known(self, value: Any, known: Collection[str], place: str = "") -> Any:
        """Return an object with known fields only; another value as it is."""
        if not isinstance(value, Mapping):
            return value
        for name in value.keys() - known:
            self.dropped.add(f"{place}{name}"[:NAME_LENGTH])
        return {name: one for name, one in value.items() if name in known}

    def prune_items(self, kind: str, items: list[Any]) -> list[Any]:
        kept = [self.keep_known(item, ITEM_FIELDS[kind], f"{kind}.") for item in items]
        if kind == "conversations":
            for item in kept:
                if isinstance(item.get("messages"), list):
                    item["messages"] = self.prune_items("messages", item["messages"])
        return kept

    def prune_head(self, data: Mapping[str, Any], content: Mapping[str, list[Any]]) -> dict[str, Any]:
        """Return the data of a document with known fields only."""
        kept: dict[str, Any] = self.keep_known(data, HEAD_FIELDS)
        if "counts" in kept:
            kept["counts"] = self.keep_known(kept["counts"], (*PARTS, "messages"), "counts.")
        if kept.get("signature") is not None:
            kept["signature"] = self.keep_known(kept["signature"], SIGNATURE_FIELDS, "signature.")
        return kept | {"content": content}


def prune_document(document: Document) -> Document:
    """Return a checked document without unknown fields; ``dropped`` names the first of them.

    One that loses any is hashed anew, and has no signature more: that was of all of it. Who signed it was
    checked, and stays known.
    """
    pruning = Pruning()
    pruning.keep_known(document.data["content"], PARTS, "content.")
    content = {kind: pruning.prune_items(kind, document.content[kind]) for kind in PARTS}
    written = {kind: content[kind] for kind in PARTS if kind in document.data["content"]}
    data = pruning.prune_head(document.data, written)
    if not pruning.dropped:
        return document
    signature = document.signature
    if list_sealed(data) != list_sealed(document.data):
        signature = None
        data = {name: value for name, value in data.items() if name not in SEALS}
        data["sha256"] = compute_sha256(data)
    return replace(
        document,
        content=content,
        data=data,
        sha256=data["sha256"],
        signature=signature,
        dropped=tuple(sorted(pruning.dropped)),
    )


def name_dropped(document: Document) -> list[str]:
    """Return the names of the first fields that were dropped."""
    return list(document.dropped[:MAX_NAMED])
