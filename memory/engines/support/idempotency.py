"""Idempotent requests: the response is stored with the write, and returned again for a repetition."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from django.db import IntegrityError, connection
from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods, run_until_write, write_transaction
from memory.engines.support.usage import count_growth, measure_value
from memory.engines.support.validation import secrets_found
from memory.exceptions import Conflict, Day1Error, Invalid, QuotaExceeded
from memory.models import IdempotencyRecord
from memory.models.usage import is_full

TTL = timedelta(hours=24)
MAX_KEY_LENGTH = 200
MAX_TRIES = 5  # a concurrent request is visible by the second try; another error persists
T = TypeVar("T")
OTHER_BODY = "This Idempotency-Key was used with another request: take a new key."


@dataclass(frozen=True)
class Answer:
    """Response to a request. ``replayed`` when it is the stored response of an earlier equal request."""

    status: int
    body: str
    replayed: bool = False


Store = Callable[[Answer], None]
Keep = Callable[[Any], None]  # what a surface does with the result of an engine, in its transaction


def keep_nothing(result: Any) -> None:
    """Do nothing with a result: nobody repeats the request."""


class ConcurrentRequest(Exception):
    """Error: another request with the same key was stored first. Its cause is the IntegrityError."""


def retry_on_conflict(work: Callable[[], T]) -> T:
    """Retry ``work`` when a concurrent request was stored first: it is visible then.

    Raises IntegrityError when that never helps. Inside a caller's transaction ConcurrentRequest is raised at
    once: only the whole transaction can be repeated.
    """
    for _ in range(MAX_TRIES - 1):
        try:
            return work()
        except ConcurrentRequest:
            if connection.in_atomic_block:
                raise
    try:
        return work()
    except ConcurrentRequest as twin:
        raise twin.__cause__ or twin from None


@retry_methods
class IdempotencyEngine:
    def run_once(
        self,
        *,
        actor: Actor,
        key: str,
        route: str,
        request: str,
        work: Callable[[], Answer],
    ) -> Answer:
        """Return the response of ``work``, or the stored one when this actor repeats a request to a route.

        ``work`` runs in the transaction that stores its response: both are stored or neither. Errors are not
        stored. A request waits for an equal one in progress. Raises Conflict for another request under the
        same key, Invalid for an invalid key, and what ``work`` raises.
        """
        slot, digest = build_slot(actor, check_key(key), route), hash_text(request)
        if is_full(actor.project_id) and (known := refuse_unlocked(actor, slot, digest, work)):
            return known
        return retry_on_conflict(partial(self._run_and_store, actor, slot, digest, work))

    def run_long(
        self, *, actor: Actor, key: str, route: str, request: str, work: Callable[[Store], Answer]
    ) -> Answer:
        """Return the response of ``work`` as ``run_once`` does, without a transaction around all of it.

        For work that reads for long before it locks anything: it calls the function that it gets with its
        response, in the transaction in which it writes, so that both are stored or neither. What it does not
        store itself is stored at its end.
        """
        slot, digest = build_slot(actor, check_key(key), route), hash_text(request)
        return retry_on_conflict(partial(self._run_storing, actor, slot, digest, work))

    def _run_and_store(self, actor: Actor, slot: str, digest: str, work: Callable[[], Answer]) -> Answer:
        with write_transaction():
            if known := load_answer(slot, digest):
                return known
            store_answer(actor, slot, digest)
            answer = work()
            IdempotencyRecord.objects.filter(pk=slot).update(status=answer.status, body=answer.body)
            count_growth(actor.project_id, 0, measure_value(answer.body))
        return answer

    def _run_storing(self, actor: Actor, slot: str, digest: str, work: Callable[[Store], Answer]) -> Answer:
        if known := load_answer(slot, digest):
            return known
        try:
            answer = work(partial(store_answer, actor, slot, digest))
        except Day1Error:  # an equal request may have done it meanwhile, so that this one is refused
            if known := load_answer(slot, digest):
                return known
            raise
        if not IdempotencyRecord.objects.filter(pk=slot).exists():
            with write_transaction():
                store_answer(actor, slot, digest, answer)
        return answer


def refuse_unlocked(actor: Actor, slot: str, digest: str, work: Callable[[], Answer]) -> Answer | None:
    """Return the stored response of a request to a project at its quota; refuse what would grow it.

    Both without a lock, for which other projects would wait. What goes on at the quota is not run: None.
    """
    if known := load_answer(slot, digest):
        return known
    try:
        run_until_write(work)
    except QuotaExceeded:  # an equal request may have been stored meanwhile
        if known := load_answer(slot, digest):
            return known
        raise
    except Day1Error:
        pass  # it is refused again where it is run
    finally:
        secrets_found.start(actor.project_id)
    return None


def load_answer(slot: str, digest: str) -> Answer | None:
    """Return the response in a slot, unless it is too old. Raises Conflict when it answers another
    request.
    """
    record = IdempotencyRecord.objects.filter(pk=slot).first()
    if record is None:
        return None
    if record.created_at < timezone.now() - TTL:
        record.delete()
        return None
    if record.request_hash != digest:
        raise Conflict(OTHER_BODY, field="Idempotency-Key")
    return replace(Answer(record.status, record.body), replayed=True)


def store_answer(actor: Actor, slot: str, digest: str, answer: Answer | None = None) -> None:
    """Reserve the slot. A concurrent request waits here, and then raises ConcurrentRequest."""
    filled = {"status": answer.status, "body": answer.body} if answer else {}
    record = IdempotencyRecord(slot=slot, project_id=actor.project_id, request_hash=digest, **filled)
    try:
        record.save(force_insert=True)
    except IntegrityError as error:
        raise ConcurrentRequest from error


def build_slot(actor: Actor, key: str, route: str) -> str:
    """Return the slot of a key. API keys never share a slot: one must not read another's responses."""
    parts = (str(actor.project_id), actor.kind, actor.id, route, key)
    return hash_text("".join(f"{len(part)}:{part}" for part in parts))


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check_key(key: str) -> str:
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise Invalid(
            "An Idempotency-Key has 1 to {most} characters.", most=MAX_KEY_LENGTH, field="Idempotency-Key"
        )
    return key
