"""Erasure: the one operation that takes content out of the history, for good and on every branch.

It is recorded first, with the ids of all that it covers; from then on merges and imports refuse those. The
rows are overwritten in short transactions, then the files of the database. What a crash interrupts, a sweep
finishes. docs/decisions/0022 has the reasons.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.bulk_sql import insert_all
from memory.db.retry import retry_transaction
from memory.engines.audit.proofs import keyed_digest, new_salt, prove_digests
from memory.engines.audit.trail import record_entry
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.erasure.copies import drop_copies, list_copies, refuse_copies
from memory.engines.erasure.plan import ErasurePlan, build_plan, confirm_name
from memory.engines.erasure.scopes import Targets, find_targets, project_rows
from memory.engines.erasure.traces import Traces
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.support.batches import batched
from memory.engines.support.pagination import Page, paginate
from memory.engines.versions.blanking import (
    BATCH_SIZE,
    SESSION,
    SOURCE,
    Rows,
    blank_rows,
    delete_vectors,
    erasable_models,
    list_hashes,
    list_uids,
    load_versions,
    lock_branches,
)
from memory.engines.versions.erased import as_uuid, build_session_uid, erased_uids
from memory.exceptions import Conflict, Invalid, NotFound, ProviderUnavailable, TooLarge
from memory.models import ErasedMemory, Erasure, Fact, NearCheck, Session
from memory.models.nodes import next_rid, uuid7

log = logging.getLogger(__name__)

MAX_MEMORIES = 50_000  # of one erasure
State = Erasure.State


@dataclass(frozen=True)
class Verification:
    """What is left of an erasure: versions with content, and whether the digests still give the proof."""

    erasure: Erasure
    versions_left: int
    proof_holds: bool

    @property
    def holds(self) -> bool:
        return self.erasure.state == State.DONE and not self.versions_left and self.proof_holds


class ErasureEngine:
    def preview_erasure(self, *, actor: Actor, scope: str, target: str) -> ErasurePlan:
        """Return what an erasure would take, without writing anything.

        ``scope`` is fact, session, agent or match; ``target`` the id, or the text that is looked for. Needs
        the scope admin on all branches. Raises Invalid, NotFound; Conflict for what was erased already.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, find_targets(actor.project_id, scope, target))
        return build_plan(actor.project_id, scope, target, found)

    def erase(
        self, *, actor: Actor, scope: str, target: str, confirm: str, drop_copies: bool = False
    ) -> Erasure:
        """Erase for good. ``confirm`` is the name that the preview asks for.

        The result is pending while something still holds a copy, and a sweep then finishes it. Raises as
        ``preview_erasure`` does; Invalid for another name; Conflict where copies of the store hold it and
        ``drop_copies`` is not set; TooLarge.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, find_targets(actor.project_id, scope, target))
        if confirm != confirm_name(actor.project_id, scope, target):
            raise Invalid("The name that was typed is another one: nothing was erased.", field="confirm")
        if sum(found.count_kinds().values()) > MAX_MEMORIES:
            raise TooLarge(what="The erasure", limit=f"{MAX_MEMORIES} memories")
        copies = list_copies(actor.project_id)
        refuse_copies(actor, copies, drop_copies)
        erasure = begin_erasure(actor, scope, target, found)
        _drop(actor, erasure, copies)
        return run_erasure(erasure, actor)

    def list_erasures(
        self, *, actor: Actor, state: str = "", limit: int = 50, cursor: str = ""
    ) -> Page[Erasure]:
        """List the project's erasures, newest first. Needs the scope admin."""
        actor.require_scope("admin")
        rows = Erasure.objects.filter(project=actor.project_id)
        return paginate(rows.filter(state=state) if state else rows, key="-id", limit=limit, cursor=cursor)

    def get_erasure(self, *, erasure_id: UUID, actor: Actor) -> Erasure:
        """Return an erasure. Needs the scope admin. Raises NotFound."""
        actor.require_scope("admin")
        found = Erasure.objects.filter(project=actor.project_id, pk=erasure_id).first()
        if found is None:
            raise NotFound()
        return found

    def verify_erasure(self, *, erasure_id: UUID, actor: Actor) -> Verification:
        """Check that every version of what was erased is still blank, and the proof. Raises NotFound."""
        erasure = self.get_erasure(erasure_id=erasure_id, actor=actor)
        left = sum(
            len(rows)
            for kind, uids in list_batches(erasure, blank=True)
            for rows in load_versions(erasure.project_id, kind, uids, written=True).values()
        )
        return Verification(erasure, left, erasure.proof == build_proof(erasure))

    def finish_pending(self) -> int:
        """Finish the erasures of all projects that were interrupted or had to wait; return how many."""
        pending = list(Erasure.objects.filter(state=State.PENDING).order_by("requested_at"))
        return sum(_try_again(erasure) for erasure in pending)


# ---- beginning -------------------------------------------------------------------------------------


def drop_erased(project_id: UUID, found: Targets) -> Targets:
    """Return the targets that were not erased yet. Raises Conflict when all were."""
    gone = erased_uids(project_id, found.list_uids())
    sessions = {key: build_session_uid(project_id, key) for key in found.sessions}
    gone_sessions = erased_uids(project_id, sessions.values())
    memories = {kind: uids - gone for kind, uids in found.memories.items()}
    left = Targets({kind: uids for kind, uids in memories.items() if uids}, match=found.match)
    left.sessions = {key for key, uid in sessions.items() if uid not in gone_sessions}
    if not left.memories and not left.sessions:
        raise Conflict("This was erased already.")
    return left


@retry_transaction
def begin_erasure(actor: Actor, scope: str, target: str, found: Targets) -> Erasure:
    """Record the erasure and the ids of all that it covers, in one transaction."""
    erasure = Erasure(
        pk=uuid7(),
        project_id=actor.project_id,
        scope=scope,
        target="" if found.match else target,
        pattern=found.match,
        counts=found.count_kinds(),
        requested_at=timezone.now(),
        requested_by=actor.label,
    )
    rows = [build_row(erasure, kind, uid) for kind, uids in found.memories.items() for uid in sorted(uids)]
    rows += [
        build_row(erasure, SESSION, build_session_uid(actor.project_id, key))
        for key in sorted(found.sessions)
    ]
    rows += [build_row(erasure, SOURCE, uid) for uid in sorted(list_sources(actor.project_id, found))]
    next_rid.ensure_lease()
    with transaction.atomic(savepoint=False):
        erasure.save(force_insert=True)
        for batch in batched(rows, BATCH_SIZE):
            insert_all(batch, ignore_conflicts=True)  # another erasure may cover some of them by now
        refuse_missing(actor.project_id, found)
        record_entry(actor, "erasure.begin", str(erasure.pk), {"scope": scope, "counts": erasure.counts})
    return erasure


def refuse_missing(project_id: UUID, found: Targets) -> None:
    """Refuse an erasure that could not list all that it covers, rather than call it done. Raises Conflict.

    An id is listed once on a server: another project may have erased what it had imported from this one.
    """
    uids = found.list_uids()
    if uids - erased_uids(project_id, uids):
        raise Conflict("Another project erased a memory of the same id, so this one cannot be erased yet.")


def build_row(erasure: Erasure, kind: str, uid: UUID) -> ErasedMemory:
    return ErasedMemory(
        uid=uid, project_id=erasure.project_id, erasure=erasure, kind=kind, salt=new_salt(), digest=""
    )


def list_sources(project_id: UUID, found: Targets) -> set[UUID]:
    """Return the ids that imported facts had in their files, by which another import would know them."""
    sources: set[UUID] = set()
    for batch in batched(sorted(found.get_uids("fact")), BATCH_SIZE):
        facts = project_rows(Fact, project_id).filter(uid__in=batch, source_type=Fact.SourceType.IMPORT)
        sources |= {uid for (name,) in facts.values_list("source_id") if (uid := as_uuid(name))}
    return sources


def _drop(actor: Actor, erasure: Erasure, copies: Sequence[Any]) -> None:
    if dropped := drop_copies(actor, copies):
        Erasure.objects.filter(pk=erasure.pk).update(dropped=dropped)
        erasure.dropped = dropped


# ---- carrying out ----------------------------------------------------------------------------------


def run_erasure(erasure: Erasure, actor: Actor) -> Erasure:
    """Carry out an erasure from where it stands; it stays pending while something holds a copy."""
    blank_memories(erasure)
    if waits_for := find_obstacle(erasure):
        Erasure.objects.filter(pk=erasure.pk).update(waits_for=waits_for[:500])
        erasure.waits_for = waits_for[:500]
        log.warning("Erasure %s is not done: %s", erasure.pk, waits_for)
        return erasure
    return finish_erasure(erasure, actor)


def blank_memories(erasure: Erasure) -> None:
    """Overwrite every row that is not blank yet, and the traces of its texts elsewhere."""
    targets, texts = load_targets(erasure), []
    for kind, uids in list_batches(erasure, blank=False):
        texts += list_texts(load_versions(erasure.project_id, kind, uids, written=True))
    if not texts and erasure.blanked_at:
        return
    traces = Traces(erasure.project_id, targets, texts)
    traces.erase_all()  # before the texts are gone: a crash in between would leave them
    shared = find_shared(erasure, targets)
    for kind, uids in list_batches(erasure, blank=False):
        blank_batch(erasure, kind, uids, shared)
    traces.erase_all()  # what was written meanwhile
    queue_missing(erasure.project_id)
    erasure.blanked_at = timezone.now()
    Erasure.objects.filter(pk=erasure.pk).update(blanked_at=erasure.blanked_at)


@retry_transaction
def blank_batch(erasure: Erasure, kind: str, uids: Sequence[UUID], shared: set[str]) -> None:
    """Overwrite some memories of one kind in one transaction, and destroy the keys of their digests."""
    with transaction.atomic(savepoint=False):
        lock_branches(erasure.project_id)
        rows = ErasedMemory.objects.filter(erasure=erasure, uid__in=uids).exclude(salt="")
        salts = dict(rows.values_list("uid", "salt"))
        found = load_versions(erasure.project_id, kind, list(salts), written=False)
        digests = digest_memories(found, salts)
        hashes = list_hashes(found) - shared
        blank_rows(found, salts)
        NearCheck.objects.filter(project=erasure.project_id, uid__in=list(salts)).delete()
        delete_vectors(erasure.project_id, hashes)
        for uid, salt in salts.items():
            digest = digests.get(uid) or keyed_digest(salt, [])
            ErasedMemory.objects.filter(pk=uid).update(salt="", digest=digest)


def digest_memories(found: Rows, salts: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return a keyed digest over all content of each memory."""
    content: dict[UUID, list[Any]] = {}
    for model, rows in found.items():
        for row in rows:
            values = [getattr(row, name) for name in model.ERASED]
            content.setdefault(row.uid, []).append([model._meta.label, row.rid, values])
    return {uid: keyed_digest(salts[uid], values) for uid, values in content.items()}


def list_texts(found: Rows) -> list[str]:
    """Return the texts of versions that other rows may repeat."""
    return [
        value
        for model, rows in found.items()
        for row in rows
        for name in model.ERASED
        if isinstance(value := getattr(row, name), str) and name not in UNSEARCHED
    ]


# Columns with words of a fixed choice or hashes, which other rows share without repeating a text.
UNSEARCHED = frozenset(
    "category status held_status source source_id slot content_hash norm_hash judged_hash input_hash".split()
)


def find_shared(erasure: Erasure, targets: Targets) -> set[str]:
    """Return the hashes of texts that a memory which stays has too: their vectors stay."""
    gone, found = targets.list_uids(), set()
    for model in erasable_models():
        if model.TEXT:
            rows = project_rows(model, erasure.project_id).values_list("uid", "content_hash")
            found |= {value for uid, value in rows.iterator(5000) if uid not in gone}
    return found


def queue_missing(project_id: UUID) -> None:
    """Queue texts without a vector: one may have been written while the vector of its twin was deleted."""
    try:
        EmbeddingEngine().want_missing(project_id)
    except ProviderUnavailable as error:
        log.warning("Texts are embedded at the next start: %s", error)


# ---- what an erasure covers ------------------------------------------------------------------------


def list_batches(erasure: Erasure, *, blank: bool) -> Iterator[tuple[str, Sequence[UUID]]]:
    """Yield the memories of an erasure, those that are blank or those that are not, in batches of a kind."""
    rows = ErasedMemory.objects.filter(erasure=erasure)
    rows = rows.filter(salt="") if blank else rows.exclude(salt="")
    for kind in sorted(set(rows.order_by().values_list("kind", flat=True))):
        yield from ((kind, batch) for batch in batched(list_uids(rows.filter(kind=kind)), BATCH_SIZE))


def load_targets(erasure: Erasure) -> Targets:
    targets = Targets(match=erasure.pattern)
    for kind, uid in ErasedMemory.objects.filter(erasure=erasure).values_list("kind", "uid"):
        targets.memories.setdefault(kind, set()).add(uid)
    listed = targets.memories.pop(SESSION, set())
    keys = Session.objects.filter(project=erasure.project_id).values_list("key", flat=True)
    targets.sessions = {
        key for key in keys if listed and build_session_uid(erasure.project_id, key) in listed
    }
    return targets


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
    erasure.state, erasure.waits_for, erasure.pattern = State.DONE, "", ""
    erasure.proof, erasure.done_at = build_proof(erasure), timezone.now()
    next_rid.ensure_lease()
    with transaction.atomic(savepoint=False):
        done = {"state": State.DONE, "waits_for": "", "proof": erasure.proof, "done_at": erasure.done_at}
        if Erasure.objects.filter(pk=erasure.pk, state=State.PENDING).update(**done):
            detail = {"counts": erasure.counts, "dropped": erasure.dropped, "proof": erasure.proof}
            record_entry(actor, "erasure.done", str(erasure.pk), detail)
    return erasure


def build_proof(erasure: Erasure) -> str:
    return prove_digests(ErasedMemory.objects.filter(erasure=erasure).values_list("digest", flat=True))


def _try_again(erasure: Erasure) -> bool:
    actor = Actor(erasure.project_id, "system", label=erasure.requested_by, surface="worker")
    try:
        return run_erasure(erasure, actor).state == State.DONE
    except Exception:
        log.exception("Erasure %s was not finished; the next sweep tries again", erasure.pk)
        return False
