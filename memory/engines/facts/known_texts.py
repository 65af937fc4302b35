"""Facts that are there already, by their text and the repository that they are of."""

from collections.abc import Iterator
from datetime import datetime
from typing import Generic, TypeVar

from memory.models import Fact

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
TextKey = tuple[str, str]  # the hash of a text, and "current", else its status
Key = tuple[str, datetime | None]  # the hash of a text, and the end of its validity where that is past


class ByRepository(Generic[KeyT, ValueT]):
    """What is known of a text, by a key and by repository; of two in one repository the first stays."""

    def __init__(self) -> None:
        self._known: dict[KeyT, dict[str, ValueT]] = {}

    def add_value(self, key: KeyT, repository: str, value: ValueT) -> None:
        self._known.setdefault(key, {}).setdefault(repository, value)

    def replace_value(self, key: KeyT, repository: str, value: ValueT) -> None:
        self._known[key][repository] = value

    def find_value(self, key: KeyT, repository: str) -> ValueT | None:
        """Return what is of the repository, else of none; anything for a text of no repository.

        What is so in one repository says nothing about another.
        """
        if not (same := self._known.get(key)):
            return None
        found = same.get(repository) or same.get("")
        return found or (None if repository else next(iter(same.values()), None))

    def __iter__(self) -> Iterator[ValueT]:
        for same in self._known.values():
            yield from same.values()


class KnownTexts:
    """A branch's current facts by their text, and by the end of their validity where that is past."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._facts: ByRepository[Key, Fact] = ByRepository()

    def add(self, fact: Fact) -> None:
        self._facts.add_value(duplicate_key(fact, self._now), fact.repository, fact)

    def replace(self, fact: Fact) -> None:
        """Put the new version of a fact in the place of the old one."""
        self._facts.replace_value(duplicate_key(fact, self._now), fact.repository, fact)

    def find(self, row: Fact) -> Fact | None:
        """Return the fact that says the same."""
        key, valid = duplicate_key(row, self._now), (row.norm_hash, None)
        found = self._facts.find_value(valid, row.repository)
        return found if found or key == valid else self._facts.find_value(key, row.repository)

    def list_facts(self) -> Iterator[Fact]:
        """Yield the facts, of one text and repository the oldest."""
        return iter(self._facts)


def duplicate_key(fact: Fact, now: datetime) -> Key:
    """Return a fact's deduplication key; one whose validity has ended matches only the same end."""
    over = fact.valid_until is not None and fact.valid_until <= now
    return fact.norm_hash, fact.valid_until if over else None
