"""The execution of an erasure, from wherever it stands: by its request, or by a sweep after a crash."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.audit.proofs import keyed_digest, prove_digests
from memory.engines.audit.trail import record_entry
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.erasure.copies import drop_copy, list_copies
from memory.engines.erasure.listing import complete_list, list_batches, load_targets
from memory.engines.erasure.scopes import Targets, project_rows
from memory.engines.erasure.traces import Traces
from memory.engines.support.batches import batched
from memory.engines.support.usage import UsageEngine
from memory.engines.versions import blanking
from memory.engines.versions.blanking import BATCH_SIZE, Rows
from memory.exceptions import Day1Error, ProviderUnavailable
from memory.models import ErasedMemory, Erasure
from memory.models.erasures import build_erased_key
from memory.texts import measure_text

log = logging.getLogger(__name__)
State = Erasure.State
FINISHED = ("state", "waits_for", "to_drop", "proof", "done_at")  # columns that the end of an erasure sets
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


def run_erasure(erasure: Erasure, actor: Actor) -> Erasure:
    """Carry out an erasure from where it stands; it stays pending while something holds a copy."""
    blank_memories(erasure)  # first: whatever a copy's removal runs into, the store itself is clean
    if waits_for := drop_agreed(erasure, actor) or find_obstacle(erasure):
        return let_wait(erasure, waits_for)
    return finish_erasure(erasure, actor)


def let_wait(erasure: Erasure, waits_for: str) -> Erasure:
    """Store why an erasure is not done."""
    erasure.waits_for = waits_for[:500]
    Erasure.objects.filter(pk=erasure.pk).update(waits_for=erasure.waits_for)
    log.warning("Erasure %s is not done: %s", erasure.pk, waits_for)
    return erasure


def drop_agreed(erasure: Erasure, actor: Actor) -> str:
    """Drop the copies of the store that the request agreed to lose; return why one is still there, or "".

    They are recorded with the erasure, so that a sweep goes on with the rest of them after a crash.
    """
    for entry in list(erasure.to_drop):
        try:
            drop_copy(actor, entry)
        except Day1Error as error:
            return error.text
        erasure.to_drop = [other for other in erasure.to_drop if other != entry]
        erasure.dropped = [*erasure.dropped, f"{entry['kind']} {entry['name']}".strip()]
        Erasure.objects.filter(pk=erasure.pk).update(to_drop=erasure.to_drop, dropped=erasure.dropped)
    return ""


# ---- blanking --------------------------------------------------------------------------------------


def blank_memories(erasure: Erasure) -> None:
    """Overwrite every row that is not blank yet, and the traces of its texts elsewhere."""
    if not erasure.blanked_at:
        complete_list(erasure)
    targets, count = load_targets(erasure), 0
    for portion in read_portions(erasure):
        blank_portion(erasure, portion, targets)
        count += 1
    if not count and erasure.blanked_at:
        return
    Traces(erasure.project_id, targets).erase_all()  # by their ids, and of what was written meanwhile
    queue_missing(erasure.project_id)
    erasure.blanked_at = timezone.now()
    Erasure.objects.filter(pk=erasure.pk).update(blanked_at=erasure.blanked_at)


def blank_portion(erasure: Erasure, portion: Portion, targets: Targets) -> None:
    traces = Traces(erasure.project_id, portion.get_targets(erasure), portion.texts)
    traces.erase_all()  # before the texts are gone: a crash in between would leave them
    shared = find_shared(erasure.project_id, portion.hashes, targets)
    for kind, uids in portion.list_batches():
        blank_batch(erasure, kind, uids, shared)
    traces.erase_all()  # what was written meanwhile


@retry_transaction
def blank_batch(erasure: Erasure, kind: str, uids: Sequence[UUID], shared: set[str]) -> None:
    """Overwrite some memories of one kind in one transaction, and destroy the keys of their digests."""
    with write_transaction():
        blanking.lock_branches(erasure.project_id)
        rows = ErasedMemory.objects.filter(erasure=erasure, kind=kind, uid__in=uids).exclude(salt="")
        salts = dict(rows.values_list("uid", "salt"))
        found = blanking.load_versions(erasure.project_id, kind, list(salts), written=False)
        digests = digest_memories(found, salts)
        hashes = blanking.list_hashes(found) - shared
        blanking.blank_rows(found, salts)
        blanking.delete_pairs(erasure.project_id, list(salts))
        blanking.delete_vectors(erasure.project_id, hashes)
        for uid, salt in salts.items():
            digest = digests.get(uid) or keyed_digest(salt, [])
            key = build_erased_key(erasure.project_id, kind, uid)
            ErasedMemory.objects.filter(pk=key).update(salt="", digest=digest)


def digest_memories(found: Rows, salts: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return a keyed digest over all content of each memory."""
    content: dict[UUID, list[Any]] = {}
    for model, rows in found.items():
        for row in rows:
            values = [getattr(row, name) for name in model.ERASED]
            content.setdefault(row.uid, []).append([model._meta.label, row.rid, values])
    return {uid: keyed_digest(salts[uid], values) for uid, values in content.items()}


def find_shared(project_id: UUID, hashes: set[str], targets: Targets) -> set[str]:
    """Return those of the hashes of texts that a memory which stays has too: their vectors stay."""
    gone, found = targets.list_uids(), set()
    for model in blanking.erasable_models():
        if model.TEXT:
            rows = project_rows(model, project_id).values_list("uid", "content_hash")
            found |= {value for uid, value in rows.iterator(5000) if value in hashes and uid not in gone}
    return found


def queue_missing(project_id: UUID) -> None:
    """Queue texts without a vector: one may have been written while the vector of its twin was deleted."""
    try:
        EmbeddingEngine().want_missing(project_id)
    except ProviderUnavailable as error:
        log.warning("Texts are embedded at the next start: %s", error)


# ---- finishing -------------------------------------------------------------------------------------


def find_obstacle(erasure: Erasure) -> str:
    """Return why the erasure cannot be finished yet, or ""."""
    if copies := list_copies(erasure.project_id, until=erasure.blanked_at):
        names = ", ".join(f"{copy.kind} {copy.name}".strip() for copy in copies)
        return f"Copies of the store were made meanwhile: {names}. Drop them."
    Erasure.objects.filter(pk=erasure.pk).update(pattern="")
    return get_backend().overwrite_deleted()


@retry_transaction
def finish_erasure(erasure: Erasure, actor: Actor) -> Erasure:
    erasure.state, erasure.waits_for, erasure.pattern, erasure.to_drop = State.DONE, "", "", []
    erasure.proof, erasure.done_at = build_proof(erasure), timezone.now()
    with write_transaction():
        done = {name: getattr(erasure, name) for name in FINISHED}
        if Erasure.objects.filter(pk=erasure.pk, state=State.PENDING).update(**done):
            detail = {"counts": erasure.counts, "dropped": erasure.dropped, "proof": erasure.proof}
            record_entry(actor, "erasure.done", str(erasure.pk), detail)
    UsageEngine().count_project(erasure.project_id)  # it has made room
    return erasure


def build_proof(erasure: Erasure) -> str:
    return prove_digests(ErasedMemory.objects.filter(erasure=erasure).values_list("digest", flat=True))


def resume_erasure(erasure: Erasure) -> bool:
    """Go on with an erasure that was interrupted or had to wait; return whether it is done."""
    rights = frozenset({"admin"})  # copies are dropped by the right of whoever requested it
    actor = Actor(erasure.project_id, "system", label=erasure.requested_by, scopes=rights, surface="worker")
    try:
        return run_erasure(erasure, actor).state == State.DONE
    except Exception as error:
        log.exception("Erasure %s was not finished; the next sweep tries again", erasure.pk)
        let_wait(erasure, f"It was stopped by an error ({type(error).__name__}) and is tried again.")
        return False


# ---- portions ----------------------------------------------------------------------------------------


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
    for model in blanking.models_of_kind(kind):
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
