"""Facts of a batch that differ in their text alone: what they share is checked once."""

import marshal
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memory.db.bulk_sql import make_instance
from memory.engines.facts.rules import CHECKS, compute_essence
from memory.models import Fact

JSON_COLUMNS = ("tags", "metadata", "value")  # of which each row has its own


class Prototype:
    """The columns of facts with other texts; ``is_own`` where they have a line for prompts of their own."""

    def __init__(self, row: Fact, is_own: bool) -> None:
        self._columns = {name: value for name, value in vars(row).items() if name != "_state"}
        self._own = marshal.dumps({name: self._columns[name] for name in JSON_COLUMNS})
        self._is_own = is_own

    def build_fact(self, text: Any, uid: UUID) -> Fact:
        """Build a row with another text, which is checked. Raises Invalid, TooLarge."""
        text = CHECKS["fact_text"]("fact_text", text)
        essence = self._columns["essence"] if self._is_own else compute_essence(text)
        own = {"uid": uid, "fact_text": text, "essence": essence, **marshal.loads(self._own)}
        row = make_instance(Fact, {**self._columns, **own})
        row.compute_hashes()
        return row


def pack_all_but(values: Mapping[str, Any], name: str) -> bytes:
    """Return values of JSON, without a text that must be among them, as bytes that no others have; none where
    there is another kind of value.
    """
    if not isinstance(values.get(name), str):
        return b""
    try:
        return marshal.dumps({**values, name: ""}, 2)  # of this version: the same for the same values alone
    except ValueError:
        return b""
