"""The list of what an erasure covers: made in the transaction that records it, and completed before it runs.

From that transaction on merges and imports refuse what is listed, and its sessions take nothing more.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk_sql import insert_all
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.audit.proofs import new_salt
from memory.engines.audit.trail import record_entry
from memory.engines.erasure.authors import Author
from memory.engines.erasure.copies import StoreCopy, describe_agreed
from memory.engines.erasure.scopes import Targets, find_late, find_sessions, project_rows
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import BATCH_SIZE, list_uids, lock_branches
from memory.engines.versions.erased import SESSION, SOURCE, as_uuid, build_session_uid, erased_uids
from memory.exceptions import Conflict
from memory.models import ErasedMemory, Erasure, Fact, Session
from memory.models.erasures import build_erased_key
from memory.models.nodes import uuid7


def drop_erased(project_id: UUID, found: Targets) -> Targets:
    """Return the targets that were not erased yet. Raises Conflict when all were."""
    left = subtract_erased(project_id, found)
    if not left.memories and not left.sessions:
        raise Conflict("This was erased already.")
    return left


def subtract_erased(project_id: UUID, found: Targets) -> Targets:
    """Return the targets that no erasure of the project lists."""
    gone = erased_uids(project_id, found.list_uids())
    sessions = {key: build_session_uid(project_id, key) for key in found.sessions}
    gone_sessions = erased_uids(project_id, sessions.values())
    memories = {kind: uids - gone for kind, uids in found.memories.items()}
    left = Targets({kind: uids for kind, uids in memories.items() if uids}, match=found.match)
    left.sessions = {key for key, uid in sessions.items() if uid not in gone_sessions}
    return left


# ---- making the list -------------------------------------------------------------------------------


@retry_transaction
def begin_erasure(
    actor: Actor, scope: str, target: str, found: Targets, copies: Sequence[StoreCopy]
) -> Erasure:
    """Record the erasure, the ids of all that it covers and the copies of the store to drop, and close its
    sessions, in one transaction.
    """
    erasure = Erasure(
        pk=uuid7(),
        project_id=actor.project_id,
        scope=scope,
        target="" if found.match else target,
        pattern=found.match,
        to_drop=describe_agreed(copies),
        **actor.identity_fields("requested_by"),
    )
    with write_transaction():
        # Who has not seen that a session is closed has committed by now: see `complete_list`.
        lock_branches(actor.project_id)
        erasure.requested_at = timezone.now()  # later than all commits up to now, earlier than all others
        found.sessions |= open_sessions(actor.project_id, find_sessions(actor.project_id, scope, target))
        erasure.counts = found.count_kinds()
        erasure.save(force_insert=True)
        list_targets(erasure, found)
        record_entry(actor, "erasure.begin", str(erasure.pk), {"scope": scope, "counts": erasure.counts})
    return erasure


def open_sessions(project_id: UUID, keys: Iterable[str]) -> set[str]:
    """Return those of the sessions that no erasure lists yet."""
    return subtract_erased(project_id, Targets(sessions=set(keys))).sessions


def list_targets(erasure: Erasure, found: Targets) -> None:
    """Add targets to the list of an erasure, and close the sessions, in the running transaction."""
    project_id = erasure.project_id
    for batch in batched(sorted(found.sessions), BATCH_SIZE):
        closed = Session.objects.filter(project=project_id, key__in=batch, erased_at=None)
        closed.update(erased_at=erasure.requested_at)
    memories = ((kind, uid) for kind, uids in found.memories.items() for uid in sorted(uids))
    sessions = ((SESSION, build_session_uid(project_id, key)) for key in sorted(found.sessions))
    sources = ((SOURCE, uid) for uid in sorted(list_sources(project_id, found)))
    rows = (build_row(erasure, kind, uid) for kind, uid in chain(memories, sessions, sources))
    while found_rows := list(islice(rows, BATCH_SIZE)):
        insert_all(found_rows, ignore_conflicts=True)  # another erasure may cover some of them by now


def build_row(erasure: Erasure, kind: str, uid: UUID) -> ErasedMemory:
    key = build_erased_key(erasure.project_id, kind, uid)
    own = {"pk": key, "project_id": erasure.project_id, "erasure": erasure}
    return ErasedMemory(uid=uid, kind=kind, salt=new_salt(), digest="", **own)


def list_sources(project_id: UUID, found: Targets) -> set[UUID]:
    """Return the ids that imported facts had in their files, by which another import would know them."""
    sources: set[UUID] = set()
    for batch in batched(sorted(found.get_uids("fact")), BATCH_SIZE):
        facts = project_rows(Fact, project_id).filter(uid__in=batch, source_type__in=Fact.IMPORTED)
        sources |= {uid for (name,) in facts.values_list("source_id") if (uid := as_uuid(name))}
    return sources


def complete_list(erasure: Erasure) -> None:
    """Add what was written while the targets were looked for, before the list was made.

    The sessions are closed since, and learning refuses listed sources, so that nothing more comes. What an
    agent writes elsewhere meanwhile, or a person after the request, is later than the erasure.
    """
    listed = load_targets(erasure)
    late = subtract_erased(erasure.project_id, find_late(erasure, listed))
    if late.memories:
        store_late(erasure, late)


@retry_transaction
def store_late(erasure: Erasure, late: Targets) -> None:
    counts = dict(erasure.counts)
    for kind, number in late.count_kinds().items():
        counts[kind] = counts.get(kind, 0) + number
    with write_transaction():
        list_targets(erasure, late)
        Erasure.objects.filter(pk=erasure.pk).update(counts=counts)
    erasure.counts = counts


# ---- reading the list ------------------------------------------------------------------------------


def list_batches(erasure: Erasure, *, blank: bool) -> Iterator[tuple[str, Sequence[UUID]]]:
    """Yield the memories of an erasure, those that are blank or those that are not, in batches of a kind."""
    rows = ErasedMemory.objects.filter(erasure=erasure)
    rows = rows.filter(salt="") if blank else rows.exclude(salt="")
    for kind in sorted(set(rows.order_by().values_list("kind", flat=True))):
        yield from ((kind, batch) for batch in batched(list_uids(rows.filter(kind=kind)), BATCH_SIZE))


def load_targets(erasure: Erasure) -> Targets:
    targets = Targets(match=erasure.pattern)
    if erasure.scope in (Erasure.Scope.AGENT, Erasure.Scope.ACTOR):
        own = (erasure.project_id, erasure.scope, erasure.target)
        targets.author = Author(*own, until=erasure.requested_at)
    for kind, uid in ErasedMemory.objects.filter(erasure=erasure).values_list("kind", "uid"):
        targets.memories.setdefault(kind, set()).add(uid)
    targets.memories.pop(SOURCE, None)  # a memory of such an id stays, unless it is listed itself
    listed = targets.memories.pop(SESSION, set())
    keys = Session.objects.filter(project=erasure.project_id).values_list("key", flat=True)
    targets.sessions = {
        key for key in keys if listed and build_session_uid(erasure.project_id, key) in listed
    }
    return targets
