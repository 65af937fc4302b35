"""The kombu transport over QueueMessage.

At least once: a message stays until it is acknowledged, and goes to another worker when the lease of its
claim ends. A live worker renews its leases in time, however long its tasks take.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from queue import Empty
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, InterfaceError, transaction
from django.db import connection as db  # kombu uses the name connection itself
from django.db.models import F
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

from memory.clock import read_time
from memory.db.backend import get_backend
from memory.db.errors import DamageFound
from memory.models import QueueMessage
from memory.queue.broker.wake import notify, wakeup_event

logger = logging.getLogger(__name__)

MAX_TRIES = 2  # of a message whose worker was stopped or killed during each try
KEY = "day1-key"  # the header with the message's key, see QueueMessage.key


def short_write() -> AbstractContextManager[Any]:
    """Return the caller's transaction, or a new one that queues among the writers."""
    return nullcontext() if db.in_atomic_block else transaction.atomic()


class QoS(virtual.QoS):
    channel: "Channel"
    _delivered: Any
    _dirty: Any

    def ack(self, delivery_tag: str) -> None:
        self._release(delivery_tag, self.channel.remove)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        self._release(delivery_tag, self.channel.give_back if requeue else self.channel.remove)

    def _release(self, delivery_tag: str, release: Callable[[str], None]) -> None:
        """Release a message; one of a damaged store is delivered again after the repair."""
        try:
            with suppress(DamageFound):
                release(delivery_tag)
        finally:
            self._forget_tag(delivery_tag)

    def list_unacknowledged(self) -> list[str]:
        """Return the tags that are delivered and neither acknowledged nor rejected."""
        return [tag for tag in list(self._delivered) if tag not in self._dirty]

    def _forget_tag(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        notify()  # a full prefetch window has space again


class Channel(virtual.Channel):
    QoS = QoS
    lease = 60.0
    from_transport_options = (*virtual.Channel.from_transport_options, "lease")

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self.holder = uuid4()
        self._renewed = monotonic()
        self._without_ack: set[str] = set()

    # ---- sending -------------------------------------------------------------------------------

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        headers = message.get("headers") or {}
        key = get_message_key(headers)
        with short_write():
            if key and QueueMessage.objects.set_aside().filter(key=key).exists():
                logger.warning("%s was set aside and is not sent again before it is retried", key)
                return
            QueueMessage.objects.create(
                queue=queue,
                priority=self._get_message_priority(message),
                visible_at=parse_eta(headers.get("eta")),
                key=key,
                payload=dumps(message),
            )
            transaction.on_commit(notify)

    # ---- receiving -----------------------------------------------------------------------------

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        if no_ack:
            self._without_ack.add(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        for row in iter(QueueMessage.objects.due(queue).first, None):
            if row.tries >= MAX_TRIES:
                self._set_aside(row)
            elif self._claim_row(row) and (message := self._read_message(row)):
                if queue in self._without_ack:
                    self.remove(str(row.pk))
                return message
        raise Empty

    def _claim_row(self, row: QueueMessage) -> bool:
        # Several workers may have seen this row; the first update claims it.
        now = read_time()
        seen = QueueMessage.objects.filter(pk=row.pk, claim=row.claim, visible_at__lte=now)
        with short_write():
            return bool(seen.update(claim=self.holder, visible_at=now + timedelta(seconds=self.lease)))

    def _set_aside(self, row: QueueMessage) -> None:
        """Set a message aside that stopped its workers; it waits until a person runs it again."""
        now = read_time()
        seen = QueueMessage.objects.filter(pk=row.pk, claim=row.claim, set_aside_at=None)
        with short_write():
            if seen.update(claim=None, set_aside_at=now):
                logger.error(
                    "The task %s stopped its worker %s times and is set aside", row.key or row.pk, row.tries
                )

    def _read_message(self, row: QueueMessage) -> dict[str, Any] | None:
        """Parse the message of a row; drop an unreadable one, which would be delivered for ever."""
        try:
            message = loads(row.payload)
            message["properties"]["delivery_tag"] = str(row.pk)
            message["headers"]["eta"] = None  # the table kept it until it was due
            self.Message(message, channel=self)
        except Exception:
            logger.exception("The queue message %s cannot be read and is dropped", row.pk)
            self.remove(str(row.pk))
            return None
        return message

    # ---- releasing -----------------------------------------------------------------------------

    def _held_rows(self, *tags: str) -> Any:
        # A worker that lost its lease must not touch the new claim of another.
        return QueueMessage.objects.held_by(self.holder).filter(pk__in=[UUID(tag) for tag in tags])

    def remove(self, tag: str) -> None:
        with short_write():
            self._held_rows(tag).delete()

    def give_back(self, tag: str) -> None:
        with short_write():
            self._held_rows(tag).free()

    def _restore(self, message: virtual.Message) -> None:
        with suppress(DamageFound):
            self.give_back(str(message.delivery_tag))

    def renew(self) -> None:
        """Renew the leases of running tasks, when a third of them is over."""
        if monotonic() - self._renewed < self.lease / 3:
            return
        self._renewed = monotonic()
        qos: Any = self.qos
        if tags := qos.list_unacknowledged():
            with short_write():
                self._held_rows(*tags).update(visible_at=read_time() + timedelta(seconds=self.lease))

    # ---- whole queues --------------------------------------------------------------------------

    def _size(self, queue: str) -> int:
        return QueueMessage.objects.filter(queue=queue, claim=None, set_aside_at=None).count()

    def _purge(self, queue: str) -> int:
        with short_write():
            return QueueMessage.objects.filter(queue=queue, claim=None, set_aside_at=None).delete()[0]


class Transport(virtual.Transport):
    Channel = Channel
    channels: list[Any]
    cycle: Any
    driver_type = driver_name = "djangodb"
    connection_errors = (*virtual.Transport.connection_errors, DatabaseError, InterfaceError)
    # Only for messages of other processes: one of this process wakes the consumer.
    polling_interval = 1.0
    default_connection_params: dict[str, Any] = {}  # no host, no port

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        lease = client.transport_options.get("lease", Channel.lease)
        self.polling_interval = min(self.polling_interval, lease / 3)
        self._bell = wakeup_event()

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver one message, or raise socket.timeout at the timeout or after a wake-up without one.

        The latter lets a worker that is asked to stop do so at once.
        """
        end = None if timeout is None else monotonic() + timeout
        rang = False
        while not self._deliver_one():
            left = self.polling_interval if end is None else min(self.polling_interval, end - monotonic())
            if end is not None and (rang or left <= 0):
                raise TimeoutError  # the class of socket.timeout
            rang = self._bell.wait(left)

    def _deliver(self, message: dict[str, Any], queue: str | None) -> None:
        try:
            super()._deliver(message, queue)
        except (OSError, DatabaseError, InterfaceError):
            raise
        except Exception:
            # Celery ends its worker for content that it does not expect, and again at the next delivery.
            tag = message["properties"]["delivery_tag"]
            logger.exception("The queue message %s cannot be worked on and is dropped", tag)
            for channel in self.channels:
                channel.qos.reject(tag)

    def _deliver_one(self) -> bool:
        self._bell.clear()  # before reading, so that a later message sets it again
        if get_backend().find_damage():  # the messages wait for the repair
            return False
        try:
            for channel in self.channels:
                channel.renew()
            self.cycle.get(self._deliver)
        except Empty:
            return False
        except (DatabaseError, InterfaceError) as error:
            # Not raised: Celery would drop the claims of running tasks and reconnect.
            logger.warning("The queue cannot be read, trying again: %s", error)
            db.close_if_unusable_or_obsolete()
            return False
        return True


def get_message_key(headers: dict[str, Any]) -> str:
    """Return the key of a message: its header, else its task with the arguments."""
    own = f"{headers['task']}{headers.get('argsrepr', '')}" if headers.get("task") else ""
    return str(headers.get(KEY) or own)[:200]


def free_claims() -> None:
    """Release the claims of a killed server, so that its messages are delivered again at once.

    Only where the database is a file: its server is one process, so no other holder is alive. Elsewhere the
    leases expire.
    """
    if getattr(db.features, "has_online_backup", False):
        with transaction.atomic():
            QueueMessage.objects.all().free()


def begin_try(tag: str) -> None:
    """Count a try of a message, before its work begins."""
    with short_write():
        QueueMessage.objects.filter(pk=UUID(tag)).update(tries=F("tries") + 1)


def take_back_tries(tags: Iterable[str]) -> None:
    """Uncount the last try of messages whose worker is stopped in good order."""
    with short_write():
        begun = QueueMessage.objects.filter(pk__in=[UUID(tag) for tag in tags], tries__gt=0)
        begun.update(tries=F("tries") - 1)


def parse_eta(eta: str | None) -> datetime:
    if not eta:
        return read_time()
    when = datetime.fromisoformat(eta)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
