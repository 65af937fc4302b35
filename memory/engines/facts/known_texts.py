"""Facts that are there already, by their text and the repository that they are of."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from memory.engines.versions.repositories import is_elsewhere
from memory.models import Fact

Key = tuple[str, datetime | None]  # the hash of a text, and the end of its validity where that is past


class KnownTexts:
    """A branch's current facts by their text, and by the end of their validity where that is past."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._facts: dict[Key, list[Fact]] = {}

    def add(self, fact: Fact) -> None:
        self._facts.setdefault(duplicate_key(fact, self._now), []).append(fact)

    def replace(self, old: Fact, new: Fact) -> None:
        facts = self._facts[duplicate_key(old, self._now)]
        facts[facts.index(old)] = new

    def find(self, row: Fact) -> Fact | None:
        """Return the fact that says the same, of the same repository before one of none.

        What is so in one repository says nothing about another.
        """
        for key in ((row.norm_hash, None), duplicate_key(row, self._now)):
            same = [
                fact for fact in self._facts.get(key, ()) if not is_elsewhere(fact.repository, row.repository)
            ]
            if same:
                return min(same, key=lambda fact: fact.repository != row.repository)
        return None

    def list_facts(self) -> Iterator[Fact]:
        """Yield the facts, of one text the oldest first."""
        for facts in self._facts.values():
            yield from facts


class TextIds:
    """Ids of facts by text and state ("current", else the status), and by repository."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], dict[str, UUID]] = {}

    def add(self, key: tuple[str, str], repository: str, uid: UUID) -> None:
        self._ids.setdefault(key, {}).setdefault(repository, uid)

    def find(self, key: tuple[str, str], repository: str) -> UUID | None:
        """Return the fact of the repository, else that of none; any fact for a text of no repository."""
        same = self._ids.get(key, {})
        return (
            same.get(repository) or same.get("") or (None if repository else next(iter(same.values()), None))
        )


def duplicate_key(fact: Fact, now: datetime) -> Key:
    """Return a fact's deduplication key; one whose validity has ended matches only the same end."""
    over = fact.valid_until is not None and fact.valid_until <= now
    return fact.norm_hash, fact.valid_until if over else None
