"""The kinds of memory that a bundle holds: how each is read of a branch, and how it arrives on one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from curation.engines.bundles.arrivals import Arrival, FactArrival, LinkArrival
from curation.engines.bundles.reading import (
    Item,
    Selection,
    check_count,
    read_conversations,
    read_facts,
    read_links,
    read_relations,
)
from curation.engines.bundles.talk_arrivals import ConversationArrival, RelationArrival


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
