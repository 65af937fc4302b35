"""Requests that may be sent again: the answer is kept with the write, and given again in its place."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.exceptions import Conflict, Invalid
from memory.models import IdempotencyRecord
from memory.models.nodes import next_rid

KEPT = timedelta(hours=24)
LONGEST = 200
TRIES = 5  # a twin is seen by the second; what is refused for another reason is refused for ever
T = TypeVar("T")
OTHER_BODY = "This Idempotency-Key was used with another request: take a new key."


@dataclass(frozen=True)
class Answer:
    """What a request was answered. ``replayed`` when it comes from the first of two equal requests."""

    status: int
    body: str
    replayed: bool = False


class Twin(Exception):
    """Another request with the same key was stored first. The cause is the IntegrityError that said so."""


def after_twins(work: Callable[[], T]) -> T:
    """Run ``work`` again when a twin was stored first: it is seen now.

    Raises IntegrityError when that never helps. Inside a transaction of the caller's Twin is raised at
    once: only the whole can be run again.
    """
    for _ in range(TRIES - 1):
        try:
            return work()
        except Twin:
            if connection.in_atomic_block:
                raise
    try:
        return work()
    except Twin as twin:
        raise twin.__cause__ or twin from None


@rerunning
class IdempotencyEngine:
    def once(
        self,
        *,
        actor: Actor,
        key: str,
        route: str,
        request: str,
        work: Callable[[], Answer],
        writes: bool = True,
    ) -> Answer:
        """The answer of ``work``, or the kept one when this actor asked the same of this route before.

        ``work`` runs in the transaction that keeps its answer: both are stored or neither. An error is
        not kept. Work that only reads (``writes=False``) holds no transaction. A request that comes while
        its twin is at work waits for the twin's answer. Raises Conflict for another request under the same
        key, Invalid for a key that is none, and what ``work`` raises.
        """
        slot, digest = slot_of(actor, check_key(key), route), hash_of(request)
        run = self._write if writes else self._read
        return after_twins(partial(run, actor, slot, digest, work))

    def _write(self, actor: Actor, slot: str, digest: str, work: Callable[[], Answer]) -> Answer:
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            if known := kept(slot, digest):
                return known
            keep(actor, slot, digest)
            answer = work()
            IdempotencyRecord.objects.filter(pk=slot).update(status=answer.status, body=answer.body)
        return answer

    def _read(self, actor: Actor, slot: str, digest: str, work: Callable[[], Answer]) -> Answer:
        if known := kept(slot, digest):
            return known
        answer = work()
        with transaction.atomic(savepoint=False):
            keep(actor, slot, digest, answer)
        return answer


def kept(slot: str, digest: str) -> Answer | None:
    """The answer in a slot, unless it is too old. Raises Conflict when it answers another request."""
    record = IdempotencyRecord.objects.filter(pk=slot).first()
    if record is None:
        return None
    if record.created_at < timezone.now() - KEPT:
        record.delete()
        return None
    if record.request_hash != digest:
        raise Conflict(OTHER_BODY, field="Idempotency-Key")
    return replace(Answer(record.status, record.body), replayed=True)


def keep(actor: Actor, slot: str, digest: str, answer: Answer | None = None) -> None:
    """Take the slot. A twin on another connection waits here, and then finds it taken: Twin."""
    filled = {"status": answer.status, "body": answer.body} if answer else {}
    record = IdempotencyRecord(slot=slot, project_id=actor.project_id, request_hash=digest, **filled)
    try:
        record.save(force_insert=True)
    except IntegrityError as error:
        raise Twin from error


def slot_of(actor: Actor, key: str, route: str) -> str:
    """Two API keys never share a slot: one must not read what the other was answered."""
    parts = (str(actor.project_id), actor.kind, actor.id, route, key)
    return hash_of("".join(f"{len(part)}:{part}" for part in parts))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST:
        raise Invalid("An Idempotency-Key has 1 to {most} characters.", most=LONGEST, field="Idempotency-Key")
    return key
