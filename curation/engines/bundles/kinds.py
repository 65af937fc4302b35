"""The kinds of memory that a bundle holds: how each is read of a branch, and how it arrives on one."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from curation.engines.bundles.arrivals import Arrival, FactArrival, LinkArrival
from curation.engines.bundles.document import PARTS, SEALS, Document, compute_sha256, list_sealed
from curation.engines.bundles.reading import (
    FACT_FIELDS,
    FORK_FIELDS,
    LINK_FIELDS,
    MESSAGE_FIELDS,
    RELATION_FIELDS,
    VERDICT_FIELDS,
    Item,
    Selection,
    check_count,
    read_conversations,
    read_facts,
    read_links,
    read_relations,
)
from curation.engines.bundles.talk_arrivals import ConversationArrival, RelationArrival

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


@dataclass(frozen=True)
class BundleKind:
    """What a bundle does with one kind of memory."""

    name: str
    read: Callable[[Selection], list[Item]]
    arrival: type[Arrival]


# In this order: links are between what came before.
KINDS = (
    BundleKind("facts", read_facts, FactArrival),
    BundleKind("conversations", read_conversations, ConversationArrival),
    BundleKind("links", read_links, LinkArrival),
    BundleKind("relations", read_relations, RelationArrival),
)


def read_content(selection: Selection) -> dict[str, list[Item]]:
    """Return what a bundle takes of a branch, by kind. Raises TooLarge."""
    content = {kind.name: kind.read(selection) for kind in KINDS}
    check_content(content)
    return content


def check_content(content: Mapping[str, list[Item]]) -> None:
    """Check that one commit can write all of it, each fact with its verdict. Raises TooLarge."""
    counts = count_content(content)
    check_count(sum(counts.values()) + counts["facts"])


def count_content(content: Mapping[str, list[Item]]) -> dict[str, int]:
    """Return how many memories there are of each kind, messages included."""
    counts = {kind.name: len(content.get(kind.name, [])) for kind in KINDS}
    talks = content.get("conversations", [])
    counts["messages"] = sum(
        len(talk["messages"]) for talk in talks if isinstance(talk.get("messages"), list)
    )
    return counts


# ---- known fields ------------------------------------------------------------------------------------


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
