"""Portions of an erasure: as many memories at once as their texts fit into a bound of memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.engines.erasure.listing import list_batches
from memory.engines.erasure.scopes import Targets, project_rows
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import BATCH_SIZE, models_of_kind
from memory.models import Erasure
from memory.texts import measure_text

READ_SIZE = 20  # memories whose texts are read at once: a message may have a mebibyte
MAX_TEXTS = 20_000  # of one portion; other rows are searched once for each portion
MAX_CHARACTERS = 4_000_000  # of the texts of one portion
MAX_BATCH_CHARACTERS = 4_000_000  # of the memories that one transaction blanks


@dataclass
class Portion:
    """Memories that are blanked together, and their texts: each with how much of it identifies it."""

    texts: dict[str, int] = field(default_factory=dict)
    hashes: set[str] = field(default_factory=set)
    parts: list[tuple[str, Sequence[UUID], int]] = field(default_factory=list)
    characters: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.texts) >= MAX_TEXTS or self.characters >= MAX_CHARACTERS

    def get_targets(self, erasure: Erasure) -> Targets:
        found = Targets(match=erasure.pattern)
        for kind, uids, _ in self.parts:
            found.add_memories(kind, uids)
        return found

    def list_batches(self) -> Iterator[tuple[str, list[UUID]]]:
        """Yield the memories, of one kind each time, as many as one transaction blanks."""
        batch: list[UUID] = []
        size, before = 0, ""
        for kind, uids, characters in self.parts:
            full = len(batch) + len(uids) > BATCH_SIZE or size + characters > MAX_BATCH_CHARACTERS
            if batch and (full or kind != before):
                yield before, batch
                batch, size = [], 0
            batch, size, before = [*batch, *uids], size + characters, kind
        if batch:
            yield before, batch


def read_portions(erasure: Erasure) -> Iterator[Portion]:
    """Yield what is not blank yet. Whoever takes a portion may blank it before the next."""
    portion = Portion()
    for kind, uids in list_batches(erasure, blank=False):
        for part in batched(uids, READ_SIZE):
            read_part(erasure.project_id, portion, kind, part)
            if portion.is_full:
                yield portion
                portion = Portion()
    if portion.parts:
        yield portion


def read_part(project_id: UUID, portion: Portion, kind: str, uids: Sequence[UUID]) -> None:
    """Add memories with the texts of all their versions to a portion."""
    before = portion.characters
    for model in models_of_kind(kind):
        names = [*model.QUOTED, *(["content_hash"] if model.TEXT else [])]
        rows = project_rows(model, project_id).filter(uid__in=uids)
        for row in rows.values(*names).iterator(READ_SIZE) if names else ():
            portion.hashes.update([row["content_hash"]] if model.TEXT else [])
            for name, least in model.QUOTED.items():
                add_text(portion, row[name], least)
    portion.parts.append((kind, uids, portion.characters - before))


def add_text(portion: Portion, text: str, least: int) -> None:
    """Add a text that is long enough to identify its memory. Two kinds may share one: the stricter counts."""
    if measure_text(text) >= least:
        portion.characters += 0 if text in portion.texts else len(text)
        portion.texts[text] = min(least, portion.texts.get(text, least))
